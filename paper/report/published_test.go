package report

import (
	"fmt"
	"os"
	"path/filepath"
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

func ExamplePublished() {
	fmt.Println(*Published("cora", "gin", datasets.Inductive, 10, true))
	// Output: 56.38
}
