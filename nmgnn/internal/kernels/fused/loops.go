package fused

import (
	"runtime"
	"sync"
	"sync/atomic"

	"nodemask/nmgnn/internal/kernels/fused/lanes"
)

// This file has kernels for the pure-Go backend, named as in kernels.h. Their loops compute the result's rows in the
// range [from, to).

// This is the maximum of a row without entries.
const lowest = -1e30

// Dropout and ELU divide work among cores in chunks of this many numbers.
const chunk = 1024

type timesArgs struct {
	offsets, columns, positions []int32
	h, weights                  []float32
	wanted                      []float32 // where wanted is 0, the row of y becomes zero; may be nil
	width, heads                int
	y                           []float32
}

func times(x, y []array) {
	wanted, x := skipping(x)
	weights := optional(x, 3)
	a := timesArgs{offsets: x[0].ints, columns: x[1].ints, positions: optional(x, 4).ints, h: x[2].floats,
		weights: weights.floats, wanted: wanted, width: y[0].columns, heads: max(1, weights.columns), y: y[0].floats}
	forRows(y[0].rows, x[1].rows*a.width, a.rows)
}

func at(positions []int32, i int32) int {
	if positions == nil {
		return int(i)
	}
	return int(positions[i])
}

func (a *timesArgs) rows(from, to int) {
	if haveLanes() {
		lanes.Times.Run(from, to, lanes.Slice(a.offsets), lanes.Slice(a.columns), lanes.Slice(a.positions), lanes.Slice(a.h),
			lanes.Slice(a.weights), lanes.Int(a.width), lanes.Int(a.heads), lanes.Slice(a.y))
		for r := from; a.wanted != nil && r < to; r++ {
			if a.wanted[r] == 0 {
				clear(a.y[r*a.width : (r+1)*a.width])
			}
		}
		return
	}
	for r := from; r < to; r++ {
		y := a.y[r*a.width : (r+1)*a.width]
		if a.wanted != nil && a.wanted[r] == 0 {
			clear(y)
			continue
		}
		a.row(a.offsets[r], a.offsets[r+1], y)
	}
}

func (a *timesArgs) of(i int32, first int) []float32 {
	c := int(a.columns[i]) * a.width
	return a.h[c+first : c+a.width]
}

// row adds in the same order with and without vector instructions, so results are the same on all CPUs.
func (a *timesArgs) row(i, to int32, y []float32) {
	share := a.width / a.heads
	if share < 8 || !lanes.HaveAVX2() {
		clear(y)
		a.scalars(i, to, y, 0)
		return
	}
	weights, positions := a.weights, a.positions
	if positions != nil {
		positions = positions[i:to]
	} else if weights != nil {
		weights = weights[int(i)*a.heads:]
	}
	switch {
	case a.width == 64 && a.heads == 1:
		lanes.AddRows(y, a.h, a.columns[i:to], a.width, weights, positions)
		return
	case a.width == 64 && a.heads == 8:
		lanes.AddRowsOf8Heads(y, a.h, a.columns[i:to], a.width, weights, positions)
		return
	case i == to:
		clear(y)
		return
	}
	done := 0
	for head := range a.heads {
		if head > 0 {
			weights = weights[1:]
		}
		part := y[head*share : (head+1)*share]
		done = lanes.AddFours(part, a.h[head*share:], a.columns[i:to], a.width, weights, a.heads, positions)
		clear(part[done:])
	}
	if done < share {
		a.scalars(i, to, y, done)
	}
}

