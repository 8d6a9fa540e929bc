package nmgnn_test

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

func TestDropEdgeDropsBothDirectionsAndNeverTheNodeItself(t *testing.T) {
	const n = 40
	var pairs [][2]int32
	for v := range int32(n) {
		for u := range v {
			if (u+v)%3 == 0 {
				pairs = append(pairs, [2]int32{u, v})
			}
		}
	}
	var first [][]float32
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, n, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key *Node) []*Node {
			r := nmgnn.NewRandom(key)
			dropped := nmgnn.DropEdge{Rate: 0.4}.Apply(nmgnn.Pass{Near: near(r), Random: r}).Near
			g := key.Graph()
			one := identity(g, n)
			column := Ones(g, shapeOf(n, 1))
			scores := dropped.Sources(ZerosLike(column))
			own := dropped.WithSelf()
			return []*Node{dropped.Sum(one, nil), dropped.Degree(g), dropped.WeightedSum(dropped.Softmax(scores), one, nil),
				own.Sum(one, nil), own.Degree(g)}
		}, []uint32{3, 9})
		require.NoError(t, err)
		kept, degree := outputs[0].Value().([][]float32), outputs[1].Value().([][]float32)
		attended, own, ownDegree := outputs[2].Value().([][]float32), outputs[3].Value().([][]float32),
			outputs[4].Value().([][]float32)
		there, edges := 0, 0
		for v := range n {
			sum := float32(0)
			for u := range n {
				require.Equal(t, kept[v][u], kept[u][v], "both directions")
				sum += kept[v][u]
				if u == v {
					require.Equal(t, float32(1), own[v][v], "a node is never dropped from itself")
					continue
				}
				require.Equal(t, kept[v][u], own[v][u], "the same edges with and without the node itself")
				if (u+v)%3 == 0 {
					edges++
					there += int(kept[v][u])
				} else {
					require.Zero(t, kept[v][u])
				}
				if kept[v][u] == 0 {
					require.Zero(t, attended[v][u])
				} else {
					require.InDelta(t, 1/degree[v][0], attended[v][u], 1e-6, "attention is over what is left")
				}
			}
			require.Equal(t, sum, degree[v][0])
			require.Equal(t, sum+1, ownDegree[v][0])
		}
		require.InDelta(t, 0.6, float64(there)/float64(edges), 0.12)
		if first == nil {
			first = kept
		}
		require.Equal(t, first, kept, "the same edges with every kernel and on every backend")
	})
}

func TestDropEdgeHoldsForMaximaAndWeightedSums(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key, h, factors *Node) []*Node {
			g := key.Graph()
			r := nmgnn.NewRandom(key)
			n := nmgnn.DropEdge{Rate: 0.5}.Apply(nmgnn.Pass{Near: near(r), Random: r}).Near
			y := n.Max(h, nil)
			sum := n.WeightedSum(n.Weights(g, "number", func(v, u int32) float32 { return float32(10*v + u) }), h, nil)
			return []*Node{n.Sum(identity(g, 5), nil), y, Gradient(ReduceAllSum(Mul(factors, y)), h)[0], sum,
				Gradient(ReduceAllSum(Mul(factors, sum)), h)[0]}
		}, []uint32{2, 1}, fiveRows, fiveFactors)
		require.NoError(t, err)
		// This key keeps b–c and c–d.
		require.Equal(t, [][]float32{{0, 0, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 1, 0, 1, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 0, 0}},
			outputs[0].Value())
		// a has no neighbours left; b and d have c, c has b and d.
		require.Equal(t, [][]float32{{0, 0}, {4, -3}, {8, -1}, {4, -3}, {0, 0}}, outputs[1].Value())
		require.Equal(t, [][]float32{{0, 0}, {0, 100}, {1010, 1010}, {100, 0}, {0, 0}}, outputs[2].Value())
		// b 12·c, c 21·b+23·d, d 32·c; backwards b 21·100, c 12·10+32·1000, d 23·100.
		require.Equal(t, [][]float32{{0, 0}, {48, -36}, {42 + 184, -21 - 115}, {128, -96}, {0, 0}}, outputs[3].Value())
		require.Equal(t, [][]float32{{0, 0}, {2100, 2100}, {32120, 32120}, {2300, 2300}, {0, 0}}, outputs[4].Value())
	})
}

// ring joins each of n nodes to the next two.
func ring(n int32) (pairs [][2]int32) {
	for v := range n {
		pairs = append(pairs, [2]int32{v, (v + 1) % n}, [2]int32{v, (v + 2) % n})
	}
	return pairs
}

func TestDropGNNAveragesTheProbabilitiesOfMaskedRuns(t *testing.T) {
	const n = 12
	x := make([][]float32, n)
	for v := range x {
		x[v] = []float32{float32(v%3) + 1, float32(v % 2)}
	}
	m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{4}}, nmgnn.GIN{Width: []int{3}}}, Dropout: 0.5}
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		data, err := nmgnn.Load(store, "/data/test", gnntest.Undirected(t, n, ring(n)), gnntest.SparseRows(x),
			nmgnn.LoadOptions{Backend: kernels.Planned{Plan: plan}})
		require.NoError(t, err)
		outputs, err := model.CallOnceN(b.Backend, store, func(scope *model.Scope, key *Node) []*Node {
			g := key.Graph()
			pass := func() nmgnn.Pass {
				return nmgnn.Pass{Scope: scope.At(gomlx.ModelScope), Near: data.Neighbours(false, nil),
					Features: data.Features(g, false)}
			}
			run := func(rate float64) *Node {
				all := nmgnn.DropGNN{Rate: rate}.Forward(m, pass())
				require.Len(t, all, 2)
				return all[1]
			}
			// By hand, with the masks that Apply draws.
			r := nmgnn.NewRandom(Const(g, []uint32{0x9e3779b9, 0x7f4a7c15}))
			var byHand, masks *Node
			for range nmgnn.DropGNNRuns {
				p := pass()
				p.Random = r
				p = nmgnn.DropGNN{Rate: 0.4}.Apply(p)
				p.Random = nil
				probabilities := Softmax(m.Forward(p)[1])
				if byHand == nil {
					byHand, masks = probabilities, p.Mask
				} else {
					byHand, masks = Add(byHand, probabilities), Concatenate([]*Node{masks, p.Mask}, 1)
				}
			}
			return []*Node{Exp(run(0)), Softmax(m.Forward(pass())[1]), Exp(run(0.4)), DivScalar(byHand, nmgnn.DropGNNRuns),
				masks}
		}, []uint32{1, 2})
		require.NoError(t, err)
		values := func(i int) []float32 { return slices.Concat(outputs[i].Value().([][]float32)...) }
		gnntest.InDelta(t, values(1), values(0), 1e-6, "without masks it is the model")
		gnntest.InDelta(t, values(3), values(2), 1e-5, "the mean of its runs")
		require.NotEqual(t, values(0), values(2))
		masks, gone := outputs[4].Value().([][]float32), 0
		for v := range masks {
			for k := range masks[v] {
				require.Contains(t, []float32{0, 1}, masks[v][k], "nothing is scaled")
				gone += 1 - int(masks[v][k])
			}
		}
		require.InDelta(t, 0.4, float64(gone)/(n*nmgnn.DropGNNRuns), 0.15)
	})
}
