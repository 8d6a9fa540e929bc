package fused

import (
	"reflect"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"nodemask/nmgnn/internal/kernels/fused/lanes"
)

// Without vector instructions, GoMLX sums dense products in an order that depends on these sizes.
const (
	smallDot = 4 << 20 // a matrix product with fewer multiplications is small
	dotPanel = 512
	dotRows  = 3
)

// product returns the sizes of the matrices that a node multiplies: [rows, inner] and [inner, columns]. The latter is
// [columns, inner] if transposed is true. ok is false for batches and unknown layouts.
func (t *goInsides) product(node unsafe.Pointer) (rows, columns, inner int, transposed, ok bool) {
	var field [5]int
	for i, name := range []string{"LHSCrossSize", "RHSCrossSize", "ContractingSize", "BatchSize", "Layout"} {
		f, ok := t.nodeField(node, name, reflect.Int)
		if !ok {
			return 0, 0, 0, false, false
		}
		field[i] = int(f.Int())
	}
	const theseAndTransposed = 1
	return field[0], field[1], field[2], field[4] == theseAndTransposed,
		min(field[0], field[1], field[2]) > 0 && field[3] == 1 && field[4] <= theseAndTransposed
}

func inBlocks(m, n, inner int) bool {
	return n%64 == 0 && m*n*inner >= smallDot && lanes.HaveAVX2()
}

// dotArgs are the matrices of y = x·z: x [rows, inner], z [inner, columns], y [rows, columns].
type dotArgs struct {
	x, z, y        []float32
	columns, inner int
}

var upTo = sync.OnceValue(func() []int32 {
	all := make([]int32, dotPanel)
	for i := range all {
		all[i] = int32(i)
	}
	return all
})

// rows splits the terms of each inner product into panels of dotPanel terms. It sums each panel, then the panels' sums,
// as GoMLX does for large matrices.
func (a *dotArgs) rows(from, to int) {
	var sum [64]float32
	for begin := 0; begin < a.inner; begin += dotPanel {
		size := min(dotPanel, a.inner-begin)
		for c := 0; c < a.columns; c += 64 {
			z := a.z[begin*a.columns+c:]
			for r := from; r < to; r++ {
				y, x := a.y[r*a.columns+c:][:64], a.x[r*a.inner+begin:][:size]
				if begin == 0 {
					lanes.AddRows(y, z, upTo()[:size], a.columns, x, nil)
					continue
				}
				lanes.AddRows(sum[:], z, upTo()[:size], a.columns, x, nil)
				for k, s := range sum {
					y[k] += s
				}
			}
		}
	}
}

var dotScratch = sync.Pool{New: func() any { return new([]float32) }}

func (t *goInsides) dot(node unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int) {
	x, _, isX := t.numbers(inputs[0])
	z, _, isZ := t.numbers(inputs[1])
	m, n, inner, transposed, found := t.product(node)
	if !isX || !isZ || !found || len(x) != m*inner || len(z) != n*inner || !haveLanes() && !inBlocks(m, n, inner) {
		return nil, nil
	}
	return func(y []float32) {
		scratch := dotScratch.Get().(*[]float32)
		defer dotScratch.Put(scratch)
		if !haveLanes() {
			if transposed {
				*scratch = slices.Grow((*scratch)[:0], inner*n)[:inner*n]
				for c := range n {
					for k := range inner {
						(*scratch)[k*n+c] = z[c*inner+k]
					}
				}
				z = *scratch
			}
			a := dotArgs{x: x, z: z, y: y, columns: n, inner: inner}
			forRows(m, m*n*inner/8, a.rows)
			return
		}
		plain, panel := m, dotPanel
		if m*n*inner < smallDot {
			panel, plain = inner, m-m%dotRows
			if transposed {
				plain = 0
			}
		}
		*scratch = slices.Grow((*scratch)[:0], inner*(n+7))[:inner*((n+7)&^7)]
		lanes.Dot.Run(0, 0, lanes.Slice(x), lanes.Slice(z), lanes.Slice(y), lanes.Slice(*scratch), lanes.Int(m),
			lanes.Int(n), lanes.Int(inner), lanes.Bool(transposed), lanes.Int(plain), lanes.Int(panel))
		runtime.KeepAlive(scratch)
	}, nil
}
