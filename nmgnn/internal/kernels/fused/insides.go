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

// This file and operations.go rely on internals of GoMLX's pure-Go backend, insides_xla.go on those of go-xla. No
// release promises them, so all are checked before changing anything. docs/UPSTREAM.md proposes exports instead.

// goModule has these internals. The tests list the versions tried. To try another, compare
// internal/gobackend/{exec,executable,builder,buffers}.go, ops/call.go and dot/matmul/nosimd*.go, and run this
// package's tests with -race.
const goModule = "github.com/gomlx/compute"

func sourceOf(function any) (name, file string) {
	f := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
	file, _ = f.FileLine(f.Entry())
	return f.Name(), file
}

// field returns a struct's own (not embedded) field of that name and type (nil: any), or an error.
func field(of reflect.Type, name string, is reflect.Type) (reflect.StructField, error) {
	if of.Kind() != reflect.Struct {
		return reflect.StructField{}, fmt.Errorf("%s is not a struct", of)
	}
	f, ok := of.FieldByName(name)
	switch {
	case !ok || len(f.Index) > 1: // embedded: another offset
		return f, fmt.Errorf("%s has no field %s", of, name)
	case is != nil && f.Type != is:
		return f, fmt.Errorf("%s.%s is a %s, expected %s", of, name, f.Type, is)
	}
	return f, nil
}

func checkMethod(method reflect.Method, in, out []reflect.Type) error {
	if method.Type != reflect.FuncOf(in, out, false) {
		return fmt.Errorf("method %s is a %s, expected parameters %v and results %v", method.Name, method.Type, in, out)
	}
	return nil
}

// GoMLX's table of executors for nodes with several results, by operation. Pointers stand for its types Backend, Node
// and Buffer. If a version lacks the table, the linker makes an empty one.
//
//go:linkname executors github.com/gomlx/compute/internal/gobackend.MultiOutputsNodeExecutors
var executors executorTable

type (
	executor      func(backend, node unsafe.Pointer, inputs []unsafe.Pointer, owned []bool) ([]unsafe.Pointer, error)
	executorTable [compute.OpTypeLast]executor
)

// No other node uses this operation.
const kernelOp = compute.OpTypeInvalid

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

// checkExecutes checks an operation's function by name, as reflection cannot get its type.
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

// goInsides locates internals of the pure-Go backend.
type goInsides struct {
	backend, node reflect.Type  // *Backend, *Node
	getBuffer     reflect.Value // func(*Backend, shapes.Shape) (*Buffer, error)
	data          uintptr       // of a Node: an any
	nodeShape     uintptr       // of a Node: its result's shape
	flat, shape   uintptr       // of a Buffer: a slice in an any; its shape

	own   operationTable // GoMLX's operations before replacement
	asked sync.Map       // set of backends (unsafe.Pointer) that use replacements
}

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
	// The executor of calls passes its arguments to this method, whose type reflection can check.
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

// tryGo tries the internals on a buffer and a call that is never compiled.
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

// interceptedGo locates the pure-Go backend's internals; notIntercepted explains why this version cannot run the
// kernels. All backends of the process share the operation tables and read them while computing, so they change once,
// before any program computes; the new functions then check which backend runs.
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

// Intercepted returns nil if pure-Go backends run the kernels, else an error that explains why this version of GoMLX,
// left unchanged, cannot.
func Intercepted() error { return notIntercepted }

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

func runsInGo(b compute.Backend) (t *goInsides, runs bool) {
	t = interceptedGo
	return t, t != nil && reflect.TypeOf(b) == t.backend
}

type kernelCall struct {
	run     func(x, y []array)
	results []shapes.Shape
}

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

// Inputs keep their owner; result buffers come from the backend.
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

func (t *goInsides) get(backend reflect.Value, shape shapes.Shape) (unsafe.Pointer, error) {
	out := t.getBuffer.Call([]reflect.Value{backend, reflect.ValueOf(shape)})
	if err, ok := out[1].Interface().(error); ok {
		return nil, err
	}
	return out[0].UnsafePointer(), nil
}

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
