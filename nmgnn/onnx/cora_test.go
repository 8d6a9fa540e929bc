package onnx

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/train"
)

// otherCora is Cora as no model has seen it: a fifth of the edges gone, others new, 100 nodes without any, and some nodes with
// the words of others.
func otherCora(t *testing.T, cora *datasets.Graph) testGraph {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	n := int32(cora.NumNodes())
	var pairs [][2]int32
	for v := range n {
		for _, u := range cora.Edges.Indices[cora.Edges.Offsets[v]:cora.Edges.Offsets[v+1]] {
			if u < v && u >= 100 && r.IntN(5) > 0 {
				pairs = append(pairs, [2]int32{u, v})
			}
		}
	}
	for range 500 {
		pairs = append(pairs, [2]int32{100 + r.Int32N(n-100), 100 + r.Int32N(n-100)})
	}
	rows := make([]int32, n)
	for v := range rows {
		if rows[v] = int32(v); r.IntN(3) == 0 {
			rows[v] = r.Int32N(n)
		}
	}
	return testGraph{"other Cora", gnntest.Undirected(t, int(n), pairs), cora.Features.Select(rows)}
}

func TestModelsTrainedOnCoraGiveTheirLogitsOnAnotherGraph(t *testing.T) {
	cora, err := datasets.Cora()
	require.NoError(t, err)
	b := gnntest.Go(t)
	out := newCollection(t)
	epochs := 2 // to differ from what training begins with
	if out.folder != "" {
		out.folder, epochs = filepath.Join(out.folder, "cora"), 1000
	}
	other := otherCora(t, cora)
	sources, targets := sourcesAndTargets(other.edges)
	alone := 0
	for v := range cora.NumNodes() {
		if other.edges.Offsets[v] == other.edges.Offsets[v+1] {
			alone++
		}
	}
	require.GreaterOrEqual(t, alone, 100)
	for _, model := range hyper.Models() {
		t.Run(model, func(t *testing.T) {
			p, err := hyper.For(model)
			require.NoError(t, err)
			p = p.WithMasking(0.5)
			p.MaxEpochs = epochs
			x := train.Experiment{Graph: cora, Parameters: p, Setting: datasets.Transductive, TrainPercent: 50, SplitSeed: 1}
			results, err := x.Run(context.Background(), b, train.Seeds(1, 1), train.RunOptions{})
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "model")
			require.NoError(t, results[0].Saved(x).Save(path))
			m, err := cached.LoadModel(path)
			require.NoError(t, err)
			file := exported(t, m)
			want := logitsOf(t, m, other)
			got := interpret(t, decode(t, file).graph, inputsOf(other.x, sources, targets))
			greatest := difference(t, want, got)
			t.Logf("macro F1 on Cora %.3f, greatest difference %.2g", results[0].Test.MacroF1, greatest)
			require.LessOrEqual(t, greatest, tolerance)
			out.add(t, model, file, other, want)
		})
	}
	out.write(t)
}
