package fused

// The type decides which slice is set.
type array struct {
	rows, columns int
	floats        []float32
	ints          []int32
	bits          []uint32
}

// The methods of [Matrix] have checked the shapes.
var kernelsInGo = map[string]func(x, y []array){
	timesKernel: times,
	totalKernel: func(x, y []array) {
		a := reduction(x, y)
		forRows(y[0].rows, len(a.e), a.total)
	},
	highestKernel: func(x, y []array) {
		a := reduction(x, y)
		forRows(y[0].rows, len(a.e), a.highest)
	},
	agreementKernel: func(x, y []array) {
		a := agreementArgs{offsets: x[0].ints, columns: x[1].ints, x: x[2].floats, h: x[3].floats, width: x[2].columns,
			heads: y[0].columns, y: y[0].floats}
		forRows(x[2].rows, x[1].rows*a.width, a.rows)
	},
	attendKernel:         attend,
	attendBackwardKernel: attendBackward,
	dropKernel: func(x, y []array) {
		_, _, x = skipping(x)
		a := dropArgs{draw: x[0].bits, scale: x[1].floats[0], y: y[0].floats}
		if len(x) > 2 {
			a.x = x[2].floats
		}
		if a.first = int(a.draw[3]) * y[0].columns; a.first > 0 {
			a.x = a.x[a.first:][:len(a.y)]
		}
		forRows((len(a.y)+chunk-1)/chunk, 4*len(a.y), a.chunks)
	},
	eluKernel: func(x, y []array) {
		a := eluArgs{x: x[0].floats, y: y[0].floats}
		if len(x) > 1 {
			a.v = x[1].floats
		}
		forRows((len(a.y)+chunk-1)/chunk, 4*len(a.y), a.chunks)
	},
	scoreKernel: func(x, y []array) {
		a := scoreArgs{x: x[0].floats, a: x[1].floats, b: x[2].floats, width: x[0].columns, heads: y[0].columns,
			y: y[0].floats, z: y[1].floats}
		forRows(x[0].rows, 2*len(a.x), a.rows)
	},
	scoreBackwardKernel: func(x, y []array) {
		a := scoreArgs{x: x[0].floats, a: x[1].floats, b: x[2].floats, v: x[3].floats, w: x[4].floats, width: x[0].columns,
			heads: x[3].columns,
			parts: y[1].rows, xGradient: y[0].floats, aGradients: y[1].floats, bGradients: y[2].floats}
		forRows(a.parts, 3*len(a.x), a.backward)
	},
}

func kernelInGo(name string) func(x, y []array) { return kernelsInGo[name] }

// skipping separates the inputs that select what to skip. Rows that are not heard are read all the same: entries are
// added in fours, and skipping some would change the rounding.
func skipping(x []array) (which int32, wanted []float32, others []array) {
	which, x = x[0].ints[0], x[1:]
	if which&heardBit != 0 {
		x = x[1:]
	}
	if which&wantedBit != 0 {
		wanted, x = x[0].floats, x[1:]
	}
	return which, wanted, x
}

func times(x, y []array) {
	_, wanted, x := skipping(x)
	a := timesArgs{offsets: x[0].ints, columns: x[1].ints, h: x[2].floats, width: y[0].columns, heads: 1, y: y[0].floats,
		wanted: wanted}
	if len(x) > 3 {
		a.weights, a.heads = x[3].floats, x[3].columns
	}
	if len(x) > 4 {
		a.positions = x[4].ints
	}
	forRows(y[0].rows, x[1].rows*a.width, a.rows)
}

func reduction(x, y []array) *reduceArgs {
	a := &reduceArgs{offsets: x[0].ints, e: x[1].floats, width: y[0].columns, y: y[0].floats}
	if len(x) > 2 {
		a.positions = x[2].ints
	}
	return a
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
	_, _, x = skipping(x)
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
	_, _, x = skipping(x)
	a := attention(x[6:], x)
	a.alpha, a.kept, a.g, a.d = x[3].floats, x[4].floats, x[5].floats, y[0].floats
	a.width, a.heads = x[5].columns, x[3].columns
	if len(y) > 1 {
		a.targetGradient = y[1].floats
	}
	forRows(x[5].rows, x[1].rows*a.width, a.backward)
}
