//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/gomlx/go-xla/stablehlo"
	. "github.com/gomlx/gomlx/core/graph"
)

// statementsOf is where a backend's function, as a struct, keeps its statements; nil if it is not go-xla's.
func statementsOf(function reflect.Value) *stablehlo.Function {
	if function.Kind() != reflect.Struct {
		return nil
	}
	if v := function.FieldByName("fn"); v.IsValid() && v.Type() == reflect.TypeFor[*stablehlo.Function]() {
		return (*stablehlo.Function)(v.UnsafePointer())
	}
	return nil
}

// takesForeign says whether a computation is built for a plugin that knows the kernels.
func takesForeign(g *Graph) (takes bool) {
	if statementsOf(backendFunction(g)) == nil {
		return false
	}
	about := g.Backend().Description() // it names the plugin's file
	registered.Range(func(plugin, register any) bool {
		takes = strings.Contains(about, plugin.(string)) && register.(func() error)() == nil
		return !takes
	})
	return takes
}

// makeForeign makes the last statement of the function that is being built, a call, one of a foreign function. go-xla can write
// such statements but lets nobody ask for them; statements themselves are public, and what leads to them is found by
// reflection.
func makeForeign(g *Graph, kernel string) error {
	function := statementsOf(backendFunction(g))
	if function == nil {
		return fmt.Errorf("the backend %q takes no functions of others", g.Backend().Name())
	}
	statements := function.Statements
	if len(statements) == 0 {
		return errors.New("there is no statement")
	}
	call := statements[len(statements)-1]
	if call.OpType.String() != "Call" {
		return fmt.Errorf("the last statement is %s, not Call", call.OpType)
	}
	for kind := reflect.ValueOf(&call.OpType).Elem(); call.OpType.String() != "CustomCall"; {
		if kind.SetInt(kind.Int() + 1); kind.Int() > 1000 {
			return errors.New("this version of go-xla has no custom calls")
		}
	}
	layouts := func(n int) literal {
		return literal("[" + strings.TrimSuffix(strings.Repeat("dense<[1, 0]> : tensor<2xindex>, ", n), ", ") + "]")
	}
	call.Attributes = map[string]any{
		"call_target_name": kernel,
		"api_version":      int32(4), // the typed interface
		"operand_layouts":  layouts(len(call.Inputs)),
		"result_layouts":   layouts(len(call.Outputs)),
	}
	return nil
}

// literal is an attribute as it is written.
type literal string

// ToStableHLO is how go-xla asks for it.
func (l literal) ToStableHLO() string { return string(l) }
