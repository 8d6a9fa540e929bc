package nmgnn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

type layerAlone struct{ nmgnn.Layer }

func TestWhatIsLeftOutOrComputedTogetherChangesNoDigit(t *testing.T) {
	const nodes, width = 300, 17
	b, r := gnntest.XLA(t), rand.New(rand.NewPCG(1, 2))
	var pairs [][2]int32
	for range 2 * nodes {
		if u, v := int32(r.IntN(nodes)), int32(r.IntN(nodes)); u != v {
			pairs = append(pairs, [2]int32{u, v})
		}
	}
	x, mask, seen := make([][]float32, nodes), make([][]float32, nodes), make([][]float32, nodes)
	for v := range x {
		x[v], mask[v], seen[v] = make([]float32, width), []float32{float32(r.IntN(2))}, []float32{0}
		for range 3 {
			x[v][r.IntN(width)] = r.Float32()
		}
		if v%20 == 0 {
			seen[v][0] = 1
		}
	}
	edges, features := gnntest.Undirected(t, nodes, pairs), gnntest.SparseRows(x)
	for _, layers := range [][]nmgnn.Layer{
		{nmgnn.GIN{Width: []int{8}}, nmgnn.GIN{Width: []int{8, 5}, LearnEpsilon: true}, nmgnn.GIN{Width: []int{3}}},
		{nmgnn.GIN{Width: []int{8}}, nmgnn.GIN{Width: []int{9, 7}}, nmgnn.GIN{Width: []int{3}}},
		{nmgnn.GAT{Heads: 8, Width: 2, Dropout: 0.2}, nmgnn.GAT{Width: 3, KeepSelf: true}},
		{nmgnn.SGAT{Width: 8}, nmgnn.SGAT{Heads: 3, Width: 3, Dropout: 0.2}},
		{nmgnn.GATv2{Heads: 2, Width: 4}, nmgnn.GATv2{Width: 3}},
	} {
		for _, dense := range []bool{false, true} {
			plan := kernels.Plan{Kernel: kernels.FusedKernel, DenseFeatures: dense}
			t.Run(fmt.Sprintf("%T, %+v", layers[0], plan), func(t *testing.T) {
				store := gnntest.Store(t)
				data, err := nmgnn.Load(store, "/data/train", edges, features, nmgnn.LoadOptions{
					Backend: kernels.Planned{Plan: plan}, Gradients: true})
				require.NoError(t, err)
				alone := make([]nmgnn.Layer, len(layers)) // of a type that models know nothing about
				for i, l := range layers {
					alone[i] = layerAlone{l}
				}
				activation := kernels.ELU
				if _, ok := layers[0].(nmgnn.GIN); ok {
					activation = nil
				}
				// The hidden layer, the loss and its gradients: each operation alone, without Seen and with it.
				outputs, err := model.CallOnceN(b.Backend, store, func(scope *model.Scope, mask, seen *Node) (all []*Node) {
					for _, of := range []struct {
						layers []nmgnn.Layer
						seen   *Node
					}{{alone, nil}, {layers, nil}, {layers, seen}} {
						random := data.Random(Const(seen.Graph(), []uint32{3, 4}))
						h := nmgnn.Model{Layers: of.layers, Dropout: 0.3, Activation: activation}.Forward(nmgnn.Pass{
							Scope: scope.ResetVisited(), Near: data.Neighbours(true, random), Random: random, Mask: mask,
							ZeroOne: true, Features: data.Features(seen.Graph(), true), Seen: of.seen})
						loss := ReduceAllSum(Mul(Tanh(h[len(h)-1]), seen))
						all = append(append(all, h[0], loss), scope.BuildTrainableVariablesGradientsGraph(loss)...)
					}
					return all
				}, mask, seen)
				require.NoError(t, err)
				third := len(outputs) / 3
				require.NotEqual(t, outputs[0].Value(), outputs[2*third].Value(), "rows of the hidden layer are skipped")
				for i := 1; i < third; i++ {
					require.Equal(t, outputs[i].Value(), outputs[third+i].Value(), "loss and gradients, result %d", i)
					require.Equal(t, outputs[i].Value(), outputs[2*third+i].Value(), "of seen rows: result %d", i)
				}
			})
		}
	}
}
