package lanes

import "unsafe"

// AddRows sets y[k] to Σ_i weights[at(i)]·h[columns[i]·stride + k] for k < 64, where at(i) is positions[i], or i for
// nil positions. nil weights mean ones. It adds in order and rounds each product, as CPUs without fused
// multiply-add do. Indices are not checked: columns must be within h, positions within weights.
func AddRows(y, h []float32, columns []int32, stride int, weights []float32, positions []int32) {
	_ = y[63]
	addRows64(&y[0], unsafe.SliceData(h), unsafe.SliceData(columns), len(columns), 4*stride, unsafe.SliceData(weights),
		unsafe.SliceData(positions))
}

// AddRowsOf8Heads is [AddRows] with eight heads of eight numbers each. The weights of entry i, one per head, begin at
// weights[8·p], where p is positions[i], or i for nil positions.
func AddRowsOf8Heads(y, h []float32, columns []int32, stride int, weights []float32, positions []int32) {
	_ = y[63]
	addRows8x8(&y[0], unsafe.SliceData(h), unsafe.SliceData(columns), len(columns), 4*stride, unsafe.SliceData(weights),
		unsafe.SliceData(positions))
}

// AddFours sets y[k] to Σ_i weights[p·step]·h[columns[i]·stride + k] for k < n, where p is positions[i], or i for nil
// positions. It returns n: len(y) rounded down to a multiple of eight. [AddRows] explains the arguments. Terms are
// added in fours, as (w0·h0 + w1·h1) + (w2·h2 + w3·h3), and the rest one by one. Each product is rounded before
// addition.
func AddFours(y, h []float32, columns []int32, stride int, weights []float32, step int, positions []int32) int {
	n := len(y) &^ 7
	if len(columns) == 0 {
		clear(y[:n])
		return n
	}
	c := unsafe.SliceData(columns)
	w, p := unsafe.SliceData(weights), unsafe.SliceData(positions)
	k := 0
	for ; k+64 <= n; k += 64 {
		addFours64(&y[k], &h[k], c, len(columns), 4*stride, w, p, 4*step)
	}
	if k+32 <= n {
		addFours32(&y[k], &h[k], c, len(columns), 4*stride, w, p, 4*step)
		k += 32
	}
	if k+16 <= n {
		addFours16(&y[k], &h[k], c, len(columns), 4*stride, w, p, 4*step)
		k += 16
	}
	if k+8 <= n {
		addFours8(&y[k], &h[k], c, len(columns), 4*stride, w, p, 4*step)
	}
	return n
}

// DropEach sets y[i] to 0 if mix(mix((first+i) ^ key0) + key1) < bound, else to x[i]·scale, for i < n. It returns n:
// len(y) rounded down to a multiple of eight. mix is the hash function lowbias32; nil x means ones.
func DropEach(y, x []float32, first, key0, key1, bound uint32, scale float32) int {
	n := len(y) &^ 7
	if n == 0 {
		return 0
	}
	if x != nil {
		_ = x[n-1]
	}
	drop8(&y[0], unsafe.SliceData(x), n, first, key0, key1, bound, scale)
	return n
}
