package kernels_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/kernels"
)

// BenchmarkProduct times an epoch's products: sums over neighbours (Σ), features times weights (X·W) and its gradient
// (Xᵀ·v), with dropout on the features.
func BenchmarkProduct(b *testing.B) {
	for _, data := range []string{"cora", "pubmed"} {
		for _, id := range []string{"xla:cpu", "go"} {
			for _, kernel := range kernels.Kernels() {
				backend, err := backend.Open(id)
				if err != nil {
					b.Skipf("skipped: %v", err)
				}
				g, err := datasets.Open(b.Context(), data, datasets.OpenOptions{})
				require.NoError(b, err)
				features := g.Features.RowNormalized()
				store := model.NewStore()
				near, err := kernels.New(store, "/data/edges", g.Edges.Matrix(), kernels.Options{Kernel: kernel, Symmetric: true,
					Gradients: true})
				require.NoError(b, err)
				x, err := kernels.New(store, "/data/features", csr.Matrix{Rows: features.Rows, Columns: features.Width,
					Offsets: features.Offsets, Indices: features.Columns},
					kernels.Options{Kernel: kernel, Gradients: true})
				require.NoError(b, err)
				values := x.Floats("value", func(csr.Matrix) []float32 { return features.Values })
				dropped := func(h, key *Node) *Node {
					return x.DropEntries(kernels.NewRandom(key, kernel).Next(), values.NodeValue(h.Graph()), 1, 0.5)
				}
				const width = 64
				for _, op := range []struct {
					name string
					rows int
					run  func(h, key *Node) *Node
				}{
					{"Σ", g.NumNodes(), func(h, _ *Node) *Node { return near.Times(h, nil, nil) }},
					{"X·W", features.Width, func(h, key *Node) *Node { return x.Times(h, nil, dropped(h, key)) }},
					{"Xᵀ·v", g.NumNodes(), func(h, key *Node) *Node { return x.Back(h, nil, dropped(h, key)) }},
				} {
					b.Run(fmt.Sprintf("%s/%s/%s/%s", data, id, op.name, kernel), func(b *testing.B) {
						exec, err := model.NewExec(backend.Backend, store,
							func(_ *model.Scope, h, key *Node) *Node { return op.run(h, key) })
						require.NoError(b, err)
						defer exec.Finalize()
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
