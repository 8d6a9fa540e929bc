package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
	"nodemask/nmgnn/internal/kernels"
)

type rows = [][]float64

// definition computes a product's methods as [kernels.Product] documents them, with entries' data in the matrix's
// order.
type definition struct{ csr.Matrix }

func zeros(n, width int) rows {
	x := make(rows, n)
	for i := range x {
		x[i] = make([]float64, width)
	}
	return x
}

func (d definition) each(f func(i, row, column int)) {
	for i, r := range d.RowIndices() {
		f(i, int(r), int(d.Indices[i]))
	}
}

// Each head has its share of the columns, in order.
func weight(weights rows, i, k, width int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i][k/(width/len(weights[i]))]
}

func (d definition) times(h, weights rows) rows {
	y := zeros(d.Rows, len(h[0]))
	d.each(func(i, r, c int) {
		for k := range y[r] {
			y[r][k] += weight(weights, i, k, len(y[r])) * h[c][k]
		}
	})
	return y
}

func (d definition) back(v, weights rows) rows {
	y := zeros(d.Columns, len(v[0]))
	d.each(func(i, r, c int) {
		for k := range y[c] {
			y[c][k] += weight(weights, i, k, len(y[c])) * v[r][k]
		}
	})
	return y
}

func (d definition) gather(h rows) rows {
	y := rows{}
	d.each(func(_, _, c int) { y = append(y, h[c]) })
	return y
}

func (d definition) spread(x rows) rows {
	y := rows{}
	d.each(func(_, r, _ int) { y = append(y, x[r]) })
	return y
}

func (d definition) total(e rows, width int) rows {
	y := zeros(d.Rows, width)
	d.each(func(i, r, _ int) {
		for k := range width {
			y[r][k] += e[i][k]
		}
	})
	return y
}

func (d definition) totalBack(e rows, width int) rows {
	y := zeros(d.Columns, width)
	d.each(func(i, _, c int) {
		for k := range width {
			y[c][k] += e[i][k]
		}
	})
	return y
}

// highest returns empty for rows without present entries.
func (d definition) highest(e, present rows, width int, empty float64) rows {
	y := zeros(d.Rows, width)
	for r := range y {
		for k := range y[r] {
			y[r][k] = math.Inf(-1)
		}
	}
	d.each(func(i, r, _ int) {
		for k := range width {
			if weight(present, i, 0, 1) > 0 {
				y[r][k] = max(y[r][k], e[i][k])
			}
		}
	})
	for r := range y {
		for k := range y[r] {
			if math.IsInf(y[r][k], -1) {
				y[r][k] = empty
			}
		}
	}
	return y
}

func (d definition) agreement(x, h rows, heads int) rows {
	y := zeros(d.NumEntries(), heads)
	d.each(func(i, r, c int) {
		for k := range x[r] {
			y[i][k/(len(x[r])/heads)] += x[r][k] * h[c][k]
		}
	})
	return y
}

func (d definition) mean(h, divisor, keep rows) rows {
	y := d.times(h, keep)
	for r := range y {
		for k := range y[r] {
			y[r][k] /= divisor[r][0]
		}
	}
	return y
}

func (d definition) pairs(source, target rows, slope float64) rows {
	e := zeros(d.NumEntries(), len(source[0]))
	d.each(func(i, r, c int) {
		for k := range e[i] {
			if e[i][k] = source[c][k] + target[r][k]; e[i][k] < 0 {
				e[i][k] *= slope
			}
		}
	})
	return e
}

func (d definition) softmax(e, present rows, heads int) rows {
	q := zeros(d.NumEntries(), heads)
	d.each(func(i, _, _ int) {
		for k := range q[i] {
			if weight(present, i, 0, 1) > 0 {
				q[i][k] = math.Exp(e[i][k])
			}
		}
	})
	sum := d.total(q, heads)
	d.each(func(i, r, _ int) {
		for k := range q[i] {
			if q[i][k] > 0 {
				q[i][k] /= sum[r][k]
			}
		}
	})
	return q
}

func (d definition) attend(e, values, present, keep rows, heads int) rows {
	alpha := d.softmax(e, present, heads)
	for i := range alpha {
		for k := range alpha[i] {
			alpha[i][k] *= weight(keep, i, k, heads)
		}
	}
	return d.times(values, alpha)
}

func headProducts(h, a rows) rows {
	y := zeros(len(h), len(a))
	for v := range h {
		for k, x := range h[v] {
			y[v][k/len(a[0])] += x * a[k/len(a[0])][k%len(a[0])]
		}
	}
	return y
}

// mix and keeps hash positions as [kernels.Stream] does. They must not change: recorded results depend on them.
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

func keeps(key [2]uint32, stream, position uint32, rate float64) bool {
	half := func(i uint32) uint32 { return mix(key[i] ^ (stream*0x9e3779b9 + i)) }
	return mix(mix(position^half(0))+half(1)) >= uint32(math.Round(rate*(1<<32-1)))
}

