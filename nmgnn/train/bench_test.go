package train

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// BenchmarkEpoch times one training epoch, node masking on, in the transductive setting, where every pass runs over the
// whole graph: alone and with its validation pass. median-ms is what to quote.
func BenchmarkEpoch(b *testing.B) {
	for _, data := range []struct {
		name string
		open func() (*datasets.Graph, error)
	}{{"cora", datasets.Cora}, {"pubmed", datasets.PubMed}} {
		for _, id := range []string{"xla:cpu", "go"} {
			for _, name := range Models() {
				for _, validate := range []bool{false, true} {
					b.Run(fmt.Sprintf("%s/%s/%s/validate=%t", data.name, id, name, validate), func(b *testing.B) {
						backend, err := OpenBackend(id)
						if err != nil {
							b.Skipf("skipped: %v", err)
						}
						g, err := data.open()
						require.NoError(b, err)
						s, err := Preset(PresetFor(name))
						require.NoError(b, err)
						s.Model = name
						trainer := trainerOf(b, backend, g, viewOf(b, g, 10, datasets.Transductive), s.WithMasking(0.5))
						_, err = trainer.TimeEpochs(context.Background(), 1, validate)
						require.NoError(b, err)
						b.ResetTimer()
						laps, err := trainer.TimeEpochs(context.Background(), b.N, validate)
						b.StopTimer()
						require.NoError(b, err)
						slices.Sort(laps)
						b.ReportMetric(float64(laps[0].Microseconds())/1000, "min-ms")
						b.ReportMetric(float64(laps[len(laps)/2].Microseconds())/1000, "median-ms")
						b.ReportMetric(trainer.CompileSeconds*1000, "compile-ms")
					})
				}
			}
		}
	}
}

// BenchmarkProduct times the products that an epoch is made of, alone: sums over neighbours (Σ), features by weights (X·W),
// and the latter's gradient (Xᵀ·v), with dropout on the features.
func BenchmarkProduct(b *testing.B) {
	for _, data := range []struct {
		name string
		open func() (*datasets.Graph, error)
	}{{"cora", datasets.Cora}, {"pubmed", datasets.PubMed}} {
		for _, id := range []string{"xla:cpu", "go"} {
			for _, kernel := range Kernels() {
				backend, err := OpenBackend(id)
				if err != nil {
					b.Skipf("skipped: %v", err)
				}
				g, err := data.open()
				require.NoError(b, err)
				plan := backend.PlanFor(0)
				plan.Kernel = kernel
				store := model.NewStore()
				phase, err := newPhaseData(store, "/data/train", g.Edges, g.Features.RowNormalized(), plan, true)
				require.NoError(b, err)
				const width = 64
				for _, op := range []struct {
					name string
					rows int
					run  func(h *Node, x sparseInput) *Node
				}{
					{"Σ", g.NumNodes(), func(h *Node, _ sparseInput) *Node { return phase.adjacency.forward.times(h, nil) }},
					{"X·W", g.Features.Width, func(h *Node, x sparseInput) *Node { return x.Times(h) }},
					{"Xᵀ·v", g.NumNodes(), func(h *Node, x sparseInput) *Node {
						if p, isFused := x.adjoint.(*fusedProduct); isFused {
							return p.timesAt(h, x.all(), p.at)
						}
						return x.adjoint.times(h, Mul(x.valuesT.NodeValue(h.Graph()), x.weightsT))
					}},
				} {
					b.Run(fmt.Sprintf("%s/%s/%s/%s", data.name, id, op.name, kernel), func(b *testing.B) {
						exec, err := model.NewExec(backend.Backend, store, func(_ *model.Scope, h, key *Node) *Node {
							return op.run(h, phase.input(h.Graph(), true).Dropout(NewRandom(key), 0.5).(sparseInput))
						})
						require.NoError(b, err)
						h := tensors.FromShape(shapeOf(op.rows, width))
						key := tensors.FromFlatDataAndDimensions([]uint32{1, 2}, 2)
						begin := time.Now()
						_, err = exec.Call1(h, key)
						require.NoError(b, err)
						compile := time.Since(begin)
						var laps []float64
						for b.Loop() {
							begin := time.Now()
							out, err := exec.Call1(h, key)
							require.NoError(b, err)
							laps = append(laps, float64(time.Since(begin).Microseconds())/1000)
							out.MustFinalizeAll()
						}
						slices.Sort(laps)
						b.ReportMetric(laps[0], "min-ms")
						b.ReportMetric(laps[len(laps)/2], "median-ms")
						b.ReportMetric(compile.Seconds()*1000, "compile-ms")
					})
				}
			}
		}
	}
}

// BenchmarkPredict predicts nodes that arrive after training from a cache, for graphs of growing size: nodes-per-s is what
// to quote, for batches and for single nodes, after the programs have been compiled.
func BenchmarkPredict(b *testing.B) {
	backend, err := OpenBackend("xla:cpu")
	if err != nil {
		b.Skipf("skipped: %v", err)
	}
	sbm := func(nodes int) func() (*datasets.Graph, error) {
		return func() (*datasets.Graph, error) {
			return datasets.SBM(datasets.SBMOptions{Nodes: nodes, MeanDegree: 10, Features: 32, Seed: 1})
		}
	}
	for _, data := range []struct {
		name string
		open func() (*datasets.Graph, error)
	}{{"pubmed", datasets.PubMed}, {"sbm-1e4", sbm(1e4)}, {"sbm-1e5", sbm(1e5)}, {"sbm-1e6", sbm(1e6)}} {
		var p *Predictor
		var all *datasets.Newcomers
		for _, count := range []int{1, 5000} {
			b.Run(fmt.Sprintf("%s/%d", data.name, count), func(b *testing.B) {
				if p == nil {
					g, err := data.open()
					require.NoError(b, err)
					view := viewOf(b, g, 50, datasets.Inductive)
					s, err := Preset("standard")
					require.NoError(b, err)
					s.MaxEpochs, s.KeepRate = 1, 0.5
					trainer := trainerOf(b, backend, g, view, s)
					trial := trainOnce(b, trainer, 1)
					cache, err := trainer.Cache()
					require.NoError(b, err)
					all = arrivalsOf(g, view)
					p, err = NewPredictor(backend, &SavedModel{Settings: s, Classes: g.Classes, Features: g.Features.Width, Weights: trial.Weights}, cache)
					require.NoError(b, err)
				}
				// Single nodes are others each time; as many as there are are compiled for first.
				next := 0
				predict := func() {
					from := next % (len(all.IDs) - count + 1)
					next += count
					rows := make([]int32, count)
					for i := range rows {
						rows[i] = int32(from + i)
					}
					n := &datasets.Newcomers{IDs: all.IDs[from : from+count], Known: all.Known[from : from+count], Features: all.Features.Select(rows)}
					require.NoError(b, p.Predict(context.Background(), n, func(Prediction) error { return nil }))
				}
				for range 200/count + 1 {
					predict()
				}
				var laps []time.Duration
				for b.Loop() {
					begin := time.Now()
					predict()
					laps = append(laps, time.Since(begin))
				}
				slices.Sort(laps)
				median := laps[len(laps)/2]
				b.ReportMetric(float64(count)/median.Seconds(), "nodes/s")
				b.ReportMetric(float64(median.Microseconds())/float64(count), "µs/node")
				b.ReportMetric(float64(len(p.programs)), "programs")
			})
		}
	}
}
