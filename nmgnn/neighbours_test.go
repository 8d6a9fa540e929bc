package nmgnn_test

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

func TestSoftmaxIsOverNeighboursAndSurvivesLargeScores(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		// Edges 0–1, 0–2; 3 isolated. Source scores: 1000, 1001, −2000, 5.
		near := nearOf(t, store, plan, 4, [][2]int32{{0, 1}, {0, 2}})
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, scores *Node) []*Node {
			n := near(nil)
			alpha := n.Softmax(n.Sources(scores))
			picked := n.WeightedSum(alpha, scores, nil)
			own := n.WithSelf()
			withSelf := own.WeightedSum(own.Softmax(own.Sources(scores)), scores, nil)
			return []*Node{picked, withSelf, n.Degree(scores.Graph()), own.Degree(scores.Graph()),
				Gradient(ReduceAllSum(picked), scores)[0]}
		}, [][]float32{{1000}, {1001}, {-2000}, {5}})
		require.NoError(t, err)
		// 0 has 1001 and −2000: all weight on 1001. 1 and 2 have only 0; 3 has no neighbours: zero.
		require.Equal(t, [][]float32{{1001}, {1000}, {1000}, {0}}, outputs[0].Value())
		// With self: 0 weighs 1000, 1001, −2000 by 1:e:0; 1 likewise without the last; 2 has 1000 and itself; 3 itself.
		mix := float32((1000 + 1001*math.E) / (1 + math.E))
		gnntest.InDelta(t, []float32{mix, mix, 1000, 5}, slices.Concat(outputs[1].Value().([][]float32)...), 1e-3,
			"with itself")
		require.Equal(t, [][]float32{{2}, {1}, {1}, {0}}, outputs[2].Value())
		require.Equal(t, [][]float32{{3}, {2}, {2}, {1}}, outputs[3].Value())
		// Weights of 1 and 0 do not move: the gradient is a plain sum's.
		require.Equal(t, [][]float32{{2}, {1}, {0}, {0}}, outputs[4].Value())
	})
}

// Edges a(0)–b(1), a–c(2), b–c, c–d(3); e(4) isolated.
var (
	fivePairs = [][2]int32{{0, 1}, {0, 2}, {1, 2}, {2, 3}}
	fiveRows  = [][]float32{{1, 9}, {2, -1}, {4, -3}, {8, -5}, {16, 7}}
	// In the gradient, a loss of these factors times the rows reveals which rows contributed.
	fiveFactors = [][]float32{{1}, {10}, {100}, {1000}, {10000}}
)

func TestMaxIsTheGreatestOfEachColumnAmongTheNeighbours(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, h, factors, alike, mask *Node) []*Node {
			y, tied, masked := near(nil).Max(h, nil), near(nil).Max(alike, nil), near(nil).Max(h, mask)
			return []*Node{y, Gradient(ReduceAllSum(Mul(factors, y)), h)[0], near(nil).WithSelf().Max(h, nil), tied,
				Gradient(ReduceAllSum(Mul(factors, tied)), alike)[0], masked,
				Gradient(ReduceAllSum(Mul(factors, masked)), h)[0], near(nil).MaskOthers(mask).Max(h, nil),
				near(nil).WithSelf().MaskOthers(mask).Max(h, nil)}
		}, fiveRows, fiveFactors, [][]float32{{4}, {4}, {4}, {0}, {0}}, [][]float32{{0}, {1}, {0}, {1}, {1}})
		require.NoError(t, err)
		// a has b and c; b a and c; c a, b and d; d c; e has no neighbours: zero.
		require.Equal(t, [][]float32{{4, -1}, {4, 9}, {8, 9}, {4, -3}, {0, 0}}, outputs[0].Value())
		// First column: c is the maximum of a, b and d; d of c. Second: a is the maximum of b and c; b of a; c of d.
		require.Equal(t, [][]float32{{0, 110}, {0, 1}, {1011, 1000}, {100, 0}, {0, 0}}, outputs[1].Value())
		require.Equal(t, [][]float32{{4, 9}, {4, 9}, {8, 9}, {8, -3}, {16, 7}}, outputs[2].Value(), "among themselves too")
		// a, b and c have two equal maxima, each with half the gradient: a ½·10+½·100, b ½·1+½·100, c ½·1+½·10+1000.
		require.Equal(t, [][]float32{{4}, {4}, {4}, {4}, {0}}, outputs[3].Value())
		require.Equal(t, [][]float32{{55}, {50.5}, {1005.5}, {0}, {0}}, outputs[4].Value())
		// With a and c masked, a has b, c has b and d, b and d have no neighbours: a's and c's -1 is not a masked zero.
		require.Equal(t, [][]float32{{2, -1}, {0, 0}, {8, -1}, {0, 0}, {0, 0}}, outputs[5].Value())
		require.Equal(t, [][]float32{{0, 0}, {1, 101}, {0, 0}, {100, 0}, {0, 0}}, outputs[6].Value())
		require.Equal(t, outputs[5].Value(), outputs[7].Value(), "all but v itself")
		require.Equal(t, [][]float32{{2, 9}, {2, -1}, {8, -1}, {8, -5}, {16, 7}}, outputs[8].Value(), "v itself is heard")
	})
}

