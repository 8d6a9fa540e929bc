package nmgnn_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/internal/gnntest"
	"nodemask/internal/kernels"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
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
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := model.NewStore()
		near := nearOf(t, store, plan, n, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key *Node) []*Node {
			r := kernels.NewRandom(key, plan.Kernel)
			dropped := nmgnn.DropEdge{Rate: 0.4}.Apply(nmgnn.Pass{Near: near(r), Random: r}).Near
			g := key.Graph()
			one := identity(g, n)
			column := Ones(g, shapeOf(n, 1))
			scores := dropped.Sources(ZerosLike(column))
			own := dropped.WithSelf()
			return []*Node{dropped.Sum(one, nil), dropped.Degree(g), dropped.WeightedSum(dropped.Softmax(scores), one, nil), own.Sum(one, nil), own.Degree(g)}
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
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := model.NewStore()
		near := nearOf(t, store, plan, 5, fivePairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key, h, factors *Node) []*Node {
			g := key.Graph()
			r := kernels.NewRandom(key, plan.Kernel)
			n := nmgnn.DropEdge{Rate: 0.5}.Apply(nmgnn.Pass{Near: near(r), Random: r}).Near
			y := n.Max(h, nil)
			sum := n.WeightedSum(n.Weights(g, "number", func(v, u int32) float32 { return float32(10*v + u) }), h, nil)
			return []*Node{n.Sum(identity(g, 5), nil), y, Gradient(ReduceAllSum(Mul(factors, y)), h)[0], sum, Gradient(ReduceAllSum(Mul(factors, sum)), h)[0]}
		}, []uint32{2, 1}, fiveRows, fiveFactors)
		require.NoError(t, err)
		// What this key leaves: b–c and c–d.
		require.Equal(t, [][]float32{{0, 0, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 1, 0, 1, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 0, 0}},
			outputs[0].Value())
		// a has lost its neighbours. b and d have c, c has b and d.
		require.Equal(t, [][]float32{{0, 0}, {4, -3}, {8, -1}, {4, -3}, {0, 0}}, outputs[1].Value())
		require.Equal(t, [][]float32{{0, 0}, {0, 100}, {1010, 1010}, {100, 0}, {0, 0}}, outputs[2].Value())
		// b 12·c, c 21·b+23·d, d 32·c; backwards b 21·100, c 12·10+32·1000, d 23·100.
		require.Equal(t, [][]float32{{0, 0}, {48, -36}, {42 + 184, -21 - 115}, {128, -96}, {0, 0}}, outputs[3].Value())
		require.Equal(t, [][]float32{{0, 0}, {2100, 2100}, {32120, 32120}, {2300, 2300}, {0, 0}}, outputs[4].Value())
	})
}

func TestDropNodeDropsWholeRowsOfTheFeaturesAndScalesTheOthers(t *testing.T) {
	x := make([][]float32, 60)
	for v := range x {
		x[v] = []float32{float32(v + 1), 0, -1}
	}
	var first [][]float32
	for _, plan := range append(gnntest.EveryKernel(), kernels.Plan{Kernel: kernels.ChainKernel, DenseFeatures: true}) {
		b := gnntest.Go(t)
		store := model.NewStore()
		edges := gnntest.Undirected(t, len(x), [][2]int32{{0, 1}})
		data, err := nmgnn.Load(store, "/data/train", edges, gnntest.SparseRows(x),
			nmgnn.LoadOptions{Plan: plan, Gradients: true})
		require.NoError(t, err)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key, w *Node) []*Node {
			r := kernels.NewRandom(key, plan.Kernel)
			p := nmgnn.DropNode{Rate: 0.25}.Apply(nmgnn.Pass{Near: data.Neighbours(true, r),
				Features: data.Features(key.Graph(), true), Random: r})
			return []*Node{p.Features.Node(), Gradient(ReduceAllSum(p.Features.Times(w)), w)[0]}
		}, []uint32{5, 5}, [][]float32{{1}, {1}, {1}})
		require.NoError(t, err)
		got := outputs[0].Value().([][]float32)
		gone, sum := 0, float32(0)
		for v := range got {
			if got[v][0] == 0 {
				require.Equal(t, []float32{0, 0, 0}, got[v])
				gone++
				continue
			}
			gnntest.InDelta(t, []float32{x[v][0] / 0.75, 0, -1 / 0.75}, got[v], 1e-4, "row %d", v)
			sum += got[v][0]
		}
		require.InDelta(t, 15, gone, 12)
		require.InDelta(t, sum, outputs[1].Value().([][]float32)[0][0], 0.01, "gradients see the same rows")
		if first == nil {
			first = got
		}
		require.Equal(t, first, got, "the same nodes however features are stored")
	}
}
