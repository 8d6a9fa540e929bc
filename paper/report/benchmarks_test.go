package report

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

// benchmark is a plain model's published score, in percent: mean and deviation over splits.
type benchmark struct {
	data, model     string
	mean, deviation float64
	options         string // of train, after those of the graph
}

// benchmarks of Shchur et al. 2018, table 2, and of the heterophilous benchmark's results (tolokers).
var benchmarks = []benchmark{
	{"amazon_photo", "gcn", 91.2, 1.2, "--dropout 0.8 --set weight-decay=0.001"},
	{"amazon_photo", "sage", 91.4, 1.3, ""},
	{"amazon_photo", "gat", 85.7, 20.3, "--learning-rate 0.01 --set attention-dropout=0.3"},
	{"coauthor_cs", "gcn", 91.1, 0.5, "--set raw-features=true"},
	{"coauthor_cs", "sage", 91.3, 2.8, ""},
	{"coauthor_cs", "gat", 90.5, 0.6, "--set raw-features=true"},
	{"tolokers", "gcn", 83.6, 0.7, "--layers 3 --set residual=true --set readout=all"},
	{"tolokers", "sage", 82.4, 0.4, ""},
	{"tolokers", "gat", 83.7, 0.5, "--learning-rate 0.01 --set attention-dropout=0 --layers 3 --set residual=true " +
		"--set readout=all --set heads=2"},
}

// scores returns accuracies, or with two classes areas under the ROC curve, of trials that 'train --json' wrote.
func (b benchmark) scores(t *testing.T) (all []float64) {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("../../results/benchmarks/%s-%s.jsonl", b.data, b.model))
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		var r record.Record
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.Equal(t, b.model, r.Model)
		if r.AUC != nil {
			all = append(all, *r.AUC)
		} else {
			all = append(all, r.Accuracy)
		}
	}
	return all
}

func TestPlainModelsAreNearPublishedNumbers(t *testing.T) {
	table := plots.Table{ID: "benchmarks", Header: []string{"graph, score", "model", "here", "splits", "published", "options"},
		Caption: "Means and standard deviations over splits."}
	var far []string
	for _, b := range benchmarks {
		scores := b.scores(t)
		require.GreaterOrEqual(t, len(scores), 3)
		here, score := stats.Summarize(scores), "accuracy"
		if b.data == "tolokers" {
			score = "AUC"
		}
		if d := here.Mean - b.mean; d < -2 || d > 2 {
			far = append(far, fmt.Sprintf("%s on %s (%s)", hyper.Title(b.model), b.data, plots.Signed(d, 1)))
		}
		table.Rows = append(table.Rows, plots.Fields(b.data+", "+score, hyper.Title(b.model),
			here.Text(1), fmt.Sprint(here.N), fmt.Sprintf("%.1f ± %.1f", b.mean, b.deviation),
			strings.TrimSpace("--model "+b.model+" "+b.options)))
	}
	text, err := table.Render(plots.FormatMarkdown)
	require.NoError(t, err)
	requireSays(t, "../../docs/GRAPHS.md", "benchmarks", text+"\nWithin two points but for "+strings.Join(far, ", ")+".\n")
	require.Len(t, far, 1, "GRAPHS.md explains it")
}