func TestNumbersThatAreNotOneForEachNodeAreRefused(t *testing.T) {
	// Otherwise kernels would read out of bounds.
	few := func(x *Node) *Node { return Slice(x, AxisRange(0, 2)) }
	const nodes, entries = "has the shape [2 2]: expected [5, width], a row for each node",
		"has the shape [2 2]: expected [8, width], a row for each entry"
	const mask = "mask has the shape [5 2]: expected [5, 1], a row for each node"
	for _, c := range []struct {
		says string
		of   func(n nmgnn.Neighbours, h *Node) *Node
	}{
		{nodes, func(n nmgnn.Neighbours, h *Node) *Node { return n.Sum(few(h), nil) }},
		{nodes, func(n nmgnn.Neighbours, h *Node) *Node { return n.Mean(few(h), nil) }},
		{nodes, func(n nmgnn.Neighbours, h *Node) *Node { return n.Max(few(h), nil) }},
		{nodes, func(n nmgnn.Neighbours, h *Node) *Node { return n.Sources(few(h)) }},
		{nodes, func(n nmgnn.Neighbours, h *Node) *Node { return n.Targets(few(h)) }},
		{nodes, func(n nmgnn.Neighbours, h *Node) *Node { return n.WeightedSum(n.Sources(h), few(h), nil) }},
		{nodes, func(n nmgnn.Neighbours, h *Node) *Node { return n.Attention(n.Sources(h), few(h), nil, 0) }},
		{nodes, func(n nmgnn.Neighbours, h *Node) *Node { return n.PairAttention(few(h), few(h), 0.2, h, nil, nil, 0) }},
		{entries, func(n nmgnn.Neighbours, h *Node) *Node { return n.Softmax(few(h)) }},
		{entries, func(n nmgnn.Neighbours, h *Node) *Node { return n.EntryDropout(few(h), 0.5) }},
		{entries, func(n nmgnn.Neighbours, h *Node) *Node { return n.WeightedSum(few(h), h, nil) }},
		{mask, func(n nmgnn.Neighbours, h *Node) *Node { return n.Sum(h, h) }},
		{mask, func(n nmgnn.Neighbours, h *Node) *Node { return n.MaskOthers(h).Sum(h, nil) }},
		{"h is nil: expected a row for each node", func(n nmgnn.Neighbours, h *Node) *Node { return n.Sum(nil, nil) }},
		{"has the shape [8 2]", func(n nmgnn.Neighbours, h *Node) *Node { return n.Sum(n.Sources(h), nil) }},
	} {
		gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
			near := nearOf(t, gnntest.Store(t), plan, 5, fivePairs)
			_, err := model.CallOnceN(b.Backend, gnntest.Store(t), func(_ *model.Scope, h *Node) []*Node {
				return []*Node{c.of(near(nil), h)}
			}, fiveRows)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func TestWeightsAreThoseOfEachPairOfNodes(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		asked := 0
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, h, factors *Node) []*Node {
			g := h.Graph()
			asked = 0
			number := func(v, u int32) float32 { asked++; return float32(10*v + u) }
			n, own := near(nil), near(nil).WithSelf()
			y := n.WeightedSum(n.Weights(g, "number", number), h, nil)
			again := near(nil).WeightedSum(near(nil).Weights(g, "number", number), identity(g, 5), nil)
			assert.Equal(t, 8, asked,
				"once for each pair") // require would leave the graph locked
			other := n.WeightedSum(n.Weights(g, "other", func(v, u int32) float32 { return 1 }), identity(g, 5), nil)
			withSelf := own.WeightedSum(own.Weights(g, "number", number), identity(g, 5), nil)
			assert.Equal(t, 8+13, asked)
			return []*Node{y, Gradient(ReduceAllSum(Mul(factors, y)), h)[0], again, other, withSelf}
		}, [][]float32{{1}, {2}, {4}, {8}, {16}}, fiveFactors)
		require.NoError(t, err)
		// a 1·2+2·4, b 10·1+12·4, c 20·1+21·2+23·8, d 32·4, e 0.
		require.Equal(t, [][]float32{{10}, {58}, {246}, {128}, {0}}, outputs[0].Value())
		// a 10·10+20·100, b 1·1+21·100, c 2·1+12·10+32·1000, d 23·100.
		require.Equal(t, [][]float32{{2100}, {2101}, {32122}, {2300}, {0}}, outputs[1].Value())
		require.Equal(t, [][]float32{{0, 1, 2, 0, 0}, {10, 0, 12, 0, 0}, {20, 21, 0, 23, 0}, {0, 0, 32, 0, 0},
			{0, 0, 0, 0, 0}}, outputs[2].Value())
		require.Equal(t, [][]float32{{0, 1, 1, 0, 0}, {1, 0, 1, 0, 0}, {1, 1, 0, 1, 0}, {0, 0, 1, 0, 0}, {0, 0, 0, 0, 0}},
			outputs[3].Value(), "another name, other weights")
		require.Equal(t, [][]float32{{0, 1, 2, 0, 0}, {10, 11, 12, 0, 0}, {20, 21, 22, 23, 0}, {0, 0, 32, 33, 0},
			{0, 0, 0, 0, 44}}, outputs[4].Value())
	})
}

