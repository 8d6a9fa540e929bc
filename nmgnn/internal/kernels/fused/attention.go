package fused

import (
	"math"

	"nodemask/nmgnn/internal/kernels/fused/lanes"
)

func agreement(x, y []array) {
	offsets, columns, h, width, heads := x[0].ints, x[1].ints, x[3].floats, x[2].columns, y[0].columns
	each(x[2].rows, len(columns)*width, lanes.Agreement, []lanes.Word{lanes.Slice(offsets), lanes.Slice(columns),
		lanes.Slice(x[2].floats), lanes.Slice(h), lanes.Int(width), lanes.Int(heads), lanes.Slice(y[0].floats)},
		func(from, to int) {
			for r := from; r < to; r++ {
				x := x[2].floats[r*width : (r+1)*width]
				for i := offsets[r]; i < offsets[r+1]; i++ {
					inner(x, h[int(columns[i])*width:], y[0].floats[int(i)*heads:][:heads])
				}
			}
		})
}

func inner(x, h, y []float32) {
	share := len(x) / len(y)
	for head := range y {
		x, h := x[head*share:(head+1)*share], h[head*share:(head+1)*share]
		var s0, s1, s2, s3 float32
		k := 0
		for ; k+4 <= len(x); k += 4 {
			x, h := (*[4]float32)(x[k:]), (*[4]float32)(h[k:])
			s0 += x[0] * h[0]
			s1 += x[1] * h[1]
			s2 += x[2] * h[2]
			s3 += x[3] * h[3]
		}
		for ; k < len(x); k++ {
			s0 += x[k] * h[k]
		}
		y[head] = (s0 + s1) + (s2 + s3)
	}
}

type attentionArgs struct {
	offsets, columns        []int32
	e, source, target, keep []float32 // either e is nil, or source and target are nil; keep may be nil
	slope                   float32
	h                       []float32
	width, heads            int
	alpha, kept, y          []float32
	// These are set in the backward pass only.
	g, d, targetGradient []float32
}

func attention(scores, x []array) *attentionArgs {
	a := &attentionArgs{offsets: x[0].ints, columns: x[1].ints, h: x[2].floats}
	if len(scores) == 1 {
		a.e = scores[0].floats
	} else {
		a.source, a.target, a.slope = scores[0].floats, scores[1].floats, scores[2].floats[0]
	}
	return a
}

func attend(x, y []array) {
	_, x = skipping(x)
	scores := x[3:]
	var keep, kept []float32
	if last := len(scores) - 1; len(y) > 2 {
		scores, keep, kept = scores[:last], scores[last].floats, y[2].floats
	}
	a := attention(scores, x)
	a.y, a.width, a.alpha, a.heads, a.keep, a.kept = y[0].floats, y[0].columns, y[1].floats, y[1].columns, keep, kept
	forRows(y[0].rows, x[1].rows*a.width, a.attend)
}

func attendBackward(x, y []array) {
	_, x = skipping(x)
	a := attention(x[6:], x)
	a.alpha, a.kept, a.g, a.d = x[3].floats, x[4].floats, x[5].floats, y[0].floats
	a.width, a.heads = x[5].columns, x[3].columns
	if len(y) > 1 {
		a.targetGradient = y[1].floats
	}
	each(x[5].rows, x[1].rows*a.width, lanes.AttendBackward, a.lanes(), a.backward)
}

func (a *attentionArgs) attend(from, to int) {
	weights := a.alpha
	if a.kept != nil {
		weights = a.kept
	}
	sum := timesArgs{offsets: a.offsets, columns: a.columns, h: a.h, weights: weights, width: a.width, heads: a.heads,
		y: a.y}
	if haveLanes() {
		lanes.Attend.Run(from, to, a.lanes()...)
		sum.rows(from, to)
		return
	}
	greatest, whole := make([]float32, a.heads), make([]float32, a.heads)
	for r := from; r < to; r++ {
		first, end := a.offsets[r], a.offsets[r+1]
		for head := range greatest {
			greatest[head], whole[head] = lowest, 0
		}
		for i := first; i < end; i++ {
			scores := a.alpha[int(i)*a.heads:][:len(greatest)]
			if a.e != nil {
				copy(scores, a.e[int(i)*a.heads:])
			} else {
				source, target := a.source[int(a.columns[i])*a.heads:][:len(scores)], a.target[r*a.heads:][:len(scores)]
				for head := range scores {
					x := source[head] + target[head]
					if x <= 0 {
						x *= a.slope
					}
					scores[head] = x
				}
			}
			for head, x := range scores {
				greatest[head] = max(greatest[head], x)
			}
		}
		for i := first; i < end; i++ {
			alpha := a.alpha[int(i)*a.heads:][:len(greatest)]
			for head := range alpha {
				p := exp(alpha[head] - greatest[head])
				alpha[head] = p
				whole[head] += p
			}
		}
		for head := range whole {
			whole[head] = 1 / whole[head]
		}
		for i := first; i < end; i++ {
			alpha := a.alpha[int(i)*a.heads:][:len(whole)]
			for head := range alpha {
				alpha[head] *= whole[head]
			}
		}
		for i := int(first) * a.heads; a.kept != nil && i < int(end)*a.heads; i++ {
			a.kept[i] = a.alpha[i] * a.keep[i]
		}
		sum.row(first, end, a.y[r*a.width:(r+1)*a.width])
	}
}

