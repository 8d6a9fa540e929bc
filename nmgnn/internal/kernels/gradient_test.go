package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

// argument is a function's argument and its size: per column, row or entry of the matrix, or per head.
type argument struct {
	per   per
	width int
	fixed func(r *rand.Rand) float64 // draws an argument without gradient; nil: it is normal
}

type per int

const (
	perColumn per = iota
	perRow
	perEntry
	perHead
)

const heads = 2 // of tested functions

func (p per) count(m csr.Matrix) int {
	return [...]int{perColumn: m.Columns, perRow: m.Rows, perEntry: m.NumEntries(), perHead: heads}[p]
}

// differentiable is a function of a product, as a computation and by definition.
type differentiable struct {
	name      string
	result    per
	width     int
	arguments []argument
	device    func(p kernels.Product, x []*Node) *Node
	host      func(d definition, x []rows) rows
}

func scaled(x, by rows) rows {
	y := make(rows, len(x))
	for r := range x {
		for _, v := range x[r] {
			y[r] = append(y[r], by[r][0]*v)
		}
	}
	return y
}

// at returns x[i], or the zero value if i is negative.
func at[T any](x []T, i int) (none T) {
	if i < 0 {
		return none
	}
	return x[i]
}

func differentiables() []differentiable {
	drawKey := [2]uint32{17, 4}
	const width, slope = 4, 0.25
	zeroOrOne := func(r *rand.Rand) float64 { return float64(r.IntN(2)) }
	upToTwo := func(r *rand.Rand) float64 { return float64(r.IntN(3)) }
	h, scores, present, keep := argument{perColumn, width, nil}, argument{perEntry, heads, nil}, argument{perEntry, 1,
		zeroOrOne}, argument{perEntry, heads, upToTwo}
	source, target := argument{perColumn, heads, nil}, argument{perRow, heads, nil}
	divisor := argument{perRow, 1, func(r *rand.Rand) float64 { return 1 + r.Float64() }}
	all := []differentiable{
		{"Sum", perRow, width, []argument{h},
			func(p kernels.Product, x []*Node) *Node { return kernels.Sum(p, x[0], nil, nil, true) },
			func(d definition, x []rows) rows { return d.times(x[0], nil) }},
		{"Sum of what is kept", perRow, width, []argument{h, keep},
			func(p kernels.Product, x []*Node) *Node { return kernels.Sum(p, x[0], nil, x[1], true) },
			func(d definition, x []rows) rows { return d.times(x[0], x[1]) }},
		{"Sum of what is not dropped", perRow, width, []argument{h},
			func(p kernels.Product, x []*Node) *Node {
				return p.SumDropped(x[0], kernels.NewRandom(Const(x[0].Graph(), drawKey[:]), kernels.FusedKernel).Next(), 0.25,
					true)
			},
			func(d definition, x []rows) rows { return d.times(x[0], d.dropped(drawKey, 0.25)) }},
		{"Sum of some rows", perRow, width, []argument{h, {perColumn, 1, upToTwo}},
			func(p kernels.Product, x []*Node) *Node { return kernels.Sum(p, x[0], x[1], nil, true) },
			func(d definition, x []rows) rows { return d.times(scaled(x[0], x[1]), nil) }},
		{"Mean of some rows", perRow, width, []argument{h, divisor, {perColumn, 1, upToTwo}},
			func(p kernels.Product, x []*Node) *Node { return p.Mean(x[0], x[2], x[1], nil, true) },
			func(d definition, x []rows) rows { return d.mean(scaled(x[0], x[2]), x[1], nil) }},
		{"Mean", perRow, width, []argument{h, divisor},
			func(p kernels.Product, x []*Node) *Node { return p.Mean(x[0], nil, x[1], nil, true) },
			func(d definition, x []rows) rows { return d.mean(x[0], x[1], nil) }},
		{"Mean of what is kept", perRow, width, []argument{h, divisor, present},
			func(p kernels.Product, x []*Node) *Node { return p.Mean(x[0], nil, x[1], x[2], true) },
			func(d definition, x []rows) rows { return d.mean(x[0], x[1], x[2]) }},
		{"WeightedSum", perRow, width, []argument{scores, h},
			func(p kernels.Product, x []*Node) *Node { return kernels.WeightedSum(p, x[0], x[1], true) },
			func(d definition, x []rows) rows { return d.times(x[1], x[0]) }},
		{"RowMax", perRow, heads, []argument{scores},
			func(p kernels.Product, x []*Node) *Node { return kernels.RowMax(p, x[0], nil, true) },
			func(d definition, x []rows) rows { return d.highest(x[0], nil, heads, 0) }},
		{"RowMax among some", perRow, heads, []argument{scores, present},
			func(p kernels.Product, x []*Node) *Node { return kernels.RowMax(p, x[0], x[1], true) },
			func(d definition, x []rows) rows { return d.highest(x[0], x[1], heads, 0) }},
		{"Sources", perEntry, width, []argument{h},
			func(p kernels.Product, x []*Node) *Node { return kernels.Sources(p, x[0], true) },
			func(d definition, x []rows) rows { return d.gather(x[0]) }},
		{"Targets", perEntry, heads, []argument{target},
			func(p kernels.Product, x []*Node) *Node { return kernels.Targets(p, x[0], true) },
			func(d definition, x []rows) rows { return d.spread(x[0]) }},
		{"Total", perRow, heads, []argument{scores},
			func(p kernels.Product, x []*Node) *Node { return kernels.Total(p, x[0], true) },
			func(d definition, x []rows) rows { return d.total(x[0], heads) }},
		{"RowSoftmax among some", perEntry, heads, []argument{scores, present},
			func(p kernels.Product, x []*Node) *Node { return kernels.RowSoftmax(p, x[0], x[1], true) },
			func(d definition, x []rows) rows { return d.softmax(x[0], x[1], heads) }},
		{"LeakyScores", perEntry, heads, []argument{h, {perRow, width, nil}, {perHead, width / heads, nil}},
			func(p kernels.Product, x []*Node) *Node { return p.LeakyScores(x[0], x[1], x[2], slope, true) },
			func(d definition, x []rows) rows { return headProducts(d.pairs(x[0], x[1], slope), x[2]) }},
		{"PairScores", perColumn, 2 * heads, []argument{h, {perHead, width / heads, nil}, {perHead, width / heads, nil}},
			func(p kernels.Product, x []*Node) *Node {
				y, z := p.PairScores(x[0], x[1], x[2])
				return Concatenate([]*Node{y, z}, 1)
			},
			func(d definition, x []rows) rows {
				y, z := headProducts(x[0], x[1]), headProducts(x[0], x[2])
				for v := range y {
					y[v] = append(y[v], z[v]...)
				}
				return y
			}},
	}
	for _, some := range []struct {
		name          string
		extra         []argument
		present, keep int // index among the extra ones; -1: nil
	}{{"", nil, -1, -1}, {", some present", []argument{present}, 0, -1}, {", some kept", []argument{keep}, -1, 0},
		{", some present and some kept", []argument{present, keep}, 0, 1}} {
		all = append(all,
			differentiable{"Attend by scores" + some.name, perRow, width, append([]argument{h, scores}, some.extra...),
				func(p kernels.Product, x []*Node) *Node {
					return p.Attend(kernels.Attention{Values: x[0], Scores: x[1], Present: at(x[2:], some.present),
						Keep: at(x[2:], some.keep), Gradients: true})
				},
				func(d definition, x []rows) rows {
					return d.attend(x[1], x[0], at(x[2:], some.present), at(x[2:], some.keep), heads)
				}},
			differentiable{"Attend by pairs" + some.name, perRow, width, append([]argument{h, source, target}, some.extra...),
				func(p kernels.Product, x []*Node) *Node {
					return p.Attend(kernels.Attention{Values: x[0], Source: x[1], Target: x[2], Slope: slope, Present: at(x[3:],
						some.present), Keep: at(x[3:], some.keep), Gradients: true})
				},
				func(d definition, x []rows) rows {
					return d.attend(d.pairs(x[1], x[2], slope), x[0], at(x[3:], some.present), at(x[3:], some.keep), heads)
				}})
	}
	// Node masking: zero rows are not read and get no gradient.
	masked := argument{perColumn, 1, upToTwo}
	return append(all,
		differentiable{"Attend by scores to some rows", perRow, width, []argument{h, scores, masked},
			func(p kernels.Product, x []*Node) *Node {
				return p.Attend(kernels.Attention{Values: x[0], Mask: x[2], Scores: x[1], Gradients: true})
			},
			func(d definition, x []rows) rows { return d.attend(x[1], scaled(x[0], x[2]), nil, nil, heads) }},
		differentiable{"Attend by pairs to some rows, some kept", perRow, width, []argument{h, source, target, masked, keep},
			func(p kernels.Product, x []*Node) *Node {
				return p.Attend(kernels.Attention{Values: x[0], Mask: x[3], Source: x[1], Target: x[2], Slope: slope, Keep: x[4],
					Gradients: true})
			},
			func(d definition, x []rows) rows {
				return d.attend(d.pairs(x[1], x[2], slope), scaled(x[0], x[3]), nil, x[4], heads)
			}})
}

