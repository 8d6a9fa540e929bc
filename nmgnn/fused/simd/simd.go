// Package simd adds up rows of numbers with vector instructions, in Go's assembly: compiled without cgo.
package simd

// AddRows sets y[0 … 63] to Σ_i weights[at(i)]·h[columns[i]·stride + 0 … 63], where at(i) is positions[i], or i without
// positions; without weights they are 1. Each column must be within h, and each position within weights. It panics if y is shorter
// than 64.
func AddRows(y, h []float32, columns []int32, stride int, weights []float32, positions []int32) {
	_ = y[63]
	addRows64(&y[0], pointer(h), pointer(columns), len(columns), 4*stride, pointer(weights), pointer(positions))
}

// AddRowsOf8Heads is AddRows with eight weights for each i, weights[8·at(i) …], which multiply eight numbers each.
func AddRowsOf8Heads(y, h []float32, columns []int32, stride int, weights []float32, positions []int32) {
	_ = y[63]
	addRows8x8(&y[0], pointer(h), pointer(columns), len(columns), 4*stride, pointer(weights), pointer(positions))
}

func pointer[T any](s []T) *T {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

// Drop sets y[i] to x[i]·scale where number first+i is kept and to 0 where it is dropped, which it is if mix(mix((first+i) ^ key0) +
// key1) < bound, mix being "lowbias32". x may be nil: all ones. It does so for as many numbers of y as are a multiple of eight, and
// returns how many these are.
func Drop(y, x []float32, first, key0, key1, bound uint32, scale float32) int {
	n := len(y) &^ 7
	if n == 0 {
		return 0
	}
	if x != nil {
		_ = x[n-1]
	}
	drop8(&y[0], pointer(x), n, first, key0, key1, bound, scale)
	return n
}