func (a *attentionArgs) lanes() []lanes.Word {
	return []lanes.Word{lanes.Slice(a.offsets), lanes.Slice(a.columns), lanes.Slice(a.e), lanes.Slice(a.source),
		lanes.Slice(a.target),
		lanes.Slice(a.keep), lanes.Float(a.slope), lanes.Slice(a.h), lanes.Int(a.width), lanes.Int(a.heads),
		lanes.Slice(a.alpha), lanes.Slice(a.kept), lanes.Slice(a.g), lanes.Slice(a.d), lanes.Slice(a.targetGradient)}
}

func (a *attentionArgs) backward(from, to int) {
	shared, all := make([]float32, a.heads), make([]float32, a.heads)
	for r := from; r < to; r++ {
		clear(shared)
		clear(all)
		g := a.g[r*a.width : (r+1)*a.width]
		for i := a.offsets[r]; i < a.offsets[r+1]; i++ {
			d, kept := a.d[int(i)*a.heads:][:len(shared)], a.kept[int(i)*a.heads:][:len(shared)]
			inner(g, a.h[int(a.columns[i])*a.width:], d)
			for head := range d {
				d[head] *= kept[head]
				shared[head] += d[head]
			}
		}
		for i := a.offsets[r]; i < a.offsets[r+1]; i++ {
			d, alpha := a.d[int(i)*a.heads:][:len(shared)], a.alpha[int(i)*a.heads:][:len(shared)]
			for head := range d {
				d[head] -= alpha[head] * shared[head]
			}
			if a.source != nil {
				source, target := a.source[int(a.columns[i])*a.heads:][:len(d)], a.target[r*a.heads:][:len(d)]
				for head := range d {
					if source[head]+target[head] <= 0 {
						d[head] *= a.slope
					}
					all[head] += d[head]
				}
			}
		}
		if a.targetGradient != nil {
			copy(a.targetGradient[r*a.heads:(r+1)*a.heads], all)
		}
	}
}

func score(x, y []array) {
	width, heads, xs := x[0].columns, y[0].columns, x[0].floats
	each(x[0].rows, 2*len(xs), lanes.Score, []lanes.Word{lanes.Slice(xs), lanes.Slice(x[1].floats),
		lanes.Slice(x[2].floats), lanes.Int(width), lanes.Int(heads), lanes.Slice(y[0].floats), lanes.Slice(y[1].floats)},
		func(from, to int) {
			for r := from; r < to; r++ {
				row := xs[r*width : (r+1)*width]
				inner(row, x[1].floats, y[0].floats[r*heads:(r+1)*heads])
				inner(row, x[2].floats, y[1].floats[r*heads:(r+1)*heads])
			}
		})
}

func scoreBackward(x, y []array) {
	rows, width, heads, parts := x[0].rows, x[0].columns, x[3].columns, y[1].rows
	share, xs, as, bs, vs, ws := width/heads, x[0].floats, x[1].floats, x[2].floats, x[3].floats, x[4].floats
	words := []lanes.Word{lanes.Slice(xs), lanes.Slice(as), lanes.Slice(bs), lanes.Int(width), lanes.Int(heads), 0, 0,
		lanes.Slice(vs), lanes.Slice(ws), lanes.Int(rows), lanes.Int(parts), lanes.Slice(y[0].floats),
		lanes.Slice(y[1].floats), lanes.Slice(y[2].floats)}
	each(parts, 3*len(xs), lanes.ScoreBackward, words, func(from, to int) {
		for part := from; part < to; part++ {
			da, db := y[1].floats[part*width:(part+1)*width], y[2].floats[part*width:(part+1)*width]
			clear(da)
			clear(db)
			for r := part * rows / parts; r < (part+1)*rows/parts; r++ {
				for head := range heads {
					v, w := vs[r*heads+head], ws[r*heads+head]
					k, end := head*share, (head+1)*share
					x, dx := xs[r*width+k:r*width+end], y[0].floats[r*width+k:r*width+end]
					dx, da, db, a, b := dx[:len(x)], da[k:end][:len(x)], db[k:end][:len(x)], as[k:end][:len(x)], bs[k:end][:len(x)]
					for k, x := range x {
						dx[k] = v*a[k] + w*b[k]
						da[k] += v * x
						db[k] += w * x
					}
				}
			}
		}
	})
}

// exp returns e^x for x ≤ 0, off by at most two units in the last place. It is 2^n·e^r with integer n and |r| ≤
// ln(2)/2; a polynomial gives e^r.
func exp(x float32) float32 {
	x = max(x, -87)
	shifted := x*1.44269504 + 12582912
	n := shifted - 12582912
	r := x - n*0.693359375 + n*2.12194440e-4
	p := float32(1.3981999507e-3) + r*1.9875691500e-4
	p = 8.3334519073e-3 + r*p
	p = 4.1665795894e-2 + r*p
	p = 1.6666665459e-1 + r*p
	p = 5.0000001201e-1 + r*p
	return (1 + r + r*r*p) * math.Float32frombits(math.Float32bits(shifted)<<23+0x3f800000)
}
