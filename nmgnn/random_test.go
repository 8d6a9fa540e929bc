package nmgnn_test

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

// Recorded results need layers to take streams in this order; a layer that needs fewer must still take them all, as
// SGAT does.
func TestLayersTakeTheseStreamsOfTheGeneratorInTraining(t *testing.T) {
	b := gnntest.Go(t)
	for _, c := range []struct {
		name             string
		layer            func(dropout float64) nmgnn.Layer
		dropping, inFull int // streams
	}{
		{"gin", func(float64) nmgnn.Layer { return nmgnn.GIN{Width: []int{3, 2}} }, 0, 2},
		{"gcn", func(float64) nmgnn.Layer { return nmgnn.GCN{Width: 2} }, 0, 2},
		{"sage", func(float64) nmgnn.Layer { return nmgnn.SAGE{Width: 2} }, 0, 2},
		{"gat", func(dropout float64) nmgnn.Layer { return nmgnn.GAT{Heads: 2, Width: 1, Dropout: dropout} }, 1, 4},
		{"gatv2", func(dropout float64) nmgnn.Layer { return nmgnn.GATv2{Heads: 2, Width: 1, Dropout: dropout} }, 1, 4},
		{"sgat", func(dropout float64) nmgnn.Layer { return nmgnn.SGAT{Width: 2, Heads: 2, Dropout: dropout} }, 2, 6},
	} {
		for _, plan := range gnntest.EveryKernel() {
			t.Run(c.name+"/"+string(plan.Kernel), func(t *testing.T) {
				store := gnntest.Store(t)
				near := nearOf(t, store, plan, 5, fivePairs)
				_, err := model.CallOnceN(b.Backend, store, func(scope *model.Scope, key, h *Node) []*Node {
					taken := func(r *nmgnn.Random) (n int) {
						next, all := nmgnn.Draws(r).Next(), nmgnn.Draws(nmgnn.NewRandom(key))
						for n < 100 && all.Next() != next {
							n++
						}
						return n
					}
					forward := func(dropout float64) int {
						r := nmgnn.NewRandom(key)
						c.layer(dropout).Forward(scope.At("layer"), near(r), nmgnn.Dense(h), nil)
						return taken(r)
					}
					assert.Zero(t, forward(0)) // require would leave the graph locked
					assert.Equal(t, c.dropping, forward(0.5))
					r := nmgnn.NewRandom(key)
					m := nmgnn.Model{Layers: []nmgnn.Layer{c.layer(0.5), c.layer(0.5)}, Dropout: 0.5}
					m.Forward(nmgnn.Pass{Scope: scope.At("model"), Near: near(r), Features: nmgnn.Dense(h), Random: r})
					assert.Equal(t, c.inFull, taken(r), "one for each layer's input, before the layer's own")
					return []*Node{Add(h, h)}
				}, []uint32{3, 9}, whole(5, 2, 3))
				require.NoError(t, err)
			})
		}
	}
}

func TestSGATReadsTheSecondOfItsStreams(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(scope *model.Scope, key, h *Node) []*Node {
			g := key.Graph()
			r := nmgnn.NewRandom(key)
			layer := nmgnn.SGAT{Width: 2, Dropout: 0.5, Heads: 2}.Forward(scope.At("layer"), near(r), nmgnn.Dense(h), nil)
			wh := nmgnn.Dense(h).Times(nmgnn.GlorotWeights(scope.At("layer"), g, "weights", 2, 2))
			second := nmgnn.NewRandom(key)
			nmgnn.Draws(second).Next()
			n := near(second).WithSelf()
			mean := n.WeightedSum(n.EntryDropout(n.Softmax(n.Sources(Zeros(g, shapeOf(5, 2)))), 0.5), wh, nil)
			return []*Node{layer, Add(mean, nmgnn.ZeroWeights(scope.At("layer"), g, "biases", 1, 2))}
		}, []uint32{3, 9}, whole(5, 2, 3))
		require.NoError(t, err)
		want, got := outputs[1].Value().([][]float32), outputs[0].Value().([][]float32)
		gnntest.InDelta(t, slices.Concat(want...), slices.Concat(got...), 1e-5, "the mean of what is kept")
	})
}
