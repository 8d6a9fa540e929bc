package fused

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// This file and operations.go rely on internals of GoMLX's pure-Go backend, which no release promises to keep, and
// insides_xla.go on those of go-xla. All of them are checked before anything is changed. docs/UPSTREAM.md proposes what
// the two could export instead.

// goModule is whose insides these are. The tests list the versions that they were tried with. To try another one,
// compare internal/gobackend/{exec,executable,builder,buffers}.go, ops/call.go and dot/matmul/nosimd*.go, and run the
// tests of this package with -race.
const goModule = "github.com/gomlx/compute"

// sourceOf returns the name of a function that is not nil, and of the file that it was compiled from.
func sourceOf(function any) (name, file string) {
	f := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
	file, _ = f.FileLine(f.Entry())
	return f.Name(), file
}

// field returns a field of a struct, or an error if it has none of that name and type of its own; a nil type stands for
// any.
func field(of reflect.Type, name string, is reflect.Type) (reflect.StructField, error) {
	if of.Kind() != reflect.Struct {
		return reflect.StructField{}, fmt.Errorf("%s is not a struct", of)
	}
	f, ok := of.FieldByName(name)
	switch {
	case !ok || len(f.Index) > 1: // that of an embedded struct has another offset
		return f, fmt.Errorf("%s has no field %s", of, name)
	case is != nil && f.Type != is:
		return f, fmt.Errorf("%s.%s is a %s, expected %s", of, name, f.Type, is)
	}
	return f, nil
}

// checkMethod returns an error unless a method has these parameters, its receiver first, and results.
func checkMethod(method reflect.Method, in, out []reflect.Type) error {
	if method.Type != reflect.FuncOf(in, out, false) {
		return fmt.Errorf("method %s is a %s, expected parameters %v and results %v", method.Name, method.Type, in, out)
	}
	return nil
}

// The pure-Go backend looks up what executes a node with several results in a table by its operation. Its types cannot
// be named here: pointers stand for those to a Backend, a Node and Buffers. Where a version has no such table, the
// linker makes an empty one.
//
//go:linkname executors github.com/gomlx/compute/internal/gobackend.MultiOutputsNodeExecutors
var executors executorTable

type (
	executor      func(backend, node unsafe.Pointer, inputs []unsafe.Pointer, owned []bool) ([]unsafe.Pointer, error)
	executorTable [compute.OpTypeLast]executor
)

// kernelOp stands for our kernels in the table. No other node has it.
const kernelOp = compute.OpTypeInvalid

// checkExecutors returns an error unless the table holds what it should.
func checkExecutors(table *executorTable) error {
	if table[kernelOp] != nil {
		is, _ := sourceOf(table[kernelOp])
		return fmt.Errorf("%s executes %s, expected nothing", is, kernelOp)
	}
	const qkv = compute.OpTypeFusedAttentionQKVProjection
	return cmp.Or(checkExecutes(compute.OpTypeCall, table[compute.OpTypeCall], "ops.execCall"),
		checkExecutes(compute.OpTypeRNGBitGenerator, table[compute.OpTypeRNGBitGenerator], "ops.execRNGBitGenerator"),
		checkExecutes(qkv, table[qkv], "fusedops.execFusedAttentionQKVProjection"))
}

// checkExecutes returns an error unless the function that executes an operation is GoMLX's of that name. Its type
// cannot be had by reflection, but its name can.
func checkExecutes(op compute.OpType, function any, name string) error {
	is, known := "nothing", goModule+"/internal/gobackend/"+name
	if !reflect.ValueOf(function).IsNil() {
		is, _ = sourceOf(function)
	}
	if is != known {
		return fmt.Errorf("%s executes %s, expected %s", is, op, known)
	}
	return nil
}

// goInsides is where things are in the pure-Go backend.
type goInsides struct {
	backend, node reflect.Type  // *Backend, *Node
	getBuffer     reflect.Value // func(*Backend, shapes.Shape) (*Buffer, error): a buffer to fill, of that shape
	data          uintptr       // of a Node: its data, an any
	nodeShape     uintptr       // of a Node: its result's shape
	flat, shape   uintptr       // of a Buffer: its numbers, a slice in an any; its shape

	own   operationTable // GoMLX's operations, some of which have others in their place now
	asked sync.Map       // the backends that these others are for, an unsafe.Pointer each
}