func TestAllKernelsDropTheSameAttention(t *testing.T) {
	var first []float32
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		var pairs [][2]int32
		for v := range int32(30) {
			pairs = append(pairs, [2]int32{v, (v + 1) % 30}, [2]int32{v, (v + 7) % 30})
		}
		near := nearOf(t, store, plan, 30, pairs)
		output, err := model.CallOnce(b.Backend, store, func(_ *model.Scope, key *Node) *Node {
			n := near(nmgnn.NewRandom(key)).WithSelf()
			g := key.Graph()
			alpha := n.EntryDropout(n.Softmax(n.Sources(Zeros(g, shapeOf(30, 2)))), 0.5)
			return n.WeightedSum(alpha, Concatenate([]*Node{identity(g, 30), identity(g, 30)}, 1), nil)
		}, []uint32{8, 1})
		require.NoError(t, err)
		got := tensors.MustCopyFlatData[float32](output)
		dropped := 0
		for v := range 30 {
			for u := range 60 {
				isNear := (u-v)%30 == 0 || (u-v-1)%30 == 0 || (v-u-1)%30 == 0 || (u-v-7)%30 == 0 || (v-u-7)%30 == 0
				if a := got[60*v+u]; isNear && a == 0 {
					dropped++
				} else if isNear {
					require.InDelta(t, 2.0/5, a, 1e-6, "one fifth, doubled")
				} else {
					require.Zero(t, a)
				}
			}
		}
		require.InDelta(t, 150, dropped, 45)
		if first == nil {
			first = got
		}
		gnntest.InDelta(t, first, got, 1e-6, "the same with every kernel")
	})
}