// expected is a function's value, the factors of a loss Σ factor·value, and the loss's gradients by finite differences.
type expected struct {
	inputs         []rows
	value, factors rows
	gradients      []rows // nil for fixed arguments
}

func expect(m csr.Matrix, f differentiable, r *rand.Rand) expected {
	d, e := definition{m}, expected{factors: normal(r, f.result.count(m), f.width)}
	for _, a := range f.arguments {
		x := normal(r, a.per.count(m), a.width)
		for i := range x {
			for k := range x[i] {
				if a.fixed != nil {
					x[i][k] = a.fixed(r)
				}
			}
		}
		e.inputs = append(e.inputs, x)
	}
	e.value = f.host(d, e.inputs)
	loss := func() (sum float64) {
		for i, row := range f.host(d, e.inputs) {
			for k, y := range row {
				sum += e.factors[i][k] * y
			}
		}
		return sum
	}
	const step = 1e-6
	for at, a := range f.arguments {
		if a.fixed != nil {
			e.gradients = append(e.gradients, nil)
			continue
		}
		x := e.inputs[at]
		gradient := zeros(len(x), a.width)
		for i := range x {
			for k, was := range x[i] {
				x[i][k] = was + step
				above := loss()
				x[i][k] = was - step
				gradient[i][k] = (above - loss()) / (2 * step)
				x[i][k] = was
			}
		}
		e.gradients = append(e.gradients, gradient)
	}
	return e
}