// dropped returns x (or ones) with dropout; an entry's number has position entry·heads + head.
func dropped(key [2]uint32, stream uint32, x rows, entries, heads int, rate float64) rows {
	y := zeros(entries, heads)
	for i := range y {
		for k := range y[i] {
			if keeps(key, stream, uint32(i*heads+k), rate) {
				y[i][k] = weight(x, i, k, heads) / (1 - rate)
			}
		}
	}
	return y
}

func (d definition) dropped(key [2]uint32, rate float64) rows {
	values := zeros(len(d.Values), 1)
	for i, x := range d.Values {
		values[i][0] = float64(x)
	}
	return dropped(key, 0, values, len(values), 1, rate)
}

// whole draws integers from -8 to 8, whose sums are exact in any order.
func whole(r *rand.Rand, n, width int) rows {
	x := zeros(n, width)
	for i := range x {
		for k := range x[i] {
			x[i][k] = float64(r.IntN(17) - 8)
		}
	}
	return x
}

func normal(r *rand.Rand, n, width int) rows {
	x := zeros(n, width)
	for i := range x {
		for k := range x[i] {
			x[i][k] = float64(float32(r.NormFloat64()))
		}
	}
	return x
}

func tensor(x rows, width int) *tensors.Tensor {
	flat := make([]float32, 0, len(x)*width)
	for _, row := range x {
		for _, value := range row {
			flat = append(flat, float32(value))
		}
	}
	return tensors.FromFlatDataAndDimensions(flat, len(x), width)
}

func rowsOf(t *tensors.Tensor) rows {
	x := zeros(t.Shape().Dimensions[0], t.Shape().Dimensions[1])
	for i, value := range tensors.MustCopyFlatData[float32](t) {
		x[i/len(x[0])][i%len(x[0])] = float64(value)
	}
	return x
}

// places returns the entry in each slot of a product, -1 for padding.
func places(t require.TestingT, p kernels.Product) []int32 {
	v := p.Ints("entry_in_slot", -1, func(m csr.Matrix) []int32 {
		number := make([]int32, m.NumEntries())
		for i := range number {
			number[i] = int32(i)
		}
		return number
	})
	value, err := v.Value()
	require.NoError(t, err)
	return tensors.MustCopyFlatData[int32](value)
}

func slotted(place []int32, e rows, width int, padding float64) rows {
	slots := make(rows, len(place))
	for slot, i := range place {
		if i >= 0 {
			slots[slot] = e[i]
		} else {
			slots[slot] = slices.Repeat([]float64{padding}, width)
		}
	}
	return slots
}

func unslotted(place []int32, slots rows, entries int) rows {
	e := make(rows, entries)
	for slot, i := range place {
		if i >= 0 {
			e[i] = slots[slot]
		}
	}
	return e
}

func newProduct(t require.TestingT, store *model.Store, m csr.Matrix, o kernels.Options) kernels.Product {
	p, err := kernels.New(store, "/data/m", m, o)
	require.NoError(t, err)
	return p
}

func fromRows(columns int, inRow ...[]int32) csr.Matrix {
	m := csr.Matrix{Rows: len(inRow), Columns: columns, Offsets: []int64{0}}
	for _, row := range inRow {
		m.Indices = append(m.Indices, row...)
		m.Offsets = append(m.Offsets, int64(len(m.Indices)))
	}
	for i := range m.Indices {
		m.Values = append(m.Values, float32(i%5)-1.5)
	}
	return m
}

// drawMatrix draws a small pattern, sometimes without entries.
func drawMatrix(t *rapid.T) csr.Matrix {
	columns := rapid.IntRange(1, 12).Draw(t, "columns")
	sparsity := rapid.SampledFrom([]int{1, 2, 2, 2, 5, 40}).Draw(t, "sparsity")
	inRow := make([][]int32, rapid.IntRange(1, 12).Draw(t, "rows"))
	for r := range inRow {
		for c := range int32(columns) {
			if rapid.IntRange(0, sparsity).Draw(t, "no entry") == 0 {
				inRow[r] = append(inRow[r], c)
			}
		}
	}
	return fromRows(columns, inRow...)
}

// uneven returns 40 rows, nearly empty but for three long ones; the first row, last row and last column are empty.
func uneven(r *rand.Rand) csr.Matrix {
	const columns = 90
	inRow := make([][]int32, 40)
	for v := range inRow[:39] {
		n := min(v, r.IntN(4))
		if v%13 == 5 {
			n = 70 + r.IntN(10)
		}
		for _, c := range r.Perm(columns - 1)[:n] {
			inRow[v] = append(inRow[v], int32(c))
		}
		slices.Sort(inRow[v])
	}
	return fromRows(columns, inRow...)
}

func forEachKernel(t *testing.T, test func(t *testing.T, kernel kernels.Kernel)) {
	for _, kernel := range kernels.Kernels() {
		t.Run(string(kernel), func(t *testing.T) { test(t, kernel) })
	}
}
