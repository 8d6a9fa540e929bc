package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/paper/record"
	"nodemask/stats"
)

// writeArrivals writes Cora's nodes outside the train set as CSV files, with all of their edges.
func writeArrivals(t *testing.T, g *datasets.Graph, isTrain map[int32]bool) (nodes, edges string) {
	t.Helper()
	var n, e strings.Builder
	n.WriteString("id")
	for i := range g.Features.Width {
		fmt.Fprintf(&n, ",w%d", i)
	}
	n.WriteString("\n")
	e.WriteString("source,target\n")
	row := make([]float32, g.Features.Width)
	for v := range int32(g.NumNodes()) {
		if isTrain[v] {
			continue
		}
		n.WriteString(g.NodeIDs[v])
		for _, x := range g.Features.Row(int(v), row) {
			fmt.Fprintf(&n, ",%v", x)
		}
		n.WriteString("\n")
		for _, u := range g.Edges.Neighbours(v) {
			fmt.Fprintf(&e, "%s,%s\n", g.NodeIDs[u], g.NodeIDs[v])
		}
	}
	dir := t.TempDir()
	return put(t, dir, "nodes.csv", n.String()), put(t, dir, "edges.csv", e.String())
}

func TestPredictionsFromFilesScoreAsTrainingSaid(t *testing.T) {
	g, err := datasets.Cora()
	require.NoError(t, err)
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 50, Seed: 1})
	require.NoError(t, err)
	isTrain, isTest := map[int32]bool{}, map[string]int32{}
	for _, v := range split.Train {
		isTrain[v] = true
	}
	nodes, edges := writeArrivals(t, g, isTrain)
	for _, v := range split.Test {
		isTest[g.NodeIDs[v]] = v
	}
	best, err := backend.Open("")
	require.NoError(t, err)
	for _, run := range [][2]string{{"go", "gin"}, {best.ID, "gin"}, {best.ID, "gat"},
		{best.ID, "gin --set mlp-layers=2 --set norm=both --set readout=all"}} {
		id, model, dir := run[0], run[1], t.TempDir()
		train := append([]string{"train", "--backend", id, "--data", "cora", "--train", "50", "--trials", "1", "--model"},
			strings.Fields(model)...)
		saved := filepath.Join(dir, "cora.model")
		out, _ := succeeds(t, append(train, "--max-epochs", "20", "--json", "--cache-inference", "--save-model",
			saved, "--save-cache")...)
		var trial record.Record
		require.NoError(t, json.Unmarshal([]byte(out), &trial))
		require.Equal(t, 2708, trial.Nodes)
		require.Greater(t, trial.NodesCached, len(split.Test))
		require.Positive(t, trial.MAD.Hidden)
		require.NotEqual(t, *trial.MacroF1Together, *trial.MacroF1Apart)

		for _, how := range []struct {
			want      float64
			leftOut   bool
			arguments []string
		}{{*trial.MacroF1Together, false, nil}, {*trial.MacroF1Apart, true, []string{"--apart"}}} {
			out, errs := succeeds(t, append([]string{"predict", "--backend", id, "--model", saved,
				"--nodes", nodes, "--edges", edges}, how.arguments...)...)
			require.Equal(t, how.leftOut, strings.Contains(errs, "edges left out: among new nodes, "), errs)
			var predictions, labels []int32
			for line := range bytes.Lines([]byte(out)) {
				var p cached.Prediction
				require.NoError(t, json.Unmarshal(line, &p))
				if v, ok := isTest[p.ID]; ok {
					predictions = append(predictions, int32(slices.Index(g.Classes, p.Class)))
					labels = append(labels, g.Labels[v])
				}
			}
			require.Len(t, predictions, len(split.Test))
			m, err := stats.Evaluate(predictions, labels, g.NumClasses())
			require.NoError(t, err)
			require.InDelta(t, how.want, 100*m.MacroF1, 1e-9, "%s %s %v", id, model, how.arguments)
		}
	}
}

