package onnx

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/train"
	"nodemask/stats"
)

// otherCora is a Cora no model has seen: a fifth of the edges gone, others new, 100 nodes isolated, some nodes with
// others' words.
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

func TestCoraModelsGiveTheirLogitsElsewhereToo(t *testing.T) {
	cora, err := datasets.Cora()
	require.NoError(t, err)
	b := gnntest.Go(t)
	out := newCollection(t)
	epochs := 2 // enough to differ from the first weights
	if out.folder != "" {
		out.folder, epochs = filepath.Join(out.folder, "cora"), 1000
	}
	other := otherCora(t, cora)
	alone := 0
	for v := range cora.NumNodes() {
		if other.edges.Offsets[v] == other.edges.Offsets[v+1] {
			alone++
		}
	}
	require.GreaterOrEqual(t, alone, 100)
	for _, model := range exportable {
		t.Run(model, func(t *testing.T) {
			p, err := hyper.For(model)
			require.NoError(t, err)
			p = p.WithMasking(0.5)
			p.MaxEpochs = epochs
			x := train.Experiment{Graph: cora, Parameters: p, Setting: datasets.Transductive, TrainPercent: 50, SplitSeed: 1}
			results, err := x.Run(context.Background(), b, hyper.Seeds(1, 1), train.RunOptions{})
			require.NoError(t, err)
			path := filepath.Join(t.TempDir(), "model")
			require.NoError(t, results[0].Saved(x).Save(path))
			m, err := cached.LoadModel(path)
			require.NoError(t, err)
			file := exported(t, m)
			for _, g := range []testGraph{other, {"Cora", cora.Edges, cora.Features}} {
				want := logitsOf(t, m, g)
				sources, targets := sourcesAndTargets(g.edges)
				greatest := difference(t, want, interpret(t, decode(t, file).graph, inputsOf(g.x, sources, targets)))
				t.Logf("%s: macro F1 %.3f in the trial, greatest difference %.2g", g.name, results[0].Test.MacroF1, greatest)
				require.LessOrEqual(t, greatest, tolerance)
				out.add(t, model, file, g, want)
			}
		})
	}
	out.write(t)
}

// BenchmarkPredictingCora runs a model over Cora, like testdata/check_onnx.py --time with ONNX Runtime.
func BenchmarkPredictingCora(b *testing.B) {
	cora, err := datasets.Cora()
	require.NoError(b, err)
	view := gnntest.View(b, cora, 50, datasets.Transductive)
	// WebAssembly only has the Go backend
	for name, open := range map[string]func(testing.TB) *backend.Backend{"xla:cpu": gnntest.XLA, "go": gnntest.Go} {
		for _, model := range []string{"gin", "gat"} {
			b.Run(name+"/"+model, func(b *testing.B) {
				on := open(b)
				p, err := hyper.For(model)
				require.NoError(b, err)
				trainer, err := train.New(on, nmgnn.Build(p, cora.NumClasses()), cora, view,
					train.Options{NormalizeFeatures: p.NormalizeFeatures, LearningRate: p.LearningRate, MaxEpochs: 1})
				require.NoError(b, err)
				defer trainer.Close()
				_, err = trainer.Train(b.Context(), 1, nil)
				require.NoError(b, err)
				_, err = trainer.Predict() // compiles
				require.NoError(b, err)
				var all []float64
				for b.Loop() {
					begin := time.Now()
					_, err := trainer.Predict()
					require.NoError(b, err)
					all = append(all, time.Since(begin).Seconds()*1000)
				}
				b.ReportMetric(stats.Median(all), "ms-median")
			})
		}
	}
}
