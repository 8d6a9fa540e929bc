package cached_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

// BenchmarkPredict predicts from a cache on growing graphs. Quote nodes-per-s, for batches and single nodes, without
// compilation.
func BenchmarkPredict(b *testing.B) {
	backend, err := backend.Open("xla:cpu")
	if err != nil {
		b.Skipf("skipped: %v", err)
	}
	pubmed := func() (*datasets.Graph, error) {
		return datasets.Open(b.Context(), "pubmed", datasets.OpenOptions{})
	}
	sbm := func(nodes int) func() (*datasets.Graph, error) {
		return func() (*datasets.Graph, error) {
			return datasets.SBM(b.Context(), datasets.SBMOptions{Nodes: nodes, MeanDegree: 10, Features: 32, Seed: 1})
		}
	}
	for _, data := range []struct {
		name string
		open func() (*datasets.Graph, error)
	}{{"pubmed", pubmed}, {"sbm-1e4", sbm(1e4)}, {"sbm-1e5", sbm(1e5)}, {"sbm-1e6", sbm(1e6)}} {
		var p *cached.Predictor
		var all *datasets.Newcomers
		for _, count := range []int{1, 5000} {
			b.Run(fmt.Sprintf("%s/%d", data.name, count), func(b *testing.B) {
				if p == nil {
					g, err := data.open()
					require.NoError(b, err)
					view := gnntest.View(b, g, 50, datasets.Inductive)
					standard, err := hyper.Preset("standard")
					require.NoError(b, err)
					// Speed does not depend on training.
					untrained, err := infer.Untrained(backend, nmgnn.Build(standard, g.NumClasses()), g.Features.Width, 1)
					require.NoError(b, err)
					m := &cached.Model{Settings: standard, Classes: g.Classes, Features: g.Features.Width, Weights: untrained.Weights}
					all = arrivalsOf(g, view)
					p, err = cached.NewPredictor(backend, m, cacheOf(b, backend, m, g, view))
					require.NoError(b, err)
				}
				// Each call predicts other nodes. The first calls compile.
				next := 0
				predict := func() {
					from := next % (len(all.IDs) - count + 1)
					next += count
					rows := make([]int32, count)
					for i := range rows {
						rows[i] = int32(from + i)
					}
					n := &datasets.Newcomers{IDs: all.IDs[from : from+count], Known: all.Known[from : from+count],
						Features: all.Features.Select(rows)}
					require.NoError(b, p.Predict(b.Context(), n, func(cached.Prediction) error { return nil }))
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
				b.ReportMetric(float64(p.Programs()), "programs")
			})
		}
	}
}
