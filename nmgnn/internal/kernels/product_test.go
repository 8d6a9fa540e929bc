package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

func TestEveryKernelComputesWhatTheDefinitionsSay(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) {
			checkMethods(t, b, uneven(rand.New(rand.NewPCG(1, 1))), kernels.Options{Kernel: kernel, Gradients: true}, 2, 6, 1)
			if b.ID != "go" {
				return // XLA compiles for each matrix
			}
			checkDrawn(t, b, kernel, [][2]int{{1, 1}, {1, 3}, {2, 2}, {2, 6}, {4, 4}, {1, 8}})
		})
		t.Run("no entries", func(t *testing.T) {
			checkMethods(t, b, fromRows(2, nil, nil, nil), kernels.Options{Kernel: kernels.FusedKernel, Gradients: true}, 2, 6,
				1)
		})
	})
}

func checkDrawn(t *testing.T, b *backend.Backend, kernel kernels.Kernel, shapes [][2]int) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatrix(t)
		symmetric := rapid.Bool().Draw(t, "symmetric")
		if symmetric {
			m = bothWays(m)
		}
		shape := rapid.SampledFrom(shapes).Draw(t, "heads and width")
		checkMethods(t, b, m, kernels.Options{Kernel: kernel, Symmetric: symmetric, Gradients: true}, shape[0], shape[1],
			rapid.Uint64().Draw(t, "seed"))
	})
}

// bothWays returns the symmetric pattern of m and its transpose.
func bothWays(m csr.Matrix) csr.Matrix {
	n := max(m.Rows, m.Columns)
	inRow := make([][]int32, n)
	for i, r := range m.RowIndices() {
		inRow[r] = append(inRow[r], m.Indices[i])
		inRow[m.Indices[i]] = append(inRow[m.Indices[i]], r)
	}
	for r := range inRow {
		slices.Sort(inRow[r])
		inRow[r] = slices.Compact(inRow[r])
	}
	return fromRows(n, inRow...)
}