func TestAttentionIsSoftmaxDropoutAndSum(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		r := gomlx.HostRandom(5, "attention")
		const nodes, heads, width = 40, 2, 6
		var pairs [][2]int32
		for v := range int32(nodes - 2) { // the last two are isolated
			pairs = append(pairs, [2]int32{v, (v + 1) % (nodes - 2)}, [2]int32{v, int32(r.IntN(nodes - 2))})
		}
		near := nearOf(t, store, plan, nodes, pairs)
		rows := func(width int) [][]float32 {
			x := make([][]float32, nodes)
			for v := range x {
				x[v] = make([]float32, width)
				for c := range x[v] {
					x[v][c] = float32(r.NormFloat64())
				}
			}
			return x
		}
		for _, withSelf := range []bool{false, true} {
			for _, rate := range []float64{0, 0.4} {
				outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key, source, target, h,
					factors *Node) []*Node {
					var all []*Node
					for _, apply := range []func(n nmgnn.Neighbours, e *Node) *Node{
						func(n nmgnn.Neighbours, e *Node) *Node { return n.Attention(e, h, nil, rate) },
						func(n nmgnn.Neighbours, e *Node) *Node {
							return n.WeightedSum(n.EntryDropout(n.Softmax(e), rate), h, nil)
						},
					} {
						var n nmgnn.Neighbours = near(nmgnn.NewRandom(key))
						if withSelf {
							n = n.WithSelf()
						}
						y := apply(n, Add(n.Sources(source), n.Targets(target)))
						all = append(all, y)
						all = append(all, Gradient(ReduceAllSum(Mul(factors, Mul(y, y))), source, target, h)...)
					}
					return all
				}, []uint32{3, 4}, rows(heads), rows(heads), rows(width), rows(width))
				require.NoError(t, err)
				require.Len(t, outputs, 8)
				for i, what := range []string{"the sum", "∂source", "∂target", "∂h"} {
					gnntest.InDelta(t, tensors.MustCopyFlatData[float32](outputs[i+4]), tensors.MustCopyFlatData[float32](outputs[i]),
						2e-5, "%s", what)
				}
				if i := (nodes - 1) * width; !withSelf {
					require.Equal(t, make([]float32, width), tensors.MustCopyFlatData[float32](outputs[0])[i:],
						"no neighbours, no sum")
				}
			}
		}
	})
}

func TestAnotherGraphLoadedAtAPathIsTheOneUsed(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		store := model.NewStore()
		defer store.Finalize()
		for u, want := range map[int32][][]float32{0: {{1}, {1}, {0}}, 2: {{0}, {1}, {1}}} {
			data, err := nmgnn.Load(store, "/graph", gnntest.Undirected(t, 3, [][2]int32{{u, 1}}),
				datasets.Features{Rows: 3}, nmgnn.LoadOptions{})
			require.NoError(t, err, "the zero options do for any backend")
			out, err := model.CallOnce(b.Backend, store, func(_ *model.Scope, x *Node) *Node {
				return data.Neighbours(false, nil).Sum(x, nil)
			}, [][]float32{{1}, {1}, {1}})
			require.NoError(t, err)
			require.Equal(t, want, out.Value())
		}
	})
}

func TestMinAndStdAreOfEachColumnAmongTheNeighbours(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		mask := [][]float32{{1}, {1}, {0}, {1}, {1}} // c is masked
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, h, mask *Node) []*Node {
			n := near(nil)
			return []*Node{n.Min(h, nil), n.Min(h, mask), n.Std(h, nil)}
		}, fiveRows, mask)
		require.NoError(t, err)
		require.Equal(t, [][]float32{{2, -3}, {1, -3}, {1, -5}, {4, -3}, {0, 0}}, outputs[0].Value())
		require.Equal(t, [][]float32{{2, -1}, {1, 9}, {1, -5}, {0, 0}, {0, 0}}, outputs[1].Value())
		// Variances of the first column: 20/2 − 3², 17/2 − 2.5², 69/3 − (11/3)², then 0 for one number and for an empty
		// set.
		var want []float32
		for _, variance := range []float64{1, 2.25, 86. / 9, 0, 0} {
			want = append(want, float32(math.Sqrt(variance+1e-5)))
		}
		var got []float32
		for row := range slices.Values(outputs[2].Value().([][]float32)) {
			got = append(got, row[0])
		}
		gnntest.InDelta(t, want, got, 1e-5, "standard deviations")
	})
}

func TestWeightsHaveAColumnForEachFunction(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, h *Node) []*Node {
			n := near(nil)
			weights := n.Weights(h.Graph(), "ends", func(_, u int32) float32 { return float32(u) },
				func(v, _ int32) float32 { return float32(v) })
			return []*Node{n.WeightedSum(weights, h, nil)}
		}, fiveRows)
		require.NoError(t, err)
		// b's neighbours are a and c: 0·1 + 2·4, and 1·(9 − 3).
		require.Equal(t, [][]float32{{10, 0}, {8, 6}, {26, 6}, {8, -9}, {0, 0}}, outputs[0].Value())
	})
}