// scalars adds the products of the matrix entries in [i, to) to the row y without vector instructions, in the vector
// code's order of additions. In each head's equal share of y, scalars skips numbers with an index below offset, because
// the vector code has computed them.
func (a *timesArgs) scalars(i, to int32, y []float32, offset int) {
	y = y[offset:]
	share := a.width / a.heads
	fours := to
	if a.width == 64 && (a.heads == 1 || a.heads == 8) {
		fours = i
	}
	for ; i+4 <= fours; i += 4 {
		h0, h1, h2, h3 := a.of(i, offset), a.of(i+1, offset), a.of(i+2, offset), a.of(i+3, offset)
		if a.weights == nil {
			sum4(y, h0, h1, h2, h3)
			continue
		}
		w0, w1, w2, w3 := at(a.positions, i)*a.heads, at(a.positions, i+1)*a.heads, at(a.positions, i+2)*a.heads,
			at(a.positions, i+3)*a.heads
		for head := range a.heads {
			k, end := head*share, (head+1)*share-offset
			add4(y[k:end], h0[k:end], h1[k:end], h2[k:end], h3[k:end], a.weights[w0+head], a.weights[w1+head],
				a.weights[w2+head], a.weights[w3+head])
		}
	}
	for ; i < to; i++ {
		h := a.of(i, offset)
		if a.weights == nil {
			for k := range y {
				y[k] += h[k]
			}
			continue
		}
		w := at(a.positions, i) * a.heads
		for head := range a.heads {
			k, end := head*share, (head+1)*share-offset
			add1(y[k:end], h[k:end], a.weights[w+head])
		}
	}
}

// sum4 adds four rows to y in one pass, to read and write y once. It takes eight numbers of each row at once, to avoid
// bounds checks.
func sum4(y, h0, h1, h2, h3 []float32) {
	k := 0
	for ; k+8 <= len(y); k += 8 {
		y, h0, h1, h2, h3 := (*[8]float32)(y[k:]), (*[8]float32)(h0[k:]), (*[8]float32)(h1[k:]), (*[8]float32)(h2[k:]),
			(*[8]float32)(h3[k:])
		y[0] += (h0[0] + h1[0]) + (h2[0] + h3[0])
		y[1] += (h0[1] + h1[1]) + (h2[1] + h3[1])
		y[2] += (h0[2] + h1[2]) + (h2[2] + h3[2])
		y[3] += (h0[3] + h1[3]) + (h2[3] + h3[3])
		y[4] += (h0[4] + h1[4]) + (h2[4] + h3[4])
		y[5] += (h0[5] + h1[5]) + (h2[5] + h3[5])
		y[6] += (h0[6] + h1[6]) + (h2[6] + h3[6])
		y[7] += (h0[7] + h1[7]) + (h2[7] + h3[7])
	}
	for ; k < len(y); k++ {
		y[k] += (h0[k] + h1[k]) + (h2[k] + h3[k])
	}
}

func add4(y, h0, h1, h2, h3 []float32, w0, w1, w2, w3 float32) {
	k := 0
	for ; k+8 <= len(y); k += 8 {
		y, h0, h1, h2, h3 := (*[8]float32)(y[k:]), (*[8]float32)(h0[k:]), (*[8]float32)(h1[k:]), (*[8]float32)(h2[k:]),
			(*[8]float32)(h3[k:])
		y[0] += (w0*h0[0] + w1*h1[0]) + (w2*h2[0] + w3*h3[0])
		y[1] += (w0*h0[1] + w1*h1[1]) + (w2*h2[1] + w3*h3[1])
		y[2] += (w0*h0[2] + w1*h1[2]) + (w2*h2[2] + w3*h3[2])
		y[3] += (w0*h0[3] + w1*h1[3]) + (w2*h2[3] + w3*h3[3])
		y[4] += (w0*h0[4] + w1*h1[4]) + (w2*h2[4] + w3*h3[4])
		y[5] += (w0*h0[5] + w1*h1[5]) + (w2*h2[5] + w3*h3[5])
		y[6] += (w0*h0[6] + w1*h1[6]) + (w2*h2[6] + w3*h3[6])
		y[7] += (w0*h0[7] + w1*h1[7]) + (w2*h2[7] + w3*h3[7])
	}
	for ; k < len(y); k++ {
		y[k] += (w0*h0[k] + w1*h1[k]) + (w2*h2[k] + w3*h3[k])
	}
}