// checkMethods compares every method of a product with its definition. Padding is zero where required, else a number
// that would be noticed.
func checkMethods(t require.TestingT, b *backend.Backend, m csr.Matrix, o kernels.Options, heads, width int,
	seed uint64) {
	const far, slope = 1000, 0.25
	r, d, n := rand.New(rand.NewPCG(seed, 0)), definition{m}, m.NumEntries()
	store := model.NewStore()
	defer store.Finalize()
	p := newProduct(t, store, m, o)
	require.Equal(t, m.Rows, p.Rows())
	place := places(t, p)
	require.Len(t, place, p.Slots())

	h, x, wide := whole(r, m.Columns, width), whole(r, m.Rows, width), whole(r, n, width)
	weights, scores := whole(r, n, heads), normal(r, n, heads)
	source, target := normal(r, m.Columns, heads), normal(r, m.Rows, heads)
	a1, a2 := whole(r, heads, width/heads), whole(r, heads, width/heads)
	divisor, present, keep := zeros(m.Rows, 1), zeros(n, 1), zeros(n, 1)
	for i := range divisor {
		divisor[i][0] = float64(1 + r.IntN(9))
	}
	for i := range present {
		present[i][0], keep[i][0] = float64(r.IntN(2)), float64(r.IntN(3))
	}
	key, rate := [2]uint32{r.Uint32(), r.Uint32()}, 0.4

	type expectation struct {
		what     string
		want     rows
		perEntry bool
		exact    bool
	}
	var wanted []expectation
	exec, err := model.NewExec(b.Backend, store, func(_ *model.Scope, in []*Node) (got []*Node) {
		wanted = nil
		add := func(what string, y *Node, want rows, perEntry, exact bool) {
			got, wanted = append(got, y), append(wanted, expectation{what, want, perEntry, exact})
		}
		hN, xN, zeroed, lowered, weightsN, scoresN, sourceN, targetN, a1N, a2N, divisorN, presentN, keepN, keepAll,
			keyN := in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8], in[9], in[10], in[11], in[12], in[13], in[14]
		add("Times", p.Times(hN, nil, nil), d.times(h, nil), false, true)
		add("Times, weighed by heads", p.Times(hN, nil, weightsN), d.times(h, weights), false, true)
		add("Times, as many heads as columns", p.Times(hN, nil, zeroed), d.times(h, wide), false, true)
		add("Back", p.Back(xN, nil, nil), d.back(x, nil), false, true)
		add("Back, weighed by heads", p.Back(xN, nil, weightsN), d.back(x, weights), false, true)
		add("Back, as many heads as columns", p.Back(xN, nil, zeroed), d.back(x, wide), false, true)
		add("Gather", p.Gather(hN), d.gather(h), true, true)
		add("Spread", p.Spread(xN), d.spread(x), true, true)
		add("Total", p.Total(zeroed), d.total(wide, width), false, true)
		add("TotalBack", p.TotalBack(zeroed), d.totalBack(wide, width), false, true)
		add("Highest", p.Highest(lowered), d.highest(wide, nil, width, float64(float32(kernels.Lowest))), false, true)
		add("Agreement", p.Agreement(xN, hN, heads), d.agreement(x, h, heads), true, true)
		for _, gradients := range []bool{false, true} {
			add("Mean", p.Mean(hN, nil, divisorN, nil, gradients), d.mean(h, divisor, nil), false, false)
			add("Mean of what is kept", p.Mean(hN, nil, divisorN, keepN, gradients), d.mean(h, divisor, keep), false, false)
			for i, attention := range []struct {
				what string
				kernels.Attention
				present, keep rows
			}{
				{"Attend", kernels.Attention{}, nil, nil},
				{"Attend, some present", kernels.Attention{Present: presentN}, present, nil},
				{"Attend, some kept", kernels.Attention{Keep: keepAll}, nil, weights},
				{"Attend, some present, some kept", kernels.Attention{Present: presentN, Keep: keepAll}, present, weights},
			} {
				if gradients && i != 0 {
					continue // tested separately
				}
				a := attention.Attention
				a.Values, a.Gradients, a.Scores = hN, gradients, scoresN
				add(attention.what+" by scores", p.Attend(a), d.attend(scores, h, attention.present, attention.keep, heads), false,
					false)
				a.Scores, a.Source, a.Target, a.Slope = nil, sourceN, targetN, slope
				add(attention.what+" by pairs", p.Attend(a), d.attend(d.pairs(source, target, slope), h, attention.present,
					attention.keep, heads), false, false)
			}
		}
		first, second := p.PairScores(hN, a1N, a2N)
		add("PairScores", first, headProducts(h, a1), false, true)
		add("PairScores", second, headProducts(h, a2), false, true)
		add("LeakyScores", p.LeakyScores(hN, xN, a1N, slope, false), headProducts(d.pairs(h, x, slope), a1), true, true)
		random := kernels.NewRandom(keyN, o.Kernel)
		add("DropEntries of ones", p.DropEntries(random.Next(), nil, heads, rate), dropped(key, 0, nil, n, heads, rate), true,
			false)
		add("DropEntries, another stream", p.DropEntries(random.Next(), weightsN, heads, rate), dropped(key, 1, weights, n,
			heads, rate), true, false)
		return got
	})
	require.NoError(t, err)
	defer exec.Finalize()
	inputs := []any{tensor(h, width), tensor(x, width), tensor(slotted(place, wide, width, 0), width),
		tensor(slotted(place, wide, width, kernels.Lowest), width),
		tensor(slotted(place, weights, heads, 0), heads), tensor(slotted(place, scores, heads, far), heads),
		tensor(source, heads), tensor(target, heads),
		tensor(a1, width/heads), tensor(a2, width/heads), tensor(divisor, 1), tensor(slotted(place, present, 1, 0), 1),
		tensor(slotted(place, keep, 1, 0), 1),
		tensor(slotted(place, weights, heads, far), heads), key[:]}
	outputs, err := exec.Call(inputs...)
	require.NoError(t, err)
	for i, e := range wanted {
		got := rowsOf(outputs[i])
		if e.perEntry {
			got = unslotted(place, got, n)
		}
		if e.exact {
			require.Equal(t, append(rows{}, e.want...), append(rows{}, got...), e.what)
		} else {
			near(t, e.want, got, e.what)
		}
		outputs[i].MustFinalizeAll()
	}
}