func TestPredictNamesWhatIsWrongWithItsFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string { return put(t, dir, name, text) }
	var nodes, edges strings.Builder
	nodes.WriteString("id,label,x,z\n")
	edges.WriteString("source,target\n")
	for i := range 20 {
		fmt.Fprintf(&nodes, "n%d,%d,%d,1\n", i, i%2, i%2)
		fmt.Fprintf(&edges, "n%d,n%d\n", i, (i+2)%20)
	}
	model, bare := filepath.Join(dir, "m"), filepath.Join(dir, "bare")
	succeeds(t, "train", "--backend", "go", "--data", graphFolder(t, "graph", nodes.String(), edges.String()), "--train",
		"50", "--trials", "1", "--max-epochs", "3", "--save-model", model, "--save-cache")

	predict := func(model, nodes, edges string) []string {
		return []string{"predict", "--backend", "go", "--model", model, "--nodes", nodes, "--edges", edges}
	}
	good, none := file("good.csv", "id,x,z\nnew,1,1\nlonely,0,1\n"), file("none.csv", "source,target\n")
	out, _ := succeeds(t, predict(model, good, none)...)
	require.Equal(t, 2, strings.Count(out, `"neighbours":0,"arrivals":0`),
		"nodes without a neighbour are predicted from themselves")

	m, err := cached.LoadModel(model)
	require.NoError(t, err)
	kept, err := cached.LoadCache(model, m)
	require.NoError(t, err)
	linked := file("linked.csv", fmt.Sprintf("source,target\nnew,lonely\nnew,%[1]s\n%[1]s,%[2]s\n", kept.IDs[0],
		kept.IDs[1]))
	out, errs := succeeds(t, predict(model, good, linked)...)
	require.Equal(t, 2, strings.Count(out, `"arrivals":1`), "they see each other")
	require.Contains(t, errs, "1 edges left out: among nodes that the model knew, or of a node with itself\n")
	out, errs = succeeds(t, append(predict(model, good, linked), "--apart")...)
	require.Equal(t, 2, strings.Count(out, `"arrivals":0`))
	require.Contains(t, errs, "2 edges left out: among new nodes, among nodes that the model knew, or of a node with "+
		"itself\n")
	for _, c := range []struct{ nodes, edges, says string }{
		{file("narrow.csv", "id,x\nnew,1\n"), none, "narrow.csv: features that the model was trained on are missing: \"z\""},
		{file("twice.csv", "id,x,z\nnew,1,1\nnew,1,1\n"), none, "twice.csv: line 3: the id \"new\" is there already"},
		{file("nan.csv", "id,x,z\nnew,NaN,1\n"), none, "nan.csv: line 2: column \"x\": found \"NaN\""},
		{good, file("ghost.csv", "source,target\nnew,ghost\n"), "ghost.csv: line 2: the edge names node \"ghost\""},
		{filepath.Join(dir, "missing.csv"), none, "missing.csv: no such file"},
	} {
		fails(t, 1, c.says, predict(model, c.nodes, c.edges)...)
	}
	ghosts := file("ghosts.csv", fmt.Sprintf("source,target\nnew,ghost\nnew,%s\n", kept.IDs[0]))
	out, errs = succeeds(t, append(predict(model, good, ghosts), "--skip-unknown-edges")...)
	require.Contains(t, out, `"neighbours":1,"arrivals":0`)
	require.Contains(t, errs, "1 edges skipped: they name nodes that are neither new nor train nodes\n")
	all := fileText(t, model)
	for name, broken := range map[string]string{"cut": all[:len(all)/2],
		"flipped": all[:100] + string([]byte{all[100] ^ 4}) + all[101:], "empty": ""} {
		path := file(name, broken)
		fails(t, 1, path+": byte ", predict(path, good, none)...)
	}
	require.NoError(t, m.Save(bare))
	fails(t, 1, "a model without its cache: save both", predict(bare, good, none)...)
	fails(t, 2, "at least one of the flags in the group [all nodes] is required", "predict", "--model", model)
	fails(t, 2, "[all apart] were all set", "predict", "--model", model, "--all", "--apart")
	fails(t, 2, "[data nodes] were all set", append(predict(model, good, none), "--data", "cora")...)
}
