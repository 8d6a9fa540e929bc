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

// Before adding a version to triedXLA, compare its files stablehlo/{customcall,statement,value}.go and
// compute/xla/{backend,builder,ops}.go with those of the last version listed, and run this package's tests.
const xlaModule = "github.com/gomlx/go-xla"

var triedXLA = []string{"v0.4.1", "v0.4.5"}

func checkXLA() error { return checkVersion(stablehlo.CustomCallV2, xlaModule, triedXLA) }

func pointer[T, S any](s *S, name string) *T {
	return (*T)(reflect.ValueOf(s).Elem().FieldByName(name).UnsafePointer())
}

// Platform returns XLA's name for a backend's platform, such as "cpu" or "cuda", or an error for other backends and
// unsupported versions of go-xla.
func Platform(b compute.Backend) (string, error) {
	x, ok := b.(*xla.Backend)
	if !ok {
		return "", fmt.Errorf("%s is not an XLA backend", b.Name())
	}
	if err := checkXLA(); err != nil {
		return "", fmt.Errorf("go-xla does not tell the platform: %w", err)
	}
	return pointer[pjrt.Client](x, "client").Platform(), nil
}

// registered has a function for each plugin. The function registers the kernels at its first call, because a plugin
// accepts them only once in a process.
var registered sync.Map // *pjrt.Plugin → func() error

// Register makes XLA on a CPU run the kernels, or returns an error if it cannot. plugin is the backend's plugin file.
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
	p, err := pjrt.GetPlugin(x.PluginName())
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

// Donate lets XLA overwrite a parameter with its new value, instead of allocating memory. It is needed because go-xla
// ignores GoMLX's request to donate inputs. On other backends Donate does nothing.
func Donate(parameter *Node) {
	node, ok := InternalBackendOutputs(parameter)[0].(*xla.Node)
	if !ok || checkXLA() != nil {
		return
	}
	if value := pointer[stablehlo.Value](node, "value"); value.OpName() == stablehlo.InputParameterName {
		value.Attributes = map[string]any{"jax.buffer_donor": true}
	}
}

// makeForeign turns the call that returns result into a call of the kernel. It changes the call's operation in place,
// since other operations may already use the results.
func makeForeign(kernel string, result compute.Value) error {
	call := pointer[stablehlo.Statement](pointer[stablehlo.Value](result.(*xla.Node), "value"), "stmt")
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
	custom := function.Statements[before]
	function.Statements = function.Statements[:before]
	custom.Attributes["api_version"] = int32(4) // XLA's typed interface
	call.OpType, call.Attributes = custom.OpType, custom.Attributes
	return nil
}