// near allows for float32 rounding.
func near(t require.TestingT, want, got rows, what string) {
	require.Len(t, got, len(want), what)
	for i := range want {
		for k, x := range want[i] {
			if difference := got[i][k] - x; !(max(difference, -difference) <= 3e-5*max(1, x, -x)) {
				require.Equal(t, x, got[i][k], "%s: row %d, column %d", what, i, k)
			}
		}
	}
}

func TestAttentionMayBeTheLastThingComputed(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) {
			store := model.NewStore()
			p := newProduct(t, store, fromRows(2, []int32{0, 1}, []int32{1}), kernels.Options{Kernel: kernel})
			y, err := model.CallOnce(b.Backend, store, func(_ *model.Scope, h, source, target *Node) *Node {
				return p.Attend(kernels.Attention{Source: source, Target: target, Values: h})
			}, [][]float32{{1}, {3}}, [][]float32{{2}, {2}}, [][]float32{{0}, {0}})
			require.NoError(t, err)
			require.Equal(t, [][]float32{{2}, {3}}, y.Value())
			gradient, err := model.CallOnce(b.Backend, store, func(_ *model.Scope, h, a *Node) *Node {
				y, z := p.PairScores(h, a, a)
				return Gradient(ReduceAllSum(Add(y, MulScalar(z, 2))), h)[0]
			}, [][]float32{{1}, {3}}, [][]float32{{5}})
			require.NoError(t, err)
			require.Equal(t, [][]float32{{15}, {15}}, gradient.Value())
		})
	})
}

func TestAMatrixThatLeavesItsBoundsIsRefused(t *testing.T) {
	good := csr.Matrix{Rows: 2, Columns: 3, Offsets: []int64{0, 2, 3}, Indices: []int32{0, 2, 1}}
	forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) {
		for want, change := range map[string]func(m *csr.Matrix){
			"entry 1 is in column 3: expected 0 to 2":                  func(m *csr.Matrix) { m.Indices[1] = 3 },
			"entry 2 is in column -1: expected 0 to 2":                 func(m *csr.Matrix) { m.Indices[2] = -1 },
			"2 offsets for 2 rows and 3 entries: expected one more":    func(m *csr.Matrix) { m.Offsets = []int64{0, 3} },
			"0 offsets for 2 rows and 3 entries: expected one more":    func(m *csr.Matrix) { m.Offsets = nil },
			"0 offsets for -1 rows and 3 entries: expected one more":   func(m *csr.Matrix) { m.Rows, m.Offsets = -1, nil },
			"3 offsets for 2 rows and 3 entries: expected one more":    func(m *csr.Matrix) { m.Offsets[2] = 2 },
			"3 offsets for 2 rows and 2 entries: expected one more":    func(m *csr.Matrix) { m.Indices = m.Indices[:2] },
			"row 0 runs from entry 0 to -5: expected ascending offset": func(m *csr.Matrix) { m.Offsets[1] = -5 },
			"row 1 runs from entry 9 to 3: expected ascending offsets": func(m *csr.Matrix) { m.Offsets[1] = 9 },
			"from 0 to the number of entries":                          func(m *csr.Matrix) { m.Offsets[0] = 1 },
		} {
			m := good
			m.Offsets, m.Indices = slices.Clone(m.Offsets), slices.Clone(m.Indices)
			_, err := kernels.New(model.NewStore(), "/data/m", m, kernels.Options{Kernel: kernel})
			require.NoError(t, err)
			change(&m)
			_, err = kernels.New(model.NewStore(), "/data/m", m, kernels.Options{Kernel: kernel})
			require.ErrorContains(t, err, want)
		}
	})
	_, err := kernels.New(model.NewStore(), "/data/m", good, kernels.Options{Kernel: "abacus"})
	require.ErrorContains(t, err, `no kernel "abacus"`)
}

