package kernels_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

func shapeOf(dimensions ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dimensions...) }

func TestEveryKernelDropsTheSameEntriesInBothDirections(t *testing.T) {
	// A full 8×6 matrix of ones: D·I shows its dropped version D, Dᵀ·I the transpose.
	full := csr.Matrix{Rows: 8, Columns: 6, Offsets: []int64{0}}
	for range full.Rows {
		for c := range full.Columns {
			full.Indices = append(full.Indices, int32(c))
		}
		full.Offsets = append(full.Offsets, int64(len(full.Indices)))
	}
	var first [][]float32
	gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := model.NewStore()
		p := newProduct(t, store, full, kernels.Options{Kernel: plan.Kernel, Gradients: true})
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, key *Node) []*Node {
			g := key.Graph()
			kept := p.DropEntries(kernels.NewRandom(key, plan.Kernel).Next(), kernels.Valid(p, g), 1, 0.5)
			return []*Node{p.Times(DiagonalWithValue(Const(g, float32(1)), 6), nil, kept),
				p.Back(DiagonalWithValue(Const(g, float32(1)), 8), nil, kept)}
		}, []uint32{17, 4})
		require.NoError(t, err)
		forward, backward := outputs[0].Value().([][]float32), outputs[1].Value().([][]float32)
		dropped := 0
		for r := range forward {
			for c := range forward[r] {
				require.Equal(t, forward[r][c], backward[c][r], "entry %d, %d", r, c)
				require.Contains(t, []float32{0, 2}, forward[r][c], "kept entries are doubled at rate one half")
				if forward[r][c] == 0 {
					dropped++
				}
			}
		}
		require.InDelta(t, 24, dropped, 12)
		if first == nil {
			first = forward
		}
		require.Equal(t, first, forward, "the same on every backend and with every kernel")
	})
}

func TestDropoutKeepsTheExpectation(t *testing.T) {
	b := gnntest.Go(t)
	const n = 100_000
	draw := func(key []uint32) (first, second []float32) {
		outputs, err := model.CallOnceN(b.Backend, model.NewStore(), func(_ *model.Scope, key *Node) []*Node {
			r := kernels.NewRandom(key, kernels.ScatterKernel)
			x := Ones(key.Graph(), shapeOf(n))
			return []*Node{r.Dropout(x, 0.3), r.Dropout(x, 0.3)}
		}, key)
		require.NoError(t, err)
		return tensors.MustCopyFlatData[float32](outputs[0]), tensors.MustCopyFlatData[float32](outputs[1])
	}
	share := func(x []float32) (sum float64) {
		for _, v := range x {
			sum += float64(v)
		}
		return sum / float64(len(x))
	}
	both := func(x, y []float32) (kept float64) {
		for i := range x {
			if x[i] != 0 && y[i] != 0 {
				kept++
			}
		}
		return kept / float64(len(x))
	}
	a, c := draw([]uint32{1, 2})
	again, _ := draw([]uint32{1, 2})
	other, _ := draw([]uint32{1, 3})
	require.Equal(t, a, again)
	// Standard error of the mean: √(0.3/0.7/n) = 0.002; of a share near ½: 0.0016. Five of either pass.
	require.InDelta(t, 1, share(a), 0.01)
	require.InDelta(t, 0.49, both(a, c), 0.008, "streams are independent")
	require.InDelta(t, 0.49, both(a, other), 0.008, "keys are independent")
	require.InDelta(t, 0.49, both(a[1:], a[:n-1]), 0.008, "neighbouring positions are independent")
}

func TestDropoutIsAHashOfKeyStreamAndPosition(t *testing.T) {
	const n, width, rate = 50, 3, 0.3
	key := [2]uint32{11, 0xfffffff0}
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) {
			outputs, err := model.CallOnceN(b.Backend, model.NewStore(), func(_ *model.Scope, key *Node) []*Node {
				r := kernels.NewRandom(key, kernel)
				x := Ones(key.Graph(), shapeOf(n, width))
				first, second := r.Dropout(x, rate), r.Dropout(x, rate)
				positions := Iota(key.Graph(), shapes.Make(dtypes.Uint32, n, 1), 0)
				return []*Node{first, second, r.Next().Keep(positions, rate), r.Next().Kept(positions, rate),
					Gradient(ReduceAllSum(second), x)[0]}
			}, key[:])
			require.NoError(t, err)
			want := func(stream uint32, width int) rows { return dropped(key, stream, nil, n, width, rate) }
			kept := want(3, 1)
			for i := range kept {
				kept[i][0] *= 1 - rate
			}
			for i, want := range []rows{want(0, width), want(1, width), want(2, 1), kept, want(1, width)} {
				near(t, want, rowsOf(outputs[i]), "output")
			}
		})
	})
}

func TestWithoutAGeneratorNothingIsDropped(t *testing.T) {
	_, err := model.CallOnce(gnntest.Go(t).Backend, model.NewStore(), func(_ *model.Scope, key *Node) *Node {
		x := Ones(key.Graph(), shapeOf(2, 2))
		var none *kernels.Random
		assert.True(t, x == none.Dropout(x, 0.5)) // ending a test while a computation is built leaves it locked
		r := kernels.NewRandom(key, kernels.FusedKernel)
		assert.True(t, x == r.Dropout(x, 0))
		assert.True(t, kernels.NewRandom(key, kernels.FusedKernel).Next() == r.Next())
		return x
	}, []uint32{1, 2})
	require.NoError(t, err)
}