// findGo finds them in the types of a backend and of a value in a computation.
func findGo(backend, node reflect.Type) (*goInsides, error) {
	t := &goInsides{backend: backend, node: node}
	for _, p := range []reflect.Type{backend, node} {
		if p == nil || p.Kind() != reflect.Pointer {
			return nil, fmt.Errorf("%v is not a pointer", p)
		}
	}
	failed := reflect.TypeFor[error]()
	get, ok := backend.MethodByName("GetBuffer")
	if !ok || get.Type.NumOut() != 2 || get.Type.Out(0).Kind() != reflect.Pointer {
		return nil, fmt.Errorf("%s has no method GetBuffer that returns a pointer and an error", backend)
	}
	buffer := get.Type.Out(0)
	if err := checkMethod(get, []reflect.Type{backend, reflect.TypeFor[shapes.Shape]()},
		[]reflect.Type{buffer, failed}); err != nil {
		return nil, err
	}
	t.getBuffer = get.Func
	for _, known := range []struct {
		of     reflect.Type
		name   string
		is     reflect.Type
		offset *uintptr
	}{
		{node.Elem(), "OpType", reflect.TypeFor[compute.OpType](), nil},
		{node.Elem(), "Inputs", reflect.SliceOf(node), nil},
		{node.Elem(), "MultiOutputsNodes", reflect.SliceOf(node), nil},
		{node.Elem(), "Data", reflect.TypeFor[any](), &t.data},
		{node.Elem(), "Shape", reflect.TypeFor[shapes.Shape](), &t.nodeShape},
		{buffer.Elem(), "Flat", reflect.TypeFor[any](), &t.flat},
		{buffer.Elem(), "RawShape", reflect.TypeFor[shapes.Shape](), &t.shape},
	} {
		f, err := field(known.of, known.name, known.is)
		if err != nil {
			return nil, err
		}
		if known.offset != nil {
			*known.offset = f.Offset
		}
	}
	// What executes a call passes its arguments on to this method: the nearest thing to its own type that reflection
	// finds.
	executable := node.Elem()
	for _, name := range []string{"Function", "Compiled"} {
		f, err := field(executable, name, nil)
		if err != nil {
			return nil, err
		}
		if f.Type.Kind() != reflect.Pointer {
			return nil, fmt.Errorf("%s.%s is a %s, expected a pointer", executable, name, f.Type)
		}
		executable = f.Type.Elem()
	}
	buffers := reflect.SliceOf(buffer)
	execute, ok := reflect.PointerTo(executable).MethodByName("Execute")
	if !ok {
		return nil, errors.New("there is no method Execute")
	}
	in := []reflect.Type{reflect.PointerTo(executable), backend, buffers, reflect.TypeFor[[]bool]()}
	for i := len(in); i < execute.Type.NumIn(); i++ { // it may have more
		in = append(in, execute.Type.In(i))
	}
	return t, checkMethod(execute, in, []reflect.Type{buffers, failed})
}

// callOf returns the node that calls a function, a Node, from the values that the call returned.
func (t *goInsides) callOf(results []compute.Value) (call reflect.Value, err error) {
	for i, result := range results {
		v := reflect.ValueOf(result)
		if v.Type() != t.node {
			return call, fmt.Errorf("result %d is a %T, expected a %s", i, result, t.node)
		}
		inputs := v.Elem().FieldByName("Inputs")
		if inputs.Len() != 1 {
			return call, fmt.Errorf("result %d is not that of a call", i)
		}
		call = inputs.Index(0).Elem()
		if op := call.FieldByName("OpType").Interface(); op != compute.OpTypeCall {
			return call, fmt.Errorf("result %d is that of %s, expected %s", i, op, compute.OpTypeCall)
		}
		if outputs := call.FieldByName("MultiOutputsNodes"); outputs.Len() != len(results) ||
			outputs.Index(i).Pointer() != v.Pointer() {
			return call, fmt.Errorf("result %d is another one of the call, which has %d", i, outputs.Len())
		}
	}
	return call, nil
}

// tryGo finds the insides of a backend and tries them, on a call in a computation that is never compiled, and on a
// buffer.
func tryGo(b compute.Backend) (*goInsides, error) {
	shape := shapes.Make(dtypes.Float32, 2, 3)
	builder := b.Builder("nodemask")
	identity, err := builder.NewFunction("identity")
	if err != nil {
		return nil, err
	}
	x, err := identity.Parameter("x", shape, nil)
	if err != nil {
		return nil, err
	}
	if err := identity.Return([]compute.Value{x}, nil); err != nil {
		return nil, err
	}
	if x, err = builder.Main().Parameter("x", shape, nil); err != nil {
		return nil, err
	}
	results, err := builder.Main().Call(identity, x)
	if err != nil {
		return nil, err
	}
	t, err := findGo(reflect.TypeOf(b), reflect.TypeOf(x))
	if err == nil {
		_, err = t.callOf(results)
	}
	if err != nil {
		return nil, err
	}
	buffer, err := t.get(reflect.ValueOf(b), shape)
	if err != nil {
		return nil, err
	}
	y, err := t.array(buffer)
	if err != nil {
		return nil, err
	}
	if y.floats == nil || y.rows != 2 || y.columns != 3 {
		return nil, errors.New("a new buffer is not what was asked for")
	}
	return t, nil
}