func TestGradientsAreThoseOfFiniteDifferences(t *testing.T) {
	functions := differentiables()
	r := rand.New(rand.NewPCG(8, 9))
	for _, c := range []struct {
		name   string
		matrix csr.Matrix
		o      kernels.Options
		onXLA  bool
	}{
		{"uneven", uneven(r), kernels.Options{Gradients: true}, true},
		{"symmetric", bothWays(fromRows(7, []int32{1, 3}, []int32{1}, []int32{3, 6}, nil, []int32{2})),
			kernels.Options{Symmetric: true, Gradients: true}, false},
		{"no entries", fromRows(3, nil, nil), kernels.Options{Gradients: true}, false},
	} {
		var want []expected
		for _, f := range functions {
			want = append(want, expect(c.matrix, f, r))
		}
		t.Run(c.name, func(t *testing.T) {
			t.Run("go", func(t *testing.T) {
				b := gnntest.Go(t)
				forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) {
					o := c.o
					o.Kernel = kernel
					checkGradients(t, b, c.matrix, o, functions, want)
				})
			})
			if c.onXLA {
				t.Run("xla:cpu", func(t *testing.T) {
					o := c.o
					o.Kernel = kernels.FusedKernel
					checkGradients(t, gnntest.XLA(t), c.matrix, o, functions, want)
				})
			}
		})
	}
}

