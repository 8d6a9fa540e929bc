package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/paper/record"
)

func TestEveryArtifactCellTrainsAndHasItsKey(t *testing.T) {
	byKey := map[string]record.Cell{}
	ids := map[string]bool{}
	for _, a := range Artifacts() {
		require.False(t, ids[a.ID], "%s twice", a.ID)
		ids[a.ID] = true
		require.Equal(t, a.Tuned, len(a.Cells()) == 0, "%s: what a tuned comparison trains is chosen on the way", a.ID)
		for _, row := range a.Rows {
			require.Len(t, row.Labels, len(a.Labels), a.ID)
			require.Len(t, row.Entries, len(a.Columns), "%s: %v", a.ID, row.Labels)
		}
		for _, c := range a.Cells() {
			require.NoError(t, c.Parameters.CheckRecorded(), c.Key())
			known, ok := byKey[c.Key()]
			if ok {
				known.Cached, known.History = c.Cached, c.History
				require.Equal(t, known, c, "one key, one cell")
			}
			byKey[c.Key()] = c
			require.False(t, c.Cached && c.Setting == datasets.Transductive, "%s: nothing arrives there", c.Key())
		}
	}
	for _, id := range []string{"table-gat", "table-mad", "table-gin-cora", "table-gin-pubmed", "table-gin-reddit",
		"table-scale-cora", "table-scale-pubmed",
		"fig-keep-rate-gin", "fig-keep-rate-gat", "fig-depth", "fig-loss-cora", "fig-loss-pubmed"} {
		require.True(t, ids[id], id)
	}
}

func TestArtifactsAreFoundByTheirIDs(t *testing.T) {
	found, err := Find("table-gin-reddit", "table-mad")
	require.NoError(t, err)
	require.Equal(t, []string{"table-gin-reddit", "table-mad"}, []string{found[0].ID, found[1].ID})
	_, err = Find("table-9")
	require.ErrorContains(t, err, `no artifact "table-9": known are table-gat, `)
}

func TestPublishedNumbersStandWhereThePaperHasThem(t *testing.T) {
	at := func(id string, row, column int) float64 {
		found := artifact(t, id)
		require.NotNil(t, found.Rows[row].Entries[column].Published, "%s %d %d", id, row, column)
		return *found.Rows[row].Entries[column].Published
	}
	require.Equal(t, 40.74, at("table-gat", 0, 0), "GAT, inductive, 10 %")
	require.Equal(t, 87.22, at("table-gat", 13, 7), "SGAT + NM, transductive, 90 %")
	require.Equal(t, 0.57, at("table-mad", 8, 1), "GAT + NM, class probabilities, transductive")
	require.Equal(t, 86.61, at("table-gin-pubmed", 6, 5))
	require.Equal(t, 919.0, at("table-scale-cora", 6, 5))
	require.Equal(t, 85.87, at("table-scale-pubmed", 6, 3))
	found := artifact(t, "table-gat-citeseer")
	for _, row := range found.Rows {
		for _, e := range row.Entries {
			require.Nil(t, e.Published, "the paper omits CiteSeer")
		}
	}
}

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
