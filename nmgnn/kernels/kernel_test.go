package kernels

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawSparse draws a small sparse matrix with whole numbers for values, so that sums are exact in any order.
func drawSparse(t *rapid.T) sparse {
	s := sparse{rows: rapid.IntRange(1, 12).Draw(t, "rows"), columns: rapid.IntRange(1, 12).Draw(t, "columns"), offsets: []int64{0}}
	for range s.rows {
		for c := range s.columns {
			if rapid.IntRange(0, 2).Draw(t, "entry") == 0 {
				s.targets = append(s.targets, int32(c))
				s.values = append(s.values, float32(rapid.IntRange(-4, 4).Draw(t, "value")))
			}
		}
		s.offsets = append(s.offsets, int64(len(s.targets)))
	}
	if rapid.Bool().Draw(t, "all ones") {
		s.values = nil
	}
	return s
}

func (s sparse) value(i int64) float32 {
	if s.values == nil {
		return 1
	}
	return s.values[i]
}

// naive is S·h by its definition.
func (s sparse) naive(h [][]float32) [][]float32 {
	product := make([][]float32, s.rows)
	for r := range product {
		product[r] = make([]float32, len(h[0]))
		for i := s.offsets[r]; i < s.offsets[r+1]; i++ {
			for c := range product[r] {
				product[r][c] += s.value(i) * h[s.targets[i]][c]
			}
		}
	}
	return product
}

func TestEveryKernelMultipliesAsTheDefinitionSays(t *testing.T) {
	b, err := OpenBackend("go")
	require.NoError(t, err)
	for _, plan := range everyKernel() {
		t.Run(string(plan.Kernel), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSparse(t)
				h := make([][]float32, s.columns)
				width := rapid.IntRange(1, 4).Draw(t, "width")
				for r := range h {
					h[r] = make([]float32, width)
					for c := range h[r] {
						h[r][c] = float32(rapid.IntRange(-8, 8).Draw(t, "h"))
					}
				}
				require.Equal(t, s.naive(h), times(t, b, s, plan, h, nil))
			})
		})
	}
}

func TestTransposingTwiceGivesTheMatrixBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSparse(t)
		back := s.transpose().transpose()
		require.Equal(t, s.offsets, back.offsets)
		require.Equal(t, append([]int32{}, s.targets...), append([]int32{}, back.targets...))
		require.Equal(t, append([]float32{}, s.values...), append([]float32{}, back.values...))
	})
}

// times computes S·h with a kernel; with a key, entries are dropped at rate ½.
func times(t require.TestingT, b *Backend, s sparse, plan Plan, h [][]float32, key []uint32) [][]float32 {
	store := model.NewStore()
	p, err := newProduct(store, "/data/s", s, plan)
	require.NoError(t, err)
	values, positions := make([]float32, s.entries()), make([]int32, s.entries())
	for i := range values {
		values[i], positions[i] = s.value(int64(i)), int32(i)
		if s.positions != nil {
			positions[i] = s.positions[i]
		}
	}
	column := func(data any) *tensors.Tensor {
		if s.entries() == 0 {
			return tensors.FromFlatDataAndDimensions([]float32{0}, 1, 1)
		}
		switch data := data.(type) {
		case []float32:
			return tensors.FromFlatDataAndDimensions(perSlot(p, data, 0), p.slots(), 1)
		case []int32:
			return tensors.FromFlatDataAndDimensions(perSlot(p, data, 0), p.slots(), 1)
		}
		panic("a type that is not expected")
	}
	if key == nil {
		product, err := model.CallOnce(b.Backend, store, func(_ *model.Scope, h, values *Node) *Node {
			if s.values == nil {
				values = nil
			}
			return p.times(h, values)
		}, h, column(values))
		require.NoError(t, err)
		return product.Value().([][]float32)
	}
	product, err := model.CallOnce(b.Backend, store, func(_ *model.Scope, h, values, positions, key *Node) *Node {
		keep := NewRandom(key).stream().keep(ConvertDType(positions, dtypes.Uint32), 0.5)
		return p.times(h, Mul(values, keep))
	}, h, column(values), column(positions), key)
	require.NoError(t, err)
	return product.Value().([][]float32)
}

func TestEveryKernelDropsTheSameEntriesInBothDirections(t *testing.T) {
	// A full 8×6 matrix of ones: its dropped version D can be read off D·I, and D's transpose off Dᵀ·I.
	s := sparse{rows: 8, columns: 6, offsets: []int64{0}}
	for range s.rows {
		for c := range s.columns {
			s.targets = append(s.targets, int32(c))
		}
		s.offsets = append(s.offsets, int64(len(s.targets)))
	}
	identity := func(n int) [][]float32 {
		rows := make([][]float32, n)
		for i := range rows {
			rows[i] = make([]float32, n)
			rows[i][i] = 1
		}
		return rows
	}
	key := []uint32{17, 4}
	var first [][]float32
	forEachPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		forward := times(t, b, s, plan, identity(6), key)
		backward := times(t, b, s.transpose(), plan, identity(8), key)
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

func TestLinearHasTheValueOfTheMapAndTheGradientOfTheAdjoint(t *testing.T) {
	forEachPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		// S is 2×3: rows (1, 2, 0) and (0, 0, 3); x = (1, 10, 100)ᵀ; loss = 5·y₀ + 7·y₁.
		s := sparse{rows: 2, columns: 3, offsets: []int64{0, 2, 3}, targets: []int32{0, 1, 2}, values: []float32{1, 2, 3}}
		store := model.NewStore()
		forward, err := newProduct(store, "/data/s", s, plan)
		require.NoError(t, err)
		backward, err := newProduct(store, "/data/t", s.transpose(), plan)
		require.NoError(t, err)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, x, weights *Node) []*Node {
			g := x.Graph()
			values := Const(g, perSlot(forward, s.values, 0))
			valuesT := Const(g, perSlot(backward, s.transpose().values, 0))
			y := linear(x, 2, func(x *Node) *Node { return forward.times(x, Reshape(values, -1, 1)) },
				func(v *Node) *Node { return backward.times(v, Reshape(valuesT, -1, 1)) })
			return []*Node{y, Gradient(ReduceAllSum(Mul(y, weights)), x)[0]}
		}, [][]float32{{1}, {10}, {100}}, [][]float32{{5}, {7}})
		require.NoError(t, err)
		require.Equal(t, [][]float32{{21}, {300}}, outputs[0].Value())
		require.Equal(t, [][]float32{{5}, {10}, {21}}, outputs[1].Value(), "Sᵀ·(5, 7)")
	})
}

func TestDropoutKeepsTheExpectationAndDrawsAnewForEveryStreamAndKey(t *testing.T) {
	b, err := OpenBackend("go")
	require.NoError(t, err)
	const n = 100_000
	draw := func(key []uint32) (first, second []float32) {
		outputs, err := model.CallOnceN(b.Backend, model.NewStore(), func(_ *model.Scope, key *Node) []*Node {
			r := NewRandom(key)
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
	// Standard error of the mean: √(0.3/0.7/n) = 0.002; of a share near ½: 0.0016. Five of either are allowed.
	require.InDelta(t, 1, share(a), 0.01)
	require.InDelta(t, 0.49, both(a, c), 0.008, "streams are independent")
	require.InDelta(t, 0.49, both(a, other), 0.008, "keys are independent")
	require.InDelta(t, 0.49, both(a[1:], a[:n-1]), 0.008, "neighbouring positions are independent")
}