// checkGradients compares values and gradients with expected ones. Padding is zero in fixed arguments, else a number
// that would be noticed.
func checkGradients(t *testing.T, b *backend.Backend, m csr.Matrix, o kernels.Options, functions []differentiable,
	want []expected) {
	store := model.NewStore()
	defer store.Finalize()
	p := newProduct(t, store, m, o)
	place := places(t, p)
	inSlots := func(x rows, of per, width int, padding float64) *tensors.Tensor {
		if of == perEntry {
			x = slotted(place, x, width, padding)
		}
		return tensor(x, width)
	}
	for i, f := range functions {
		t.Run(f.name, func(t *testing.T) {
			var inputs []any
			inputs = append(inputs, inSlots(want[i].factors, f.result, f.width, 1000))
			for at, a := range f.arguments {
				padding := 1000.0
				if a.fixed != nil {
					padding = 0
				}
				inputs = append(inputs, inSlots(want[i].inputs[at], a.per, a.width, padding))
			}
			outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, x []*Node) []*Node {
				y := f.device(p, x[1:])
				var towards []*Node
				for at, a := range f.arguments {
					if a.fixed == nil {
						towards = append(towards, x[1+at])
					}
				}
				return append([]*Node{y}, Gradient(ReduceAllSum(Mul(x[0], y)), towards...)...)
			}, inputs...)
			require.NoError(t, err)
			fromSlots := func(output *tensors.Tensor, of per) rows {
				x := rowsOf(output)
				if of == perEntry {
					return unslotted(place, x, m.NumEntries())
				}
				return x
			}
			near(t, want[i].value, fromSlots(outputs[0], f.result), "value")
			next := 1
			for at, a := range f.arguments {
				if a.fixed == nil {
					near(t, want[i].gradients[at], fromSlots(outputs[next], a.per), fmt.Sprintf("gradient towards argument %d", at))
					next++
				}
			}
		})
	}
}

func TestEntriesThatAreEquallyGreatShareTheGradient(t *testing.T) {
	forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) {
		store := model.NewStore()
		p := newProduct(t, store, fromRows(3, []int32{0, 1, 2}, nil, []int32{1}), kernels.Options{Kernel: kernel,
			Gradients: true})
		place := places(t, p)
		outputs, err := model.CallOnceN(gnntest.Go(t).Backend, store, func(_ *model.Scope, e, factors *Node) []*Node {
			y := kernels.RowMax(p, e, nil, true)
			return []*Node{y, Gradient(ReduceAllSum(Mul(y, factors)), e)[0]}
		}, tensor(slotted(place, rows{{5}, {5}, {4}, {-2}}, 1, 9), 1), [][]float32{{8}, {100}, {3}})
		require.NoError(t, err)
		require.Equal(t, [][]float32{{5}, {0}, {-2}}, outputs[0].Value(), "zero without entries")
		require.Equal(t, rows{{4}, {4}, {0}, {3}}, unslotted(place, rowsOf(outputs[1]), 4))
	})
}

func TestWithoutGradientsNoMatrixIsTransposed(t *testing.T) {
	forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) {
		for _, use := range []func(p kernels.Product, x *Node) *Node{
			func(p kernels.Product, x *Node) *Node { return p.Back(x, nil, nil) },
			func(p kernels.Product, x *Node) *Node { return p.TotalBack(x) },
			func(p kernels.Product, x *Node) *Node {
				return Gradient(ReduceAllSum(kernels.Sum(p, x, nil, nil, true)), x)[0]
			},
		} {
			call := func(o kernels.Options) error {
				store := model.NewStore()
				p := newProduct(t, store, fromRows(2, []int32{1}, []int32{0}), o)
				_, err := model.CallOnce(gnntest.Go(t).Backend, store, func(_ *model.Scope, x *Node) *Node { return use(p, x) },
					tensors.FromShape(shapeOf(p.Slots(), 1)))
				return err
			}
			require.ErrorContains(t, call(kernels.Options{Kernel: kernel}), "made without gradients has no transposed matrix")
			require.NoError(t, call(kernels.Options{Kernel: kernel, Gradients: true}))
			require.NoError(t, call(kernels.Options{Kernel: kernel, Symmetric: true}), "it is its own")
		}
	})
}

