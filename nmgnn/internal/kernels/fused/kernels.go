package fused

import "nodemask/nmgnn/internal/kernels/fused/lanes"

// array is a matrix. One of the three slices holds its elements; the others are nil.
type array struct {
	rows, columns int
	floats        []float32
	ints          []int32
	bits          []uint32
}

// The kernels do not check shapes: the methods of [Matrix] do.
var kernelsInGo = map[string]func(x, y []array){
	timesKernel:          times,
	totalKernel:          total,
	highestKernel:        highest,
	agreementKernel:      agreement,
	attendKernel:         attend,
	attendBackwardKernel: attendBackward,
	dropKernel:           drop,
	eluKernel:            elu,
	scoreKernel:          score,
	scoreBackwardKernel:  scoreBackward,
}

func optional(x []array, i int) (a array) {
	if i < len(x) {
		a = x[i]
	}
	return a
}

// each computes rows with f if [lanes.Have] returns true, else with loop. numbers is the number of elements to compute.
// If there are many, the work runs on all cores.
func each(rows, numbers int, f lanes.Function, words []lanes.Word, loop func(from, to int)) {
	if haveLanes() {
		loop = func(from, to int) { f.Run(from, to, words...) }
	}
	forRows(rows, numbers, loop)
}

// skipping splits a kernel's inputs: it returns [Rows].Wanted, or nil for all rows, and the inputs after those of Rows.
// Go kernels do not skip rows that Heard marks: they add four entries at a time, so skipping would change the rounding.
func skipping(x []array) (wanted []float32, others []array) {
	which, x := x[0].ints[0], x[1:]
	if which&heardBit != 0 {
		x = x[1:]
	}
	if which&wantedBit != 0 {
		wanted, x = x[0].floats, x[1:]
	}
	return wanted, x
}
