package fused

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// This file and operations.go rely on internals of GoMLX's pure-Go backend, and insides_xla.go on internals of go-xla.
// New releases may change internals, so only versions that were tried are accepted.

// Before adding a version of goModule to triedGo, compare the version's files
// internal/gobackend/{exec,executable,builder,buffers,ops/call,dot/matmul/nosimd*}.go with those of the last version
// listed. Then run this package's tests with -race.
const goModule = "github.com/gomlx/compute"

var triedGo = []string{"v0.1.3", "v0.1.6"}

// checkVersion returns an error unless function comes from module, in one of the versions in tried. It refuses vendored
// and replaced modules, because their paths have no version.
func checkVersion(function any, module string, tried []string) error {
	f := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
	file, _ := f.FileLine(f.Entry())
	_, after, _ := strings.Cut(file, module+"@")
	if version, _, _ := strings.Cut(after, "/"); !slices.Contains(tried, version) {
		return fmt.Errorf("%s has version %q, expected one of %v", module, version, tried)
	}
	return nil
}

// executors is GoMLX's table of functions that compute operations with several results. unsafe.Pointer stands for
// GoMLX's types Backend, Node and Buffer.
//
//go:linkname executors github.com/gomlx/compute/internal/gobackend.MultiOutputsNodeExecutors
var executors [compute.OpTypeLast]func(backend, node unsafe.Pointer, inputs []unsafe.Pointer,
	owned []bool) ([]unsafe.Pointer, error)

// kernelOp marks nodes that run kernels. GoMLX itself has no nodes of this type.
const kernelOp = compute.OpTypeInvalid

type goInsides struct {
	backend   reflect.Type
	getBuffer reflect.Value // func(*Backend, shapes.Shape) (*Buffer, error)
	// These are offsets in bytes: data and nodeShape in GoMLX's struct Node, flat and shape in Buffer.
	data        uintptr
	nodeShape   uintptr
	flat, shape uintptr

	own   operationTable // GoMLX's operations before replacement
	asked sync.Map       // set of pointers to backends that [Hasten] changed
}

func locate(b compute.Backend) (*goInsides, error) {
	x, err := b.Builder("nodemask").Main().Parameter("x", shapes.Make(dtypes.Float32, 1), nil)
	if err != nil {
		return nil, err
	}
	t := &goInsides{backend: reflect.TypeOf(b)}
	get, _ := t.backend.MethodByName("GetBuffer")
	t.getBuffer = get.Func
	offset := func(of reflect.Type, name string) uintptr {
		f, _ := of.Elem().FieldByName(name)
		return f.Offset
	}
	t.data, t.nodeShape = offset(reflect.TypeOf(x), "Data"), offset(reflect.TypeOf(x), "Shape")
	t.flat, t.shape = offset(get.Type.Out(0), "Flat"), offset(get.Type.Out(0), "RawShape")
	return t, nil
}

// interceptedGo gives access to internals of GoMLX's pure-Go backend. notIntercepted is nil, or says why the kernels
// cannot run with this version of GoMLX. installGo runs only at program start, because it changes GoMLX's tables of
// operations, which running backends read.
var interceptedGo, notIntercepted = installGo()

func installGo() (t *goInsides, err error) {
	if err = checkVersion(gobackend.New, goModule, triedGo); err == nil {
		var b compute.Backend
		if b, err = gobackend.New("ops_sequential"); err == nil {
			defer b.Finalize()
			t, err = locate(b)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the Go backend cannot run our kernels: %w", err)
	}
	executors[kernelOp] = func(backend, node unsafe.Pointer, inputs []unsafe.Pointer,
		_ []bool) ([]unsafe.Pointer, error) {
		call := (*(*any)(unsafe.Add(node, t.data))).(*kernelCall)
		return t.execute(call, reflect.NewAt(t.backend.Elem(), backend), inputs)
	}
	t.hasten()
	return t, nil
}

// Intercepted returns an error if this version of GoMLX's pure-Go backend cannot run the kernels.
func Intercepted() error { return notIntercepted }

func runsInGo(b compute.Backend) (t *goInsides, runs bool) {
	t = interceptedGo
	return t, t != nil && reflect.TypeOf(b) == t.backend
}

type kernelCall struct {
	run     func(x, y []array)
	results []shapes.Shape
}

func (t *goInsides) replace(results []*Node, kernel func(x, y []array)) {
	replaced := &kernelCall{run: kernel}
	for _, y := range results {
		replaced.results = append(replaced.results, y.Shape())
	}
	result := reflect.ValueOf(InternalBackendOutputs(results[0])[0]).Elem()
	call := result.FieldByName("Inputs").Index(0).Elem()
	call.FieldByName("Data").Set(reflect.ValueOf(replaced))
	call.FieldByName("OpType").Set(reflect.ValueOf(kernelOp))
}

// execute runs call's kernel into results that the backend allocates, and does not free inputs.
func (t *goInsides) execute(call *kernelCall, backend reflect.Value,
	inputs []unsafe.Pointer) ([]unsafe.Pointer, error) {
	x, y := make([]array, len(inputs)), make([]array, len(call.results))
	results := make([]unsafe.Pointer, len(call.results))
	for i, buffer := range inputs {
		x[i] = t.array(buffer)
	}
	for i, shape := range call.results {
		var err error
		if results[i], err = t.get(backend, shape); err != nil {
			return nil, err
		}
		y[i] = t.array(results[i])
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

func (t *goInsides) array(buffer unsafe.Pointer) array {
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