func TestLinearHasTheMapAndItsAdjoint(t *testing.T) {
	gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		// S is 2×3: rows (1, 2, 0) and (0, 0, 3); x = (1, 10, 100)ᵀ; loss = 5·y₀ + 7·y₁.
		m := csr.Matrix{Rows: 2, Columns: 3, Offsets: []int64{0, 2, 3}, Indices: []int32{0, 1, 2}, Values: []float32{1, 2, 3}}
		store := model.NewStore()
		p := newProduct(t, store, m, kernels.Options{Kernel: plan.Kernel, Gradients: true})
		values := p.Floats("values", func(m csr.Matrix) []float32 { return m.Values })
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, x, factors *Node) []*Node {
			weights := values.NodeValue(x.Graph())
			y := kernels.Linear(x, 2, func(x *Node) *Node { return p.Times(x, nil, weights) },
				func(v *Node) *Node { return p.Back(v, nil, weights) })
			return []*Node{y, Gradient(ReduceAllSum(Mul(y, factors)), x)[0]}
		}, [][]float32{{1}, {10}, {100}}, [][]float32{{5}, {7}})
		require.NoError(t, err)
		require.Equal(t, [][]float32{{21}, {300}}, outputs[0].Value())
		require.Equal(t, [][]float32{{5}, {10}, {21}}, outputs[1].Value(), "Sᵀ·(5, 7)")
	})
}

func TestALinearMapThatGivesOtherRowsIsAnError(t *testing.T) {
	same := func(x *Node) *Node { return x }
	_, err := model.CallOnce(gnntest.Go(t).Backend, model.NewStore(), func(_ *model.Scope, x *Node) *Node {
		return kernels.Linear(x, 3, same, same)
	}, [][]float32{{1}, {2}})
	require.ErrorContains(t, err, "expected 3 rows")
}

func TestELUIsExpMinusOneBelowZero(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		// Rank 1 takes GoMLX's operations, rank 2 a fused loop.
		for _, x := range []any{[]float32{-1, 0, 2, -100}, [][]float32{{-1, 0, 2, -100}}} {
			outputs, err := model.CallOnceN(b.Backend, model.NewStore(), func(_ *model.Scope, x *Node) []*Node {
				y := kernels.ELU(x)
				return []*Node{y, Gradient(ReduceAllSum(MulScalar(y, 3)), x)[0]}
			}, x)
			require.NoError(t, err)
			require.InDeltaSlice(t, []float32{-0.63212056, 0, 2, -1}, tensors.MustCopyFlatData[float32](outputs[0]), 1e-6)
			require.InDeltaSlice(t, []float32{3 * 0.36787944, 3, 3, 0}, tensors.MustCopyFlatData[float32](outputs[1]), 1e-6)
		}
	})
}

func TestScoreGradientsAreZeroInPadding(t *testing.T) {
	const room, heads = 64, 2
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		store := model.NewStore()
		defer store.Finalize()
		m := fromRows(3, []int32{0, 2}, nil, []int32{1})
		p := newProduct(t, store, m, kernels.Options{Kernel: kernels.FusedKernel, Gradients: true, Slots: room})
		place := places(t, p)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, h, e *Node) []*Node {
			// Reused memory is not zero.
			soiled := ReduceAllSum(Exp(AddScalar(e, 1)))
			h = Add(h, MulScalar(StopGradient(soiled), 1e-9))
			y := p.Attend(kernels.Attention{Values: h, Scores: e, Gradients: true})
			return Gradient(ReduceAllSum(Mul(y, y)), e, h)
		}, tensor(whole(rand.New(rand.NewPCG(1, 2)), 3, 4), 4), tensor(zeros(room, heads), heads))
		require.NoError(t, err)
		for slot, gradient := range rowsOf(outputs[0]) {
			if place[slot] < 0 {
				require.Equal(t, []float64{0, 0}, gradient, "slot %d", slot)
			}
		}
	})
}

func TestACompleteComputationIsNotLean(t *testing.T) {
	var lean []bool
	_, err := model.CallOnce(gnntest.XLA(t).Backend, model.NewStore(), func(_ *model.Scope, x *Node) *Node {
		kernels.Lean(x.Graph(), true)
		lean = append(lean, kernels.IsLean(x.Graph()))
		kernels.Complete(x.Graph())
		kernels.Lean(x.Graph(), true)
		lean = append(lean, kernels.IsLean(x.Graph()))
		return x
	}, float32(1))
	require.NoError(t, err)
	require.Equal(t, []bool{true, false}, lean)
}
