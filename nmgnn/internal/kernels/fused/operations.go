package fused

import (
	"math"
	"reflect"
	"slices"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"

	"nodemask/nmgnn/internal/kernels/fused/lanes"
)

// On the pure-Go backend, GoMLX's operations compute an index for every tensor element, which takes most of the
// training time. The variable named hastened maps operations to faster loops. Results are equal bit for bit.

type (
	// These are GoMLX's types, with unsafe pointers in place of pointers to unexported types.
	operation      func(backend, node unsafe.Pointer, inputs []unsafe.Pointer, owned []bool) (unsafe.Pointer, error)
	operationTable [compute.OpTypeLast]operation

	// A loop returns fill, which computes an operation's result; nil leaves the result to GoMLX. reuse lists inputs
	// that fill may overwrite.
	loop func(t *goInsides, node unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int)
)

//go:linkname operations github.com/gomlx/compute/internal/gobackend.nodeExecutors
var operations operationTable

var hastened = map[compute.OpType]loop{
	compute.OpTypeAdd:        binary(lanes.Sums),
	compute.OpTypeSub:        binary(lanes.Differences),
	compute.OpTypeMul:        binary(lanes.Products),
	compute.OpTypeDiv:        binary(lanes.Quotients),
	compute.OpTypeMax:        binary(lanes.Maxima),
	compute.OpTypeSign:       unary(lanes.Signs),
	compute.OpTypeSqrt:       unary(lanes.Roots),
	compute.OpTypeWhere:      (*goInsides).where,
	compute.OpTypeReduceSum:  (*goInsides).columnSums,
	compute.OpTypeTranspose:  (*goInsides).transpose,
	compute.OpTypeSlice:      (*goInsides).slice,
	compute.OpTypePad:        (*goInsides).pad,
	compute.OpTypeDotGeneral: (*goInsides).dot,
}

// Backends for which [Hasten] was not called still run GoMLX's operations.
func (t *goInsides) hasten() {
	t.own = operations
	for op, loop := range hastened {
		own := operations[op]
		operations[op] = func(backend, node unsafe.Pointer, inputs []unsafe.Pointer,
			owned []bool) (unsafe.Pointer, error) {
			var fill func(y []float32)
			var reuse []int
			if _, asked := t.asked.Load(backend); asked {
				fill, reuse = loop(t, node, inputs)
			}
			if fill == nil {
				return own(backend, node, inputs, owned)
			}
			buffer, y, err := t.result(backend, node, inputs, owned, reuse)
			if err == nil {
				fill(y)
			}
			return buffer, err
		}
	}
}

// Hasten makes a pure-Go backend run this package's loops instead of GoMLX's, with equal results, until end is called.
// It does nothing for other backends or if [Intercepted] returns an error.
func Hasten(b compute.Backend) (end func()) {
	t := interceptedGo
	if t == nil || reflect.TypeOf(b) != t.backend {
		return func() {}
	}
	pointer := reflect.ValueOf(b).UnsafePointer()
	t.asked.Store(pointer, true)
	return func() { t.asked.Delete(pointer) }
}

// laneMinimum is the least number of elements that is worth a call of package lanes.
const laneMinimum = 64

// haveLanes is a variable, so that tests can replace it.
var haveLanes = lanes.Have

func (t *goInsides) numbers(buffer unsafe.Pointer) (x []float32, dimensions []int, ok bool) {
	x, ok = (*(*any)(unsafe.Add(buffer, t.flat))).([]float32)
	return x, (*shapes.Shape)(unsafe.Add(buffer, t.shape)).Dimensions, ok
}

// result returns memory for a node's result: an input of its shape that may be overwritten, or a new buffer.
func (t *goInsides) result(backend, node unsafe.Pointer, inputs []unsafe.Pointer, owned []bool,
	reuse []int) (buffer unsafe.Pointer, y []float32, err error) {
	shape := (*shapes.Shape)(unsafe.Add(node, t.nodeShape))
	for _, i := range reuse {
		if x, dimensions, found := t.numbers(inputs[i]); found && owned[i] && slices.Equal(dimensions, shape.Dimensions) {
			buffer, inputs[i] = inputs[i], nil
			return buffer, x, nil
		}
	}
	if buffer, err = t.get(reflect.NewAt(t.backend.Elem(), backend), *shape); err != nil {
		return nil, nil, err
	}
	y, _, _ = t.numbers(buffer)
	return buffer, y, nil
}

