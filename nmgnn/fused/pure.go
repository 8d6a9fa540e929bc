package fused

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// array is a matrix that a kernel in Go reads or fills: one of the slices, by its type.
type array struct {
	rows, columns int
	floats        []float32
	ints          []int32
	bits          []uint32
}

// kernelsInGo compute y from x, whose shapes the methods of [Matrix] have seen to.
var kernelsInGo = map[string]func(x, y []array){
	timesKernel: func(x, y []array) {
		a := timesArgs{offsets: x[0].ints, columns: x[1].ints, h: x[2].floats, width: y[0].columns, heads: 1, y: y[0].floats}
		if len(x) > 3 {
			a.weights, a.heads = x[3].floats, x[3].columns
		}
		if len(x) > 4 {
			a.positions = x[4].ints
		}
		forRows(y[0].rows, x[1].rows*a.width, a.rows)
	},
	totalKernel: func(x, y []array) {
		a := reduction(x, y)
		forRows(y[0].rows, len(a.e), a.total)
	},
	highestKernel: func(x, y []array) {
		a := reduction(x, y)
		forRows(y[0].rows, len(a.e), a.highest)
	},
	agreementKernel: func(x, y []array) {
		a := agreementArgs{offsets: x[0].ints, columns: x[1].ints, x: x[2].floats, h: x[3].floats, width: x[2].columns, heads: y[0].columns, y: y[0].floats}
		forRows(x[2].rows, x[1].rows*a.width, a.rows)
	},
	attendKernel:                        func(x, y []array) { attend(x[3:], x, y) },
	attendKernel + dropout:              func(x, y []array) { attend(x[3:6], x, y) },
	attendKernel + fromScores:           func(x, y []array) { attend(x[3:], x, y) },
	attendKernel + fromScores + dropout: func(x, y []array) { attend(x[3:4], x, y) },
	attendBackwardKernel: func(x, y []array) {
		a := attention(x[6:], x)
		a.alpha, a.kept, a.g, a.d = x[3].floats, x[4].floats, x[5].floats, y[0].floats
		a.width, a.heads = x[5].columns, x[3].columns
		if len(y) > 1 {
			a.targetGradient = y[1].floats
		}
		forRows(x[5].rows, x[1].rows*a.width, a.backward)
	},
	dropKernel: func(x, y []array) {
		a := dropArgs{draw: x[0].bits, scale: x[1].floats[0], y: y[0].floats}
		if len(x) > 2 {
			a.x = x[2].floats
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
		a := scoreArgs{x: x[0].floats, a: x[1].floats, b: x[2].floats, width: x[0].columns, heads: y[0].columns, y: y[0].floats, z: y[1].floats}
		forRows(x[0].rows, 2*len(a.x), a.rows)
	},
	scoreBackwardKernel: func(x, y []array) {
		a := scoreArgs{x: x[0].floats, a: x[1].floats, b: x[2].floats, v: x[3].floats, w: x[4].floats, width: x[0].columns, heads: x[3].columns,
			parts: y[1].rows, xGradient: y[0].floats, aGradients: y[1].floats, bGradients: y[2].floats}
		forRows(a.parts, 3*len(a.x), a.backward)
	},
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

func attend(scores, x, y []array) {
	a := attention(scores, x)
	a.y, a.width, a.alpha, a.heads = y[0].floats, y[0].columns, y[1].floats, y[1].columns
	if len(y) > 2 {
		a.keep, a.kept = x[len(x)-1].floats, y[2].floats
	}
	forRows(y[0].rows, x[1].rows*a.width, a.attend)
}

// The pure-Go backend looks up what executes an operation in tables that are meant to be overridden, with a priority of their own
// for users, but in an internal package. Its types are not to be named here: pointers stand for them.
//
//go:linkname executors github.com/gomlx/compute/internal/gobackend.MultiOutputsNodeExecutors
var executors [compute.OpTypeLast]executor

type executor func(backend, node unsafe.Pointer, inputs []unsafe.Pointer, owned []bool) ([]unsafe.Pointer, error)

// kernelCall is the data of a node that stands for a call of a kernel.
type kernelCall struct {
	run     func(x, y []array)
	results []shapes.Shape
}

// pureTypes is where things are in the pure-Go backend.
type pureTypes struct {
	backend, function, node reflect.Type // what pointers to them point to
	data                    uintptr      // of a node: its data, an any
	flat, shape             uintptr      // of a buffer: its numbers, a slice in an any; its shape
}

// pure is set by the first [Intercept].
var pure struct {
	sync.Mutex
	types *pureTypes
}

// Intercept has pure-Go backends call the kernels where a computation asks for them. It may be called any number of times, the
// first time before any of these backends computes. The error says why it cannot be.
func Intercept(b compute.Backend) error {
	pure.Lock()
	defer pure.Unlock()
	if pure.types != nil {
		return nil
	}
	if err := checkGoMLX(); err != nil {
		return err
	}
	t, err := findPureTypes(b)
	if err != nil {
		return fmt.Errorf("fused: this version of GoMLX keeps its pure-Go backend otherwise: %w", err)
	}
	pure.types = t
	others := executors[compute.OpTypeCall]
	executors[compute.OpTypeCall] = func(backend, node unsafe.Pointer, inputs []unsafe.Pointer, owned []bool) ([]unsafe.Pointer, error) {
		if call, isKernel := (*(*any)(unsafe.Add(node, t.data))).(*kernelCall); isKernel {
			return t.execute(call, backend, inputs)
		}
		return others(backend, node, inputs, owned)
	}
	return nil
}

func findPureTypes(b compute.Backend) (*pureTypes, error) {
	if executors[compute.OpTypeCall] == nil {
		return nil, errors.New("nothing executes a call")
	}
	t := &pureTypes{}
	pointee := func(x any) (reflect.Type, error) {
		if p := reflect.TypeOf(x); p != nil && p.Kind() == reflect.Pointer && p.Elem().Kind() == reflect.Struct {
			return p.Elem(), nil
		}
		return nil, fmt.Errorf("a %T", x)
	}
	var err error
	if t.backend, err = pointee(b); err != nil {
		return nil, err
	}
	if t.function, err = pointee(b.Builder("types").Main()); err != nil {
		return nil, err
	}
	field := func(of reflect.Type, name string, is reflect.Type) (reflect.StructField, error) {
		f, found := of.FieldByName(name)
		if !found || is != nil && f.Type != is {
			return f, fmt.Errorf("%s has no field %s of the type that was expected", of, name)
		}
		return f, nil
	}
	nodes, err := field(t.function, "Nodes", nil)
	if err != nil {
		return nil, err
	}
	if k := nodes.Type; k.Kind() != reflect.Slice || k.Elem().Kind() != reflect.Pointer || k.Elem().Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s.Nodes is a %s", t.function, k)
	}
	t.node = nodes.Type.Elem().Elem()
	if _, err := field(t.node, "MultiOutputsNodes", nodes.Type); err != nil {
		return nil, err
	}
	data, err := field(t.node, "Data", reflect.TypeFor[any]())
	if err != nil {
		return nil, err
	}
	get, found := reflect.TypeOf(b).MethodByName("GetBuffer")
	if !found || get.Type.NumIn() != 2 || get.Type.In(1) != reflect.TypeFor[shapes.Shape]() || get.Type.NumOut() != 2 || get.Type.Out(0).Kind() != reflect.Pointer {
		return nil, fmt.Errorf("%s has no method GetBuffer as was expected", t.backend)
	}
	buffer := get.Type.Out(0).Elem()
	flat, err := field(buffer, "Flat", reflect.TypeFor[any]())
	if err != nil {
		return nil, err
	}
	shape, err := field(buffer, "RawShape", reflect.TypeFor[shapes.Shape]())
	if err != nil {
		return nil, err
	}
	t.data, t.flat, t.shape = data.Offset, flat.Offset, shape.Offset
	return t, nil
}

func (t *pureTypes) execute(c *kernelCall, backend unsafe.Pointer, inputs []unsafe.Pointer) ([]unsafe.Pointer, error) {
	x := make([]array, len(inputs))
	for i, buffer := range inputs {
		x[i] = t.array(buffer)
	}
	get := reflect.NewAt(t.backend, backend).MethodByName("GetBuffer")
	y, results := make([]array, len(c.results)), make([]unsafe.Pointer, len(c.results))
	for i, shape := range c.results {
		out := get.Call([]reflect.Value{reflect.ValueOf(shape)})
		if err, failed := out[1].Interface().(error); failed {
			return nil, err
		}
		results[i] = out[0].UnsafePointer()
		y[i] = t.array(results[i])
	}
	c.run(x, y)
	return results, nil
}

func (t *pureTypes) array(buffer unsafe.Pointer) array {
	shape := (*shapes.Shape)(unsafe.Add(buffer, t.shape))
	a := array{rows: shape.Dimensions[0], columns: shape.Dimensions[1]}
	switch flat := (*(*any)(unsafe.Add(buffer, t.flat))).(type) {
	case []float32:
		a.floats = flat
	case []int32:
		a.ints = flat
	case []uint32:
		a.bits = flat
	}
	return a
}

// callInGo has the last call in the function that is being built run a kernel instead, if the function is of a pure-Go backend.
func callInGo(g *Graph, kernel string, outputs []*Node) (isPure bool, err error) {
	pure.Lock()
	t := pure.types
	pure.Unlock()
	function := backendFunction(g)
	if t == nil || function.Type() != t.function {
		return false, nil
	}
	call := &kernelCall{run: kernelsInGo[kernel]}
	if call.run == nil {
		return true, errors.New("there is no such kernel in Go")
	}
	for _, y := range outputs {
		call.results = append(call.results, y.Shape())
	}
	nodes := reflect.NewAt(t.function, function.Addr().UnsafePointer()).Elem().FieldByName("Nodes")
	for i := nodes.Len() - 1; i >= 0; i-- {
		node := nodes.Index(i).Elem()
		if !node.FieldByName("MultiOutputsNodes").IsNil() {
			node.FieldByName("Data").Set(reflect.ValueOf(call))
			return true, nil
		}
	}
	return true, errors.New("there is no call")
}

// checkGoMLX says what keeps backendFunction from finding anything.
func checkGoMLX() error {
	if _, found := reflect.TypeFor[Function]().FieldByName("backendFunc"); !found {
		return errors.New("fused: this version of GoMLX keeps the backend's functions elsewhere")
	}
	return nil
}

// backendFunction is the backend's part of the function that is being built, as a struct; the zero value if it is none.
func backendFunction(g *Graph) reflect.Value {
	v := reflect.ValueOf(g.CurrentFunc()).Elem().FieldByName("backendFunc")
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.ValueOf(struct{}{})
	}
	return v
}