func add1(y, h []float32, w float32) {
	h = h[:len(y)]
	for k := range y {
		y[k] += w * h[k]
	}
}

func total(x, y []array) {
	offsets, e, positions, width := x[0].ints, x[1].floats, optional(x, 2).ints, y[0].columns
	each(y[0].rows, len(e), lanes.Total, []lanes.Word{lanes.Slice(offsets), lanes.Slice(positions), lanes.Slice(e),
		lanes.Int(width), lanes.Slice(y[0].floats)}, func(from, to int) {
		for r := from; r < to; r++ {
			y := y[0].floats[r*width : (r+1)*width]
			clear(y)
			for i := offsets[r]; i < offsets[r+1]; i++ {
				e := e[at(positions, i)*width:][:len(y)]
				for k := range y {
					y[k] += e[k]
				}
			}
		}
	})
}

func highest(x, y []array) {
	offsets, e, width := x[0].ints, x[1].floats, y[0].columns
	forRows(y[0].rows, len(e), func(from, to int) {
		for r := from; r < to; r++ {
			y := y[0].floats[r*width : (r+1)*width]
			for k := range y {
				y[k] = lowest
			}
			for i := offsets[r]; i < offsets[r+1]; i++ {
				e := e[int(i)*width:][:len(y)]
				for k := range y {
					y[k] = max(y[k], e[k])
				}
			}
		}
	})
}

func drop(x, y []array) {
	_, x = skipping(x)
	draw, scale, result := x[0].bits, x[1].floats[0], y[0].floats
	first := int(draw[3]) * y[0].columns
	values := optional(x, 2).floats
	if values != nil {
		values = values[first:][:len(result)]
	}
	inChunks := func(from, to int) {
		begin, end := from*chunk, min(to*chunk, len(result))
		if haveLanes() && first == 0 {
			lanes.Drop.Run(begin, end, lanes.Slice(values), lanes.Word(draw[0]), lanes.Word(draw[1]), lanes.Word(draw[2]),
				lanes.Float(scale), lanes.Slice(result))
			return
		}
		k0, k1, bound := draw[0], draw[1], draw[2]
		y, x := result[begin:end], values
		if x != nil {
			x = x[begin:end]
		}
		done := 0
		if lanes.HaveAVX2() {
			done = lanes.DropEach(y, x, uint32(first+begin), k0, k1, bound, scale)
		}
		for i := done; i < len(y); i++ {
			y[i] = 0
			if hash(hash(uint32(first+begin+i)^k0)+k1) >= bound {
				y[i] = scale
			}
			if x != nil {
				y[i] *= x[i]
			}
		}
	}
	forRows((len(result)+chunk-1)/chunk, 4*len(result), inChunks)
}

func elu(x, y []array) {
	values, v, result := x[0].floats, optional(x, 1).floats, y[0].floats
	forRows((len(result)+chunk-1)/chunk, 4*len(result), func(from, to int) {
		from, to = from*chunk, min(to*chunk, len(result))
		if haveLanes() {
			lanes.ELU.Run(from, to, lanes.Slice(values), lanes.Slice(v), lanes.Slice(result))
			return
		}
		for i := from; i < to; i++ {
			switch x := values[i]; {
			case v != nil && x > 0:
				result[i] = v[i]
			case v != nil:
				result[i] = v[i] * exp(x)
			case x > 0:
				result[i] = x
			default:
				result[i] = exp(x) - 1
			}
		}
	})
}

func hash(x uint32) uint32 {
	x = (x ^ x>>16) * 0x7feb352d
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

// If the result has many numbers, forRows uses all cores.
func forRows(rows, numbers int, compute func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), rows)
	if workers < 2 || numbers < 20000 {
		compute(0, rows)
		return
	}
	block := max(1, rows/(workers*16))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for {
				from := int(next.Add(int64(block))) - block
				if from >= rows {
					return
				}
				compute(from, min(from+block, rows))
			}
		})
	}
	wait.Wait()
}
