//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"
	"github.com/gomlx/go-xla/stablehlo"
	xlashapes "github.com/gomlx/go-xla/types/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Unexported fields of go-xla. To try another version, compare stablehlo/{customcall,statement,value}.go and
// compute/xla/{backend,builder,ops}.go, and run this package's tests, which list the versions tried.
const (
	valueOfNode      = "value"  // of an xla.Node: its *stablehlo.Value
	statementOfValue = "stmt"   // of a stablehlo.Value: its *stablehlo.Statement
	clientOfBackend  = "client" // of an xla.Backend: its *pjrt.Client
)

func checkXLA() error {
	return checkTypes(reflect.TypeFor[xla.Node](), reflect.TypeFor[stablehlo.Value](), reflect.TypeFor[xla.Backend]())
}

func checkTypes(node, value, backend reflect.Type) error {
	for _, known := range []struct {
		of   reflect.Type
		name string
		is   reflect.Type
	}{
		{node, valueOfNode, reflect.TypeFor[*stablehlo.Value]()},
		{value, statementOfValue, reflect.TypeFor[*stablehlo.Statement]()},
		{backend, clientOfBackend, reflect.TypeFor[*pjrt.Client]()},
	} {
		if _, err := field(known.of, known.name, known.is); err != nil {
			return err
		}
	}
	return nil
}

// pointer returns a struct's pointer field, or an error if it is missing, nil or of another type.
func pointer[T, S any](of *S, name string) (*T, error) {
	if _, err := field(reflect.TypeFor[S](), name, reflect.TypeFor[*T]()); err != nil {
		return nil, err
	}
	p := (*T)(reflect.ValueOf(of).Elem().FieldByName(name).UnsafePointer())
	if p == nil {
		return nil, fmt.Errorf("%T.%s is nil", *of, name)
	}
	return p, nil
}

// Platform returns XLA's name for a backend's platform, such as "cpu" or "cuda", or an error for other backends and
// unsupported versions of go-xla.
func Platform(b compute.Backend) (string, error) {
	x, ok := b.(*xla.Backend)
	if !ok {
		return "", fmt.Errorf("%s is not an XLA backend", b.Name())
	}
	client, err := pointer[pjrt.Client](x, clientOfBackend)
	if err != nil {
		return "", fmt.Errorf("go-xla does not tell the platform: %w", err)
	}
	return client.Platform(), nil
}

// Registration works once per plugin and lasts as long as the process.
var registered sync.Map // *pjrt.Plugin → func() error

// Register makes XLA on a CPU run the kernels, or returns an error if it cannot; plugin is the backend's plugin file.
// Repeated calls are allowed.
func Register(b compute.Backend, plugin string) error {
	if err := register(b, plugin); err != nil {
		return fmt.Errorf("XLA cannot call our kernels: %w", err)
	}
	return nil
}

func register(b compute.Backend, plugin string) error {
	x, ok := b.(*xla.Backend)
	if !ok {
		return fmt.Errorf("%s is not an XLA backend", b.Name())
	}
	if err := checkXLA(); err != nil {
		return err
	}
	p, err := pjrt.GetPlugin(x.PluginName()) // already loaded, one per name
	if err != nil {
		return err
	}
	if p.Path() != plugin {
		return fmt.Errorf("the backend's plugin is %s, not %s", p.Path(), plugin)
	}
	if platform, err := Platform(b); err != nil {
		return err
	} else if platform != "cpu" {
		return fmt.Errorf("they run on a CPU, and the backend on %s", platform)
	}
	handlers, _ := registered.LoadOrStore(p, sync.OnceValue(func() error { return registerHandlers(plugin) }))
	return handlers.(func() error)()
}

func takesForeign(b compute.Backend) bool {
	x, ok := b.(*xla.Backend)
	if !ok {
		return false
	}
	p, err := pjrt.GetPlugin(x.PluginName())
	if err != nil {
		return false
	}
	handlers, found := registered.Load(p)
	return found && handlers.(func() error)() == nil
}

// Donate lets XLA overwrite a parameter with its new value. GoMLX donates buffers of changed variables, but go-xla does
// not mark them in the program, so XLA would allocate again. Other backends ignore it.
func Donate(parameter *Node) {
	node, ok := InternalBackendOutputs(parameter)[0].(*xla.Node)
	if !ok {
		return
	}
	value, err := pointer[stablehlo.Value](node, valueOfNode)
	if err == nil && value.OpName() == stablehlo.InputParameterName {
		value.Attributes = map[string]any{"jax.buffer_donor": true}
	}
}

func makeForeign(kernel string, results []compute.Value) error {
	var call *stablehlo.Statement
	for i, result := range results {
		node, ok := result.(*xla.Node)
		if !ok {
			return fmt.Errorf("result %d is a %T, not XLA's", i, result)
		}
		value, err := pointer[stablehlo.Value](node, valueOfNode)
		if err == nil {
			call, err = pointer[stablehlo.Statement](value, statementOfValue) // nil for parameters
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
		if call.OpType.String() != "Call" || len(call.Outputs) != len(results) || call.Outputs[i] != value {
			return fmt.Errorf("result %d is that of %s, expected a call with %d results", i, call.OpType, len(results))
		}
	}
	// go-xla's custom call uses an older interface and makes new results, while other statements may hold the dummy
	// call's. So only the dummy call's operation is replaced.
	function := call.Function
	before := len(function.Statements)
	rowMajor := func(n int) [][]int { return make([][]int, n) }
	outputs := make([]xlashapes.Shape, len(call.Outputs))
	for i, output := range call.Outputs {
		outputs[i] = output.Shape()
	}
	if _, err := stablehlo.CustomCallV2(kernel, "", call.Inputs, rowMajor(len(call.Inputs)), outputs,
		rowMajor(len(outputs))); err != nil {
		return err
	}
	if len(function.Statements) != before+1 {
		return fmt.Errorf("a custom call is %d statements, expected 1", len(function.Statements)-before)
	}
	custom := function.Statements[before]
	function.Statements = function.Statements[:before]
	custom.Attributes["api_version"] = int32(4) // XLA's typed interface
	call.OpType, call.Attributes = custom.OpType, custom.Attributes
	return nil
}