func (t *goInsides) shapeOf(node unsafe.Pointer) []int {
	return (*shapes.Shape)(unsafe.Add(node, t.nodeShape)).Dimensions
}

type walk struct{ rows, columns, xRow, xColumn, zRow, zColumn int }

// walkOf returns how an elementwise operation walks two arrays of n and m numbers with shapes x and z. alike means that
// the shapes are equal or one array is a single number. If ok is false, the operation is left to GoMLX.
func walkOf(x, z []int, n, m int) (w walk, alike, ok bool) {
	switch {
	case m == 1:
		return walk{1, n, n, 1, 0, 0}, true, true
	case n == 1:
		return walk{1, m, 0, 0, m, 1}, true, true
	case slices.Equal(x, z):
		return walk{1, n, n, 1, n, 1}, true, true
	case len(x) != 2 || len(z) != 2:
		return w, false, false
	}
	w = walk{rows: max(x[0], z[0]), columns: max(x[1], z[1])}
	for _, side := range []struct {
		dimensions  []int
		row, column *int
	}{{x, &w.xRow, &w.xColumn}, {z, &w.zRow, &w.zColumn}} {
		if side.dimensions[0] == w.rows {
			*side.row = side.dimensions[1]
		}
		if side.dimensions[1] == w.columns {
			*side.column = 1
		}
	}
	return w, false, n > 0 && m > 0
}

func binary(f lanes.Function) loop {
	return func(t *goInsides, _ unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int) {
		x, xDimensions, isX := t.numbers(inputs[0])
		z, zDimensions, isZ := t.numbers(inputs[1])
		if !isX || !isZ || max(len(x), len(z)) < laneMinimum {
			return nil, nil
		}
		w, alike, found := walkOf(xDimensions, zDimensions, len(x), len(z))
		if !found || alike && !haveLanes() {
			return nil, nil
		}
		return func(y []float32) { w.combine(f, x, z, y) }, []int{1, 0}
	}
}

func (w walk) combine(f lanes.Function, x, z, y []float32) {
	if haveLanes() {
		f.Run(0, 0, lanes.Slice(x), lanes.Slice(z), lanes.Slice(y), lanes.Int(w.rows), lanes.Int(w.columns),
			lanes.Int(w.xRow), lanes.Int(w.xColumn), lanes.Int(w.zRow), lanes.Int(w.zColumn))
		return
	}
	repeated := make([]float32, w.columns)
	row := func(x []float32, column int) []float32 {
		if column == 1 {
			return x[:w.columns]
		}
		for k := range repeated {
			repeated[k] = x[0]
		}
		return repeated
	}
	for r := range w.rows {
		rows(f, row(x[r*w.xRow:], w.xColumn), row(z[r*w.zRow:], w.zColumn), y[r*w.columns:(r+1)*w.columns])
	}
}

func rows(f lanes.Function, x, z, y []float32) {
	x, z = x[:len(y)], z[:len(y)]
	switch f {
	case lanes.Sums:
		for k := range y {
			y[k] = x[k] + z[k]
		}
	case lanes.Differences:
		for k := range y {
			y[k] = x[k] - z[k]
		}
	case lanes.Products:
		for k := range y {
			y[k] = x[k] * z[k]
		}
	case lanes.Quotients:
		for k := range y {
			y[k] = x[k] / z[k]
		}
	case lanes.Maxima:
		for k := range y {
			y[k] = max(x[k], z[k])
		}
	}
}

func unary(f lanes.Function) loop {
	return func(t *goInsides, _ unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int) {
		x, _, found := t.numbers(inputs[0])
		if !found || len(x) < laneMinimum || !haveLanes() {
			return nil, nil
		}
		return func(y []float32) { f.Run(0, 0, lanes.Slice(x), lanes.Slice(y), lanes.Int(len(x))) }, []int{0}
	}
}

// where selects numbers by operations on bits, because branches are slow if choices are random.
func (t *goInsides) where(_ unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int) {
	chosen, isBool := (*(*any)(unsafe.Add(inputs[0], t.flat))).([]bool)
	x, _, isX := t.numbers(inputs[1])
	z, _, isZ := t.numbers(inputs[2])
	if !isBool || !isX || !isZ || len(chosen) < laneMinimum || min(len(x), len(z)) == 0 {
		return nil, nil
	}
	each := func(x []float32) int { return min(len(x)-1, 1) }
	xStep, zStep := each(x), each(z)
	return func(y []float32) {
		forRows((len(y)+chunk-1)/chunk, len(y), func(from, to int) {
			for i := from * chunk; i < min(to*chunk, len(y)); i++ {
				var mask uint32
				if chosen[i] {
					mask = math.MaxUint32
				}
				a, b := math.Float32bits(x[i*xStep]), math.Float32bits(z[i*zStep])
				y[i] = math.Float32frombits(b ^ (a^b)&mask)
			}
		})
	}, []int{1, 2}
}

