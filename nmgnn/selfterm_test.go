package nmgnn_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

func TestAKeptSelfTermIsNeitherMaskedNorRescaled(t *testing.T) {
	gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		f := fiveNodes(t)
		f.weights = map[string][]float32{"/model/layer0/weights": {1, -1}, "/model/layer0/biases": {0, 0}}
		programs := map[bool]*program{}
		for _, c := range []struct {
			keep bool
			mask []float32
			want []float32
		}{
			// c and e are masked. a (1+2)/3, b (1+2)/3, c (1+2+8)/4, d 8/2, e 0; kept, c adds its 4 and e its 16.
			{false, []float32{1, 1, 0, 1, 0}, []float32{1, 1, 2.75, 4, 0}},
			{true, []float32{1, 1, 0, 1, 0}, []float32{1, 1, 3.75, 4, 16}},
			// Rescaled at ½: others count twice, v once. a (1+4)/3, b (2+2)/3, c (4+2+4+16)/4, d 8/2, e 16.
			{true, []float32{2, 2, 0, 2, 0}, []float32{5. / 3, 4. / 3, 6.5, 4, 16}},
		} {
			if programs[c.keep] == nil {
				f.mask, f.model.Layers = c.mask, []nmgnn.Layer{nmgnn.SGAT{Width: 2, KeepSelf: c.keep}}
				programs[c.keep] = f.program(t, b, plan)
			}
			programs[c.keep].delta = tensors.FromFlatDataAndDimensions(c.mask, len(c.mask), 1)
			var want []float32
			for _, x := range c.want {
				want = append(want, x, -x)
			}
			gnntest.InDelta(t, want, slices.Concat(programs[c.keep].step().layers[0]...), 1e-6, "kept: %t, mask %v", c.keep,
				c.mask)
		}
	})
}

func TestMaskingOthersKeepsTheOwnTerm(t *testing.T) {
	const n = 12
	var pairs [][2]int32
	for v := range int32(n) {
		pairs = append(pairs, [2]int32{v, (v + 1) % n}, [2]int32{v, (v + 5) % n})
	}
	gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, n, pairs)(nil)
		methods := map[string]func(near nmgnn.Neighbours, scores, h *Node) *Node{
			"Sum":  func(near nmgnn.Neighbours, _, h *Node) *Node { return near.Sum(h, nil) },
			"Mean": func(near nmgnn.Neighbours, _, h *Node) *Node { return near.Mean(h, nil) },
			"WeightedSum": func(near nmgnn.Neighbours, scores, h *Node) *Node {
				return near.WeightedSum(near.Sources(scores), h, nil)
			},
			"Attention": func(near nmgnn.Neighbours, scores, h *Node) *Node {
				return near.Attention(near.Sources(scores), h, nil, 0)
			},
			"PairAttention": func(near nmgnn.Neighbours, scores, h *Node) *Node {
				return near.PairAttention(scores, scores, 0.2, h, nil, nil, 0)
			},
		}
		names := slices.Sorted(maps.Keys(methods))
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, scores, h, mask *Node) (all []*Node) {
			for _, name := range names {
				of, self := methods[name], near.WithSelf()
				// Row v of the identity shows v's share of each node, on the diagonal its own.
				taken := of(self, scores, identity(h.Graph(), n))
				own := ReduceAndKeep(Mul(taken, identity(h.Graph(), n)), ReduceSum, 1)
				gone := Mul(own, Mul(h, OneMinus(mask)))
				all = append(all,
					Add(of(self, scores, nmgnn.Masked(h, mask)), gone), of(self.MaskOthers(mask), scores, h),
					of(near, scores, nmgnn.Masked(h, mask)), of(near.MaskOthers(mask), scores, h))
			}
			return all
		}, whole(n, 1, 3), whole(n, 1, 5), whole01(n))
		require.NoError(t, err)
		for i := 0; i < len(outputs); i += 2 {
			want, got := outputs[i].Value().([][]float32), outputs[i+1].Value().([][]float32)
			gnntest.InDelta(t, slices.Concat(want...), slices.Concat(got...), 1e-4, "%s, with self: %t", names[i/4], i%4 == 0)
		}
	})
}

func whole01(n int) [][]float32 {
	mask := make([][]float32, n)
	for v := range mask {
		mask[v] = []float32{1}
		if v%3 == 0 {
			mask[v][0] = 0
		}
	}
	return mask
}

func TestSGATDropsWeightsOfEachHeadsShareInTrainingAlone(t *testing.T) {
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		var pairs [][2]int32
		for v := range int32(40) {
			pairs = append(pairs, [2]int32{v, (v + 1) % 40}, [2]int32{v, (v + 9) % 40})
		}
		near := nearOf(t, store, plan, 40, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(scope *model.Scope, key, h *Node) []*Node {
			layer := nmgnn.SGAT{Width: 2, Dropout: 0.5, Heads: 2}
			return []*Node{
				layer.Forward(scope.At("layer"), near(nmgnn.NewRandom(key)), nmgnn.Dense(h), nil),
				layer.Forward(scope.At("layer"), near(nil), nmgnn.Dense(h), nil),
				layer.Forward(scope.At("layer"), near(nil), nmgnn.Dense(ZerosLike(h)), nil), // the biases
			}
		}, []uint32{3, 9}, whole(40, 2, 0)) // all entries of a column alike
		require.NoError(t, err)
		trained, tested, biases := outputs[0].Value().([][]float32), outputs[1].Value().([][]float32),
			outputs[2].Value().([][]float32)
		same := 0
		for v := range trained {
			var fifths [2]float64 // each of five weights of ⅕ is dropped or doubled
			for c := range fifths {
				require.InDelta(t, tested[0][c], tested[v][c], 1e-5, "the mean of what is alike")
				fifths[c] = 2.5 * float64((trained[v][c]-biases[v][c])/(tested[v][c]-biases[v][c]))
				require.InDelta(t, math.Round(fifths[c]), fifths[c], 1e-4)
			}
			if math.Round(fifths[0]) == math.Round(fifths[1]) {
				same++
			}
		}
		require.Less(t, same, 30, "the shares drop weights of their own")
	})
}

func whole(rows, width, seed int) [][]float32 {
	x := make([][]float32, rows)
	for v := range x {
		x[v] = make([]float32, width)
		for c := range x[v] {
			x[v][c] = float32((v*seed+c*(seed+2))%17 - 8)
		}
	}
	return x
}