func TestAReplacedProductComputesWhatAFreshOneDoes(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) {
			first, second := fromRows(4, []int32{0, 1, 3}, nil, []int32{2}), fromRows(4, []int32{1}, []int32{0, 2}, []int32{3})
			store := model.NewStore()
			p := newProduct(t, store, first, kernels.Options{Kernel: kernel})
			exec, err := model.NewExec(b.Backend, store, func(_ *model.Scope, h, x, e *Node) []*Node {
				names := p.Floats("names", name).NodeValue(h.Graph())
				return []*Node{p.Times(h, nil, nil), p.Times(h, nil, e), p.Gather(h), p.Spread(x), p.Total(e), p.Highest(e),
					p.Agreement(x, h, 1),
					p.Attend(kernels.Attention{Scores: e, Values: h}), names}
			})
			require.NoError(t, err)
			defer exec.Finalize()
			r := rand.New(rand.NewPCG(1, 2))
			h, x, e := whole(r, 4, 3), whole(r, 3, 3), whole(r, 4, 1)
			compute := func(exec *model.Exec) (all []any) {
				outputs, err := exec.Call(tensor(h, 3), tensor(x, 3), tensor(e, 1))
				require.NoError(t, err)
				for _, o := range outputs {
					all = append(all, o.Value())
				}
				return all
			}
			before := compute(exec)
			require.Equal(t, rowsAs32(definition{first}.times(h, nil)), before[0])
			require.NoError(t, p.Replace(second, true))
			after := compute(exec)
			d := definition{second}
			for i, want := range []rows{d.times(h, nil), d.times(h, e), d.gather(h), d.spread(x), d.total(e, 1),
				d.highest(e, nil, 1, kernels.Lowest), d.agreement(x, h, 1)} {
				require.Equal(t, rowsAs32(want), after[i], "output %d", i)
			}
			near(t, d.attend(e, h, nil, nil, 1), rowsFrom(after[7]), "attention")
			require.Equal(t, [][]float32{{1}, {10}, {12}, {23}}, after[8],
				"what was made of the first matrix is made of the second")

			require.ErrorContains(t, p.Replace(fromRows(4, []int32{1}, []int32{0, 2}, []int32{4}), true),
				"entry 3 is in column 4")
			for _, other := range []csr.Matrix{fromRows(4, []int32{1}), fromRows(4, []int32{1, 2, 3, 0}),
				fromRows(5, []int32{1}, []int32{0, 2}, []int32{3})} {
				require.ErrorIs(t, p.Replace(other, true), kernels.ErrNoFit)
			}
			require.Equal(t, after, compute(exec), "a matrix that is refused changes nothing")
		})
	})
}

// name numbers each entry by its row and column.
func name(m csr.Matrix) []float32 {
	values := make([]float32, m.NumEntries())
	for i, r := range m.RowIndices() {
		values[i] = float32(10*r + m.Indices[i])
	}
	return values
}

func TestAnEmptyProductIsNotReplacedByOneWithEntries(t *testing.T) {
	m := fromRows(2, []int32{0}, []int32{1})
	none := fromRows(2, nil, nil)
	require.ErrorIs(t, newProduct(t, model.NewStore(), none, kernels.Options{Kernel: kernels.ScatterKernel}).Replace(m,
		true), kernels.ErrNoFit)
}

