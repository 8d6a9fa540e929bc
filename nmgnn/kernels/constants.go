package kernels

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/gomlx"
)

// Constants makes variables of a model that are not trained. Data lives in variables, not in the program, so that it is
// neither folded at compile time nor copied at every call.
type Constants struct {
	store *model.Store
	path  string
	err   error // the first one
}

// NewConstants returns a maker of constants below a path of the store.
func NewConstants(store *model.Store, path string) *Constants {
	return &Constants{store: store, path: path}
}

// Ints makes a variable with these dimensions, or returns nil: Err says why.
func (c *Constants) Ints(name string, data []int32, dimensions ...int) *model.Variable {
	return c.add(name, tensors.FromFlatDataAndDimensions(data, dimensions...))
}

// Floats makes a variable with these dimensions, or returns nil: Err says why.
func (c *Constants) Floats(name string, data []float32, dimensions ...int) *model.Variable {
	return c.add(name, tensors.FromFlatDataAndDimensions(data, dimensions...))
}

// Err returns the first error that making a variable met.
func (c *Constants) Err() error { return c.err }

func (c *Constants) add(name string, t *tensors.Tensor) *model.Variable {
	variable, err := c.store.CreateVariable(model.JoinPath(c.path, name), t)
	if err != nil {
		if c.err == nil {
			c.err = gomlx.Error(err)
		}
		return nil
	}
	return variable.SetTrainable(false)
}

// Fill lets fill write a variable's numbers where the backend computes with them, if it shares memory with the host: then they are
// there once. Nothing may be computing with them meanwhile.
func Fill(b compute.Backend, v *model.Variable, fill func(flat []float32)) error {
	value, err := v.Value()
	if err != nil {
		return gomlx.Error(err)
	}
	if b.HasSharedBuffers() && !value.IsShared() {
		if value, err = tensors.FromShapeForBackend(b, 0, v.Shape()); err != nil {
			return gomlx.Error(err)
		}
		if err := v.SetValue(value); err != nil {
			return gomlx.Error(err)
		}
	}
	return gomlx.Error(tensors.MutableFlatData(value, fill))
}

// Positions returns the positions of a matrix's entries as uint32 [dimensions…]: those stored, or 0, 1, … if stored is nil.
func Positions(g *Graph, stored *model.Variable, dimensions []int) *Node {
	if stored != nil {
		return ConvertDType(stored.NodeValue(g), dtypes.Uint32)
	}
	shape := shapes.Make(dtypes.Uint32, dimensions...)
	return Reshape(Iota(g, shapes.Make(dtypes.Uint32, shape.Size()), 0), dimensions...)
}
