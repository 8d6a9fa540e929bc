package report

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// printed returns the rows of testdata/published.csv: table, row, and the paper's numbers.
func printed(t *testing.T) (rows []string) {
	text, err := os.ReadFile(filepath.Join("testdata", "published.csv"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	return rows
}

func TestPublishedNumbersAreThoseThatThePaperPrints(t *testing.T) {
	var rows []string
	add := func(format string, values ...any) { rows = append(rows, fmt.Sprintf(format, values...)) }
	both := func(data, model string, setting datasets.Setting, size int) (text string) {
		for _, masked := range []bool{false, true} {
			if score := Published(data, model, setting, size, masked); score != nil {
				text += fmt.Sprintf(",%.2f", *score)
			}
		}
		return text
	}
	for _, setting := range datasets.Settings() {
		for _, size := range Sizes() {
			add("1,%s %d%s%s", setting, size, both("cora", "gat", setting, size), both("cora", "sgat", setting, size))
		}
	}
	for _, s := range smoothnessScores() {
		name := s.model
		switch {
		case s.masked:
			name += " + nm"
		case !s.dropout:
			name += " (-attn. dropout)"
		}
		add("2,%s,%.2f,%.2f", name, s.mad[0], s.mad[1])
	}
	for i, data := range []string{"cora", "pubmed", "reddit"} {
		for _, size := range Sizes() {
			if text := both(data, "gin", datasets.Inductive, size); text != "" {
				add("3%c,%d%s%s", 'a'+i, size, text, both(data, "gin", datasets.Transductive, size))
			}
		}
	}
	for i, data := range []string{"cora", "pubmed"} {
		p := publishedCaching(data)
		for k, size := range Sizes() {
			add("4%c,%d,%.2f,%d,%.2f,%.2f,%d", 'a'+i, size, *Published(data, "gin", datasets.Inductive, size, false), p.nodes,
				p.plain[k], p.masked[k], p.cached[k])
		}
	}
	require.Equal(t, printed(t), rows)
}

func TestTheRowsToCompareWithAreThoseOfThePapersSource(t *testing.T) {
	folder := os.Getenv("NODEMASK_TEST_PAPER")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "paper")
	}
	text, err := os.ReadFile(filepath.Join(folder, "node-masking.tex"))
	if err != nil {
		t.Skipf("skipped: the paper's LaTeX source is not there to check testdata/published.csv against (NODEMASK_TEST_PAPER names its folder): %v", err)
	}
	// A row is "10 & 52.91 & \textbf{56.38} & …\\"; table 1 has the setting in one row of each part.
	tables := regexp.MustCompile(`(?s)\\begin\{tabular\}\{.*?\}(.*?)\\end\{tabular\}`).FindAllStringSubmatch(string(text),
		-1)
	names := []string{"1", "2", "3a", "3b", "3c", "4a", "4b"}
	require.Len(t, tables, len(names))
	style := regexp.MustCompile(`\\text(?:bf|it)\{(.*?)\}`)
	settingOf := regexp.MustCompile(`\\textit\{(\w+)\}`)
	var rows []string
	for i, table := range tables {
		for _, part := range strings.Split(table[1], `\midrule`)[1:] {
			for _, row := range strings.Split(part, `\\`) {
				fields := strings.Split(style.ReplaceAllString(row, "$1"), "&")
				if len(fields) == 1 {
					continue
				}
				for j := range fields {
					fields[j] = strings.TrimSpace(fields[j])
				}
				if i == 0 {
					fields = fields[1:]
					fields[0] = strings.ToLower(settingOf.FindStringSubmatch(part)[1]) + " " + fields[0]
				}
				rows = append(rows, names[i]+","+strings.Join(fields, ","))
			}
		}
	}
	require.Equal(t, rows, printed(t))
}

func ExamplePublished() {
	fmt.Println(*Published("cora", "gin", datasets.Inductive, 10, true))
	// Output: 56.38
}