// interceptedGo is what is known of the pure-Go backend, or why this version of it cannot run the kernels. Its tables
// of operations are one for all backends of the process, and programs read them while they compute. So they are changed
// once, as the process starts: no program computes before that, and none sees them change. What stands there then asks
// whose backend it is that computes.
var interceptedGo, notIntercepted = installGo()

func installGo() (*goInsides, error) {
	b, err := gobackend.New("ops_sequential")
	if err == nil {
		defer b.Finalize()
		err = checkOperations(&operations)
	}
	var t *goInsides
	if err == nil {
		t, err = intercept(b, &executors)
	}
	if err != nil {
		return nil, fmt.Errorf("the Go backend cannot run our kernels: %w", err)
	}
	t.hasten(&operations)
	return t, nil
}

// Intercepted returns nil if pure-Go backends run the kernels where a computation calls them, or else an error that
// says why this version of GoMLX cannot; then nothing is changed in it.
func Intercepted() error { return notIntercepted }

// intercept puts the kernels into a table, if it and the backend are as they should be.
func intercept(b compute.Backend, table *executorTable) (*goInsides, error) {
	if err := checkExecutors(table); err != nil {
		return nil, err
	}
	t, err := tryGo(b)
	if err != nil {
		return nil, err
	}
	table[kernelOp] = func(backend, node unsafe.Pointer, inputs []unsafe.Pointer, _ []bool) ([]unsafe.Pointer, error) {
		call, ok := (*(*any)(unsafe.Add(node, t.data))).(*kernelCall)
		if !ok {
			return nil, fmt.Errorf("a node of operation %s is none of ours", kernelOp)
		}
		return t.execute(call, reflect.NewAt(t.backend.Elem(), backend), inputs)
	}
	return t, nil
}

// runsInGo returns what is known of the pure-Go backend if that is what a computation is built for, and it runs the
// kernels.
func runsInGo(g *Graph) (t *goInsides, runs bool) {
	t = interceptedGo
	return t, t != nil && reflect.TypeOf(g.Backend()) == t.backend
}

// kernelCall is the data of a node that runs a kernel.
type kernelCall struct {
	run     func(x, y []array)
	results []shapes.Shape
}

// replace makes the call that returned results run a kernel instead.
func (t *goInsides) replace(results []*Node, run func(x, y []array)) error {
	call, err := t.callOf(values(results))
	if err != nil {
		return err
	}
	kernel := &kernelCall{run: run}
	for _, y := range results {
		kernel.results = append(kernel.results, y.Shape())
	}
	call.FieldByName("Data").Set(reflect.ValueOf(kernel))
	call.FieldByName("OpType").Set(reflect.ValueOf(kernelOp))
	return nil
}

// execute runs a kernel. Inputs stay whose they were; buffers for the results come from the backend, a pointer to one.
func (t *goInsides) execute(call *kernelCall, backend reflect.Value,
	inputs []unsafe.Pointer) ([]unsafe.Pointer, error) {
	x, y := make([]array, len(inputs)), make([]array, len(call.results))
	results := make([]unsafe.Pointer, len(call.results))
	var err error
	for i, buffer := range inputs {
		if x[i], err = t.array(buffer); err != nil {
			return nil, err
		}
	}
	for i, shape := range call.results {
		if results[i], err = t.get(backend, shape); err != nil {
			return nil, err
		}
		if y[i], err = t.array(results[i]); err != nil {
			return nil, err
		}
	}
	call.run(x, y)
	return results, nil
}

// get returns a new buffer.
func (t *goInsides) get(backend reflect.Value, shape shapes.Shape) (unsafe.Pointer, error) {
	out := t.getBuffer.Call([]reflect.Value{backend, reflect.ValueOf(shape)})
	if err, ok := out[1].Interface().(error); ok {
		return nil, err
	}
	return out[0].UnsafePointer(), nil
}

// array is a view of a buffer.
func (t *goInsides) array(buffer unsafe.Pointer) (array, error) {
	shape, flat := (*shapes.Shape)(unsafe.Add(buffer, t.shape)), *(*any)(unsafe.Add(buffer, t.flat))
	if len(shape.Dimensions) != 2 {
		return array{}, fmt.Errorf("a buffer is %s, expected a matrix", shape)
	}
	a := array{rows: shape.Dimensions[0], columns: shape.Dimensions[1]}
	n := -1
	switch flat := flat.(type) {
	case []float32:
		a.floats, n = flat, len(flat)
	case []int32:
		a.ints, n = flat, len(flat)
	case []uint32:
		a.bits, n = flat, len(flat)
	}
	if n != a.rows*a.columns {
		return array{}, fmt.Errorf("a buffer for %s holds a %T of another length or type", shape, flat)
	}
	return a, nil
}