func (t *goInsides) axes(node unsafe.Pointer) []int {
	axes, _ := (*(*any)(unsafe.Add(node, t.data))).([]int)
	return axes
}

func (t *goInsides) columnSums(node unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int) {
	x, d, found := t.numbers(inputs[0])
	if !found || len(d) != 2 || len(x) < laneMinimum || !slices.Equal(t.axes(node), []int{0}) {
		return nil, nil
	}
	return func(y []float32) {
		if haveLanes() {
			lanes.ColumnSums.Run(0, 0, lanes.Slice(x), lanes.Slice(y), lanes.Int(d[0]), lanes.Int(d[1]))
			return
		}
		clear(y)
		for r := range d[0] {
			rows(lanes.Sums, y, x[r*d[1]:(r+1)*d[1]], y)
		}
	}, nil
}

func (t *goInsides) transpose(node unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int) {
	x, d, found := t.numbers(inputs[0])
	axes := t.axes(node)
	turns := slices.Equal(axes, []int{1, 0})
	if !found || len(axes) != len(d) || !turns && !slices.IsSorted(axes) {
		return nil, nil
	}
	if !turns {
		return func(y []float32) { copy(y, x) }, []int{0}
	}
	return func(y []float32) {
		if haveLanes() && len(x) >= laneMinimum {
			lanes.Transpose.Run(0, 0, lanes.Slice(x), lanes.Slice(y), lanes.Int(d[0]), lanes.Int(d[1]))
			return
		}
		for r := range d[0] {
			for c, number := range x[r*d[1] : (r+1)*d[1]] {
				y[c*d[0]+r] = number
			}
		}
	}, nil
}

func (t *goInsides) nodeField(node unsafe.Pointer, name string, kind reflect.Kind) (f reflect.Value, ok bool) {
	is := reflect.ValueOf(*(*any)(unsafe.Add(node, t.data)))
	if is.Kind() != reflect.Pointer || is.Elem().Kind() != reflect.Struct {
		return f, false
	}
	f = is.Elem().FieldByName(name)
	return f, f.Kind() == kind
}

func list[T any](t *goInsides, node unsafe.Pointer, name string) []T {
	f, ok := t.nodeField(node, name, reflect.Slice)
	if !ok || f.Type() != reflect.TypeFor[[]T]() {
		return nil
	}
	return unsafe.Slice((*T)(f.UnsafePointer()), f.Len())
}

func (t *goInsides) slice(node unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int) {
	x, d, found := t.numbers(inputs[0])
	starts, to := list[int](t, node, "starts"), t.shapeOf(node)
	if !found || len(d) != 2 || len(x) < laneMinimum || len(starts) != 2 ||
		!slices.Equal(list[int](t, node, "strides"), []int{1, 1}) {
		return nil, nil
	}
	return func(y []float32) {
		for r := range to[0] {
			copy(y[r*to[1]:(r+1)*to[1]], x[(starts[0]+r)*d[1]+starts[1]:])
		}
	}, nil
}

func (t *goInsides) pad(node unsafe.Pointer, inputs []unsafe.Pointer) (fill func(y []float32), reuse []int) {
	x, d, found := t.numbers(inputs[0])
	number, _, filled := t.numbers(inputs[1])
	to, axes := t.shapeOf(node), list[compute.PadAxis](t, node, "axesConfig")
	if !found || !filled || len(d) != 2 || len(x) < laneMinimum || len(axes) != 2 || axes[0] != (compute.PadAxis{}) ||
		axes[1].Interior != 0 || axes[1].Start < 0 || axes[1].Start+d[1] > to[1] {
		return nil, nil
	}
	return func(y []float32) {
		for i := range y {
			y[i] = number[0]
		}
		for r := range d[0] {
			copy(y[r*to[1]+axes[1].Start:], x[r*d[1]:(r+1)*d[1]])
		}
	}, nil
}
