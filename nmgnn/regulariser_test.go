package nmgnn_test

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/variables"
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
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, n, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key *Node) []*Node {
			r := kernels.NewRandom(key, plan.Kernel)
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
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key, h, factors *Node) []*Node {
			g := key.Graph()
			r := kernels.NewRandom(key, plan.Kernel)
			n := nmgnn.DropEdge{Rate: 0.5}.Apply(nmgnn.Pass{Near: near(r), Random: r}).Near
			y := n.Max(h, nil)
			sum := n.WeightedSum(n.Weights(g, "number", func(v, u int32) float32 { return float32(10*v + u) }), h, nil)
			return []*Node{n.Sum(identity(g, 5), nil), y, Gradient(ReduceAllSum(Mul(factors, y)), h)[0], sum,
				Gradient(ReduceAllSum(Mul(factors, sum)), h)[0]}
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

func TestDropNodeDropsRowsAndScalesTheOthers(t *testing.T) {
	x := make([][]float32, 60)
	for v := range x {
		x[v] = []float32{float32(v + 1), 0, -1}
	}
	var first [][]float32
	for _, plan := range append(gnntest.EveryKernel(), kernels.Plan{Kernel: kernels.ScatterKernel, DenseFeatures: true}) {
		b := gnntest.Go(t)
		store := gnntest.Store(t)
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

// ring joins each of n nodes with the two next ones.
func ring(n int32) (pairs [][2]int32) {
	for v := range n {
		pairs = append(pairs, [2]int32{v, (v + 1) % n}, [2]int32{v, (v + 2) % n})
	}
	return pairs
}

func TestDropMessageDropsNumbersOfMessagesOneByOne(t *testing.T) {
	const n, width, rate = 50, 8, 0.25
	pairs, degrees, edges := ring(n), make([]float64, n), 0.0
	for v := int32(5); v < 40; v += 3 {
		pairs = append(pairs, [2]int32{0, v}) // so that rows differ in length
	}
	for _, pair := range pairs {
		degrees[pair[0]]++
		degrees[pair[1]]++
		edges += 2
	}
	var first [][]float32
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, n, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key *Node) []*Node {
			g := key.Graph()
			r := kernels.NewRandom(key, plan.Kernel)
			dropped := nmgnn.DropMessage{Rate: rate}.Apply(nmgnn.Pass{Near: near(r), Random: r}).Near
			ones := Ones(g, shapeOf(n, width))
			h := Sin(IotaFull(g, shapeOf(n, width)))
			factors := Cos(IotaFull(g, shapeOf(n, width)))
			scores := dropped.Sources(SliceAxis(h, 1, AxisRange(0, 2)))
			results := []*Node{dropped.Sum(ones, nil), dropped.Mean(ones, nil),
				dropped.PairAttention(Zeros(g, shapeOf(n, 2)), Zeros(g, shapeOf(n, 2)), 0.2, ones, nil, 0)}
			// All are linear in h: ⟨factors, L·h⟩ = ⟨Lᵀ·factors, h⟩.
			for _, y := range []*Node{dropped.Sum(h, nil), dropped.Mean(h, nil), dropped.WeightedSum(StopGradient(scores), h,
				nil)} {
				product := ReduceAllSum(Mul(factors, y))
				results = append(results, Sub(product, ReduceAllSum(Mul(Gradient(product, h)[0], h))))
			}
			calm := nmgnn.DropMessage{Rate: rate}.Apply(nmgnn.Pass{Near: near(nil)}).Near
			return append(results, calm.Sum(ones, nil))
		}, []uint32{3, 9})
		require.NoError(t, err)
		sum, mean := outputs[0].Value().([][]float32), outputs[1].Value().([][]float32)
		attended := outputs[2].Value().([][]float32)
		total, uneven := 0.0, [3]int{}
		for v := range sum {
			for j := range sum[v] {
				// Each draws numbers of its own.
				for i, y := range []float32{sum[v][j], mean[v][j] * float32(degrees[v]), attended[v][j] * float32(degrees[v])} {
					kept := float64(y) * (1 - rate)
					require.InDelta(t, math.Round(kept), kept, 1e-4, "a number is dropped or scaled")
					if i == 0 {
						total += kept
					}
					if math.Round(kept) < degrees[v] {
						uneven[i]++
					}
				}
			}
		}
		require.InDelta(t, 1-rate, total/(edges*width), 0.03)
		for i := range uneven {
			require.InDelta(t, 0.7, float64(uneven[i])/(n*width), 0.12, "columns are dropped on their own")
		}
		for _, difference := range outputs[3:6] {
			require.InDelta(t, 0, difference.Value(), 1e-3, "gradients see the same numbers")
		}
		for v, row := range outputs[6].Value().([][]float32) {
			require.Equal(t, slices.Repeat([]float32{float32(degrees[v])}, width), row, "outside training nothing is dropped")
		}
		if first == nil {
			first = sum
		}
		gnntest.InDelta(t, slices.Concat(first...), slices.Concat(sum...), 1e-4,
			"the same numbers with every kernel and backend")
	})
}

func TestDropMessageWeighsNoPadding(t *testing.T) {
	pairs := append(ring(20), [][2]int32{{0, 9}, {0, 11}, {4, 15}}...) // rows differ in length
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 20, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key *Node) []*Node {
			ones := Ones(key.Graph(), shapeOf(20, 3))
			dropped := func() nmgnn.Neighbours {
				r := kernels.NewRandom(key, plan.Kernel)
				return nmgnn.DropMessage{Rate: 0.25}.Apply(nmgnn.Pass{Near: near(r), Random: r}).Near
			}
			return []*Node{ReduceSum(dropped().Sum(ones, nil), 0), ReduceSum(dropped().Sent(ones, nil), 0)}
		}, []uint32{3, 9})
		require.NoError(t, err)
		require.InDeltaSlice(t, outputs[0].Value(), outputs[1].Value(), 1e-3, "what all messages add up to")
	})
}

func TestDropGNNAveragesTheProbabilitiesOfMaskedRuns(t *testing.T) {
	const n = 12
	x := make([][]float32, n)
	for v := range x {
		x[v] = []float32{float32(v%3) + 1, float32(v % 2)}
	}
	m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{4}}, nmgnn.GIN{Width: []int{3}}}, Dropout: 0.5}
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		data, err := nmgnn.Load(store, "/data/test", gnntest.Undirected(t, n, ring(n)), gnntest.SparseRows(x),
			nmgnn.LoadOptions{Plan: plan})
		require.NoError(t, err)
		outputs, err := model.CallOnceN(b.Backend, store, func(scope *model.Scope, key *Node) []*Node {
			g := key.Graph()
			pass := func() nmgnn.Pass {
				return nmgnn.Pass{Scope: scope.At(variables.ModelScope), Near: data.Neighbours(false, nil),
					Features: data.Features(g, false)}
			}
			run := func(rate float64) *Node {
				all := nmgnn.DropGNN{Rate: rate}.Forward(m, pass(), plan.Kernel, nil)
				require.Len(t, all, 2)
				return all[1]
			}
			// By hand: the masks that Apply draws, one run each.
			r := kernels.NewRandom(Const(g, []uint32{0x9e3779b9, 0x7f4a7c15}), plan.Kernel)
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
