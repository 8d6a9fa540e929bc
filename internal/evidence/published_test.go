package evidence

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

func TestEveryCellOfThePapersGINTablesIsThereOnce(t *testing.T) {
	for data, cells := range map[string]struct{ inductive, transductive []int }{
		"cora":   {[]int{10, 20, 25, 33, 50, 75, 90}, []int{10, 20, 25, 33, 50, 75, 90}},
		"pubmed": {[]int{10, 20, 25, 33, 50, 75, 90}, []int{10, 20, 25, 33, 50, 75, 90}},
		"reddit": {[]int{10, 20, 25, 33, 50}, nil},
	} {
		found := map[datasets.Setting][]int{}
		for _, s := range GINScores() {
			if s.Data == data {
				found[s.Setting] = append(found[s.Setting], s.TrainPercent)
			}
		}
		require.Equal(t, cells.inductive, found[datasets.Inductive], data)
		require.Equal(t, cells.transductive, found[datasets.Transductive], data)
	}
}

// printed are the rows of testdata/published.csv: the table, what the row is called, and its numbers, as the paper has
// them.
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
	for _, s := range AttentionScores() {
		add("1,%s %d,%.2f,%.2f,%.2f,%.2f", s.Setting, s.TrainPercent, s.GAT, s.GATMasked, s.SGAT, s.SGATMasked)
	}
	for _, s := range SmoothnessScores() {
		name := s.Model
		switch {
		case s.Masked:
			name += " + nm"
		case !s.AttentionDropout:
			name += " (-attn. dropout)"
		}
		add("2,%s,%.2f,%.2f", name, s.Inductive, s.Transductive)
	}
	for _, s := range GINScores() {
		if s.Setting == datasets.Transductive { // on the right of the row before
			rows[len(rows)-1] += fmt.Sprintf(",%.2f,%.2f", s.GIN, s.Masked)
			continue
		}
		table := map[string]string{"cora": "3a", "pubmed": "3b", "reddit": "3c"}[s.Data]
		add("%s,%d,%.2f,%.2f", table, s.TrainPercent, s.GIN, s.Masked)
	}
	for _, s := range ScaleScores() {
		uncached := *Published(s.Data, "gin", datasets.Inductive, s.TrainPercent, false)
		add("%s,%d,%.2f,%d,%.2f,%.2f,%d", map[string]string{"cora": "4a", "pubmed": "4b"}[s.Data], s.TrainPercent, uncached,
			s.Nodes, s.Cached, s.Masked, s.NodesCached)
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
	// A row is "10 & 52.91 & \textbf{56.38} & …\\"; table 1 has the setting beside one row of each part.
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