func TestRoomForEntriesChangesNoProductOrGradient(t *testing.T) {
	first, second := fromRows(4, []int32{0, 1, 3}, nil, []int32{2}, []int32{1}), fromRows(4, []int32{1}, []int32{0, 2},
		[]int32{0, 1, 3}, nil)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		compute := func(room int, before ...csr.Matrix) (all []any) {
			m, store := second, model.NewStore()
			if len(before) > 0 {
				m = before[0]
			}
			p := newProduct(t, store, m, kernels.Options{Kernel: kernels.FusedKernel, Gradients: true, Slots: room})
			exec, err := model.NewExec(b.Backend, store, func(_ *model.Scope, h, a, key *Node) []*Node {
				weights := DivScalar(p.Floats("weights", name).NodeValue(h.Graph()), 7)
				random := kernels.NewRandom(key, kernels.FusedKernel)
				heads := kernels.HeadProducts(h, a)
				outputs := []*Node{
					kernels.Sum(p, h, nil, nil, true), kernels.Sum(p, h, nil, p.DropEntries(random.Next(), weights, 1, 0.5), true),
					kernels.RowMax(p, kernels.Sources(p, h, true), nil, true),
					p.Attend(kernels.Attention{Source: heads, Target: heads, Slope: 0.2, Values: h, Keep: p.DropEntries(random.Next(),
						nil, 2, 0.3), Gradients: true}),
					p.Mean(h, nil, AddScalar(p.Total(kernels.Valid(p, h.Graph())), 1), nil, true), p.SumDropped(h, random.Next(), 0.4,
						true),
				}
				loss := ScalarZero(h.Graph(), h.DType())
				for _, y := range outputs {
					loss = Add(loss, ReduceAllSum(Mul(y, y)))
				}
				return append(outputs, Gradient(loss, h, a)...)
			})
			require.NoError(t, err)
			defer exec.Finalize()
			r := rand.New(rand.NewPCG(1, 2))
			h, a := tensor(whole(r, 4, 4), 4), tensor(whole(r, 2, 2), 2)
			call := func() {
				outputs, err := exec.Call(h, a, []uint32{1, 2})
				require.NoError(t, err)
				all = nil
				for _, o := range outputs {
					all = append(all, o.Value())
				}
			}
			call()
			if len(before) > 0 {
				require.NoError(t, p.Replace(second, true))
				call()
				require.ErrorIs(t, p.Replace(fromRows(4, []int32{0, 1, 2, 3}, []int32{0, 1, 2, 3}, []int32{0, 1}, nil), true),
					kernels.ErrNoFit)
				after := all
				call()
				require.Equal(t, after, all, "a matrix that is refused changes nothing")
			}
			return all
		}
		want := compute(0)
		require.Equal(t, want, compute(9))
		require.Equal(t, want, compute(9, first))
		require.Equal(t, want, compute(9, fromRows(4, nil, nil, nil, nil)), "from no entries at all")
	})
}

func rowsAs32(x rows) [][]float32 {
	y := make([][]float32, len(x))
	for i := range x {
		for _, value := range x[i] {
			y[i] = append(y[i], float32(value))
		}
	}
	return y
}

func rowsFrom(x any) rows { return rowsOf(tensors.FromValue(x.([][]float32))) }

// onATriangle sums over a triangle's nodes, of x with factors 2, 0 and 1.
func onATriangle(t *testing.T, b *backend.Backend, f func(p kernels.Product, x, factors *Node) *Node,
	x [][]float32) any {
	store := model.NewStore()
	defer store.Finalize()
	p := newProduct(t, store, fromRows(3, []int32{1, 2}, []int32{0, 2}, []int32{0, 1}),
		kernels.Options{Kernel: kernels.FusedKernel, Symmetric: true, Gradients: true})
	y, err := model.CallOnce(b.Backend, store, func(_ *model.Scope, x, factors *Node) *Node { return f(p, x, factors) },
		x, [][]float32{{2}, {0}, {1}})
	require.NoError(t, err)
	return y.Value()
}

func TestRowsThatAMaskMakesZeroAreNotRead(t *testing.T) {
	infinite := float32(math.Inf(1)) // times 0 is NaN, if read
	require.Equal(t, [][]float32{{3, 30}, {5, 50}, {2, 20}}, onATriangle(t, gnntest.XLA(t),
		func(p kernels.Product, x, mask *Node) *Node { return kernels.Sum(p, x, mask, nil, true) },
		[][]float32{{1, 10}, {infinite, infinite}, {3, 30}}))
}

func TestALearnedFactorOfRowsHasItsGradientWhereItIsZero(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		// With g = (2, 0, 1) on x = 1, 2, 3 the sums are 3, 5 and 2; row 1 would add 3 and 2.
		require.Equal(t, [][]float32{{2 * (5 + 2)}, {2 * 2 * (3 + 2)}, {2 * 3 * (3 + 5)}}, onATriangle(t, b,
			func(p kernels.Product, x, gate *Node) *Node {
				sum := kernels.Sum(p, Mul(x, gate), nil, nil, true)
				return Gradient(ReduceAllSum(Mul(sum, sum)), gate)[0]
			}, [][]float32{{1, 0}, {2, 0}, {3, 0}}))
	})
}
