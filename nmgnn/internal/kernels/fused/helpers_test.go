package fused_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/kernels/fused"
)

// forEachBackend runs a test with the kernels in C and in Go.
func forEachBackend(t *testing.T, test func(t *testing.T, b *backend.Backend)) {
	for _, id := range []string{"xla:cpu", "go"} {
		t.Run(id, func(t *testing.T) {
			b, err := backend.Open(id)
			if err != nil {
				t.Skipf("skipped: %v", err)
			}
			require.Equal(t, kernels.FusedKernel, kernels.PlanFor(b.Backend, 0).Kernel)
			test(t, b)
		})
	}
}

// pattern is a sparse matrix's columns by row.
type pattern struct {
	rows, columns int
	offsets       [][]int32
	entries       [][]int32
}

// draw makes a matrix with up to most entries per row, some rows empty; columns ascend.
func draw(r *rand.Rand, rows, columns, most int) pattern {
	p := pattern{rows: rows, columns: columns, offsets: [][]int32{{0}}}
	for range rows {
		row := r.Perm(columns)[:min(columns, r.IntN(most+1))]
		slices.Sort(row)
		for _, c := range row {
			p.entries = append(p.entries, []int32{int32(c)})
		}
		p.offsets = append(p.offsets, []int32{int32(len(p.entries))})
	}
	if len(p.entries) == 0 {
		p.entries = append(p.entries, []int32{0})
		for i := range p.offsets[1:] {
			p.offsets[1+i][0] = 1
		}
	}
	return p
}

func (p pattern) each(f func(row, entry, column int)) {
	for r := range p.rows {
		for i := p.offsets[r][0]; i < p.offsets[r+1][0]; i++ {
			f(r, int(i), int(p.entries[i][0]))
		}
	}
}

func numbers(r *rand.Rand, rows, columns int) [][]float32 {
	x := make([][]float32, rows)
	for i := range x {
		x[i] = make([]float32, columns)
		for k := range x[i] {
			x[i][k] = float32(r.NormFloat64())
		}
	}
	return x
}

// silence zeroes one row in oneIn of h, and returns number for the other rows.
func silence(r *rand.Rand, h [][]float32, oneIn int, number float32) (heard [][]float32) {
	for _, row := range h {
		of := []float32{number}
		if r.IntN(oneIn) == 0 {
			of[0] = 0
			clear(row)
		}
		heard = append(heard, of)
	}
	return heard
}

func shuffled(r *rand.Rand, n int) [][]int32 {
	at := make([][]int32, n)
	for i, j := range r.Perm(n) {
		at[i] = []int32{int32(j)}
	}
	return at
}

func zeros(rows, columns int) [][]float64 {
	x := make([][]float64, rows)
	for i := range x {
		x[i] = make([]float64, columns)
	}
	return x
}

// near compares with results in double precision; a sum of n numbers may differ in some last bits.
func near(t require.TestingT, want [][]float64, got any, what string) {
	x := got.([][]float32)
	require.Len(t, x, len(want), what)
	for r := range want {
		for k := range want[r] {
			if allowed := 1e-4 * (1 + math.Abs(want[r][k])); !(math.Abs(want[r][k]-float64(x[r][k])) <= allowed) {
				require.InDelta(t, want[r][k], float64(x[r][k]), allowed, "%s at %d, %d", what, r, k)
			}
		}
	}
}

// The first two inputs are the pattern's.
func compute(t require.TestingT, b *backend.Backend, p pattern, f func(m fused.Matrix, x []*Node) []*Node,
	inputs ...any) []any {
	return call(t, b, func(x []*Node) []*Node { return f(fused.Matrix{Offsets: x[0], Columns: x[1]}, x[2:]) },
		append([]any{p.offsets, p.entries}, inputs...)...)
}

func call(t require.TestingT, b *backend.Backend, f func(x []*Node) []*Node, inputs ...any) []any {
	outputs, err := CallOnceN(b.Backend, f, inputs...)
	require.NoError(t, err)
	values := make([]any, len(outputs))
	for i, o := range outputs {
		values[i] = o.Value()
	}
	return values
}

type shape struct{ rows, columns, most, width, heads int }

// cases cover each loop: widths with and without a remainder beyond eight, each specialised number of columns, heads of
// eight numbers, of one, or others; rows in one or many blocks; a matrix read block by block.
var cases = []shape{
	{1, 1, 1, 1, 1}, {5, 4, 3, 3, 1}, {9, 9, 9, 7, 7}, {20, 30, 6, 8, 1}, {20, 30, 6, 8, 8}, {7, 50, 40, 64, 8},
	{7, 50, 40, 64, 1},
	{6, 8, 5, 64, 4}, {6, 8, 5, 24, 3}, {6, 8, 5, 124, 1}, {6, 8, 5, 128, 16}, {6, 8, 5, 72, 9}, {6, 8, 5, 12, 2},
	{6, 8, 5, 23, 1}, {6, 8, 5, 41, 1}, {6, 8, 5, 55, 1}, {6, 8, 5, 61, 1}, {6, 8, 5, 40, 5}, {6, 8, 5, 56, 7},
	{6, 8, 5, 48, 2}, {7, 50, 40, 64, 64}, {6, 8, 5, 77, 77},
	{3000, 2000, 9, 64, 8}, {3000, 2000, 9, 3, 1}, {40, 9000, 900, 64, 1}, {300, 9000, 500, 64, 8}, {40, 9000, 900, 41, 1},
	{90, 9000, 900, 64, 1},
}

func forEachShape(t *testing.T, test func(t *testing.T, b *backend.Backend, r *rand.Rand, s shape)) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for i, s := range cases {
			t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) { test(t, b, rand.New(rand.NewPCG(7, uint64(i))), s) })
		}
	})
}
