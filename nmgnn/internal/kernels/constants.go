package kernels

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels/fused"
)

// Constants keeps constant data in untrained variables. Unlike GoMLX's constants, these are not folded into compiled
// programs and not copied at each call.
type Constants struct {
	store  *model.Store
	path   string
	shares compute.Backend
	err    error
}

// NewConstants returns a [Constants] that makes variables below path.
func NewConstants(store *model.Store, path string) *Constants {
	return &Constants{store: store, path: path}
}

// Share puts variables made later into memory shared with b, if b supports that. A nil b changes nothing.
func (c *Constants) Share(b compute.Backend) *Constants {
	if b != nil && b.HasSharedBuffers() {
		c.shares = b
	}
	return c
}

// Zeros returns a new variable of zeros, or nil from c's first error on.
func (c *Constants) Zeros(name string, dimensions ...int) *model.Variable {
	return c.made(name, c.empty(shapes.Make(dtypes.Float32, dimensions...)))
}

// Ints returns a new variable with this data, or nil from c's first error on.
func (c *Constants) Ints(name string, data []int32, dimensions ...int) *model.Variable {
	return add(c, name, data, dimensions...)
}

// Floats returns a new variable with this data, or nil once c has an error.
func (c *Constants) Floats(name string, data []float32, dimensions ...int) *model.Variable {
	return add(c, name, data, dimensions...)
}

// Err returns the first error that occurred while making variables.
func (c *Constants) Err() error { return c.err }

func add[T int32 | uint32 | float32](c *Constants, name string, data []T, dimensions ...int) *model.Variable {
	if c.shares == nil {
		return c.made(name, tensors.FromFlatDataAndDimensions(data, dimensions...))
	}
	t := c.empty(shapes.Make(dtypes.FromGenericsType[T](), dimensions...))
	if c.err != nil {
		return nil
	}
	if c.err = gomlx.Error(tensors.AssignFlatData(t, data)); c.err != nil {
		return nil
	}
	return c.made(name, t)
}

func (c *Constants) empty(shape shapes.Shape) *tensors.Tensor {
	t, err := tensors.FromShapeForBackend(c.shares, 0, shape)
	if err != nil && c.err == nil {
		c.err = gomlx.Error(err)
	}
	return t
}

func (c *Constants) made(name string, t *tensors.Tensor) *model.Variable {
	if c.err != nil {
		return nil
	}
	variable, err := c.store.CreateVariable(model.JoinPath(c.path, name), t)
	if err == nil {
		var value *tensors.Tensor
		// The store or a checkpoint may already hold other numbers at this path.
		if value, err = variable.Value(); err == nil && value != t {
			err = variable.SetValue(t)
		}
	}
	if err != nil {
		c.err = gomlx.Error(err)
		return nil
	}
	if checkpoint, ok := c.store.Loader().(interface{ ExcludeVarsFromSaving(...*model.Variable) }); ok {
		checkpoint.ExcludeVarsFromSaving(variable)
	}
	return variable.SetTrainable(false)
}

func overwrite[T int32 | uint32 | float32](v *model.Variable, data []T) error {
	value, err := v.Value()
	if err != nil {
		return gomlx.Error(err)
	}
	if value.IsShared() {
		return gomlx.Error(tensors.AssignFlatData(value, data))
	}
	return gomlx.Error(v.SetValue(tensors.FromFlatDataAndDimensions(data, v.Shape().Dimensions...)))
}

// Fill calls fill to write a variable's numbers, in shared memory if [Constants.Share] put them there. No computation
// may use the variable meanwhile.
func Fill(v *model.Variable, fill func(flat []float32)) error {
	value, err := v.Value()
	if err != nil {
		return gomlx.Error(err)
	}
	return gomlx.Error(tensors.MutableFlatData(value, fill))
}

// Donate lets the computation overwrite variables in place with their new values, if the backend can.
func Donate(g *Graph, store *model.Store) {
	for v := range store.IterVariables() {
		if v.ChangedInGraph(g) {
			fused.Donate(g.GetParameterByName(v.Path()))
		}
	}
}

// Positions returns a uint32 matrix of these dimensions. It holds the values of stored or, if stored is nil, 0, 1, …
// counted row by row.
func Positions(g *Graph, stored *model.Variable, dimensions []int) *Node {
	if stored != nil {
		return ConvertDType(stored.NodeValue(g), dtypes.Uint32)
	}
	shape := shapes.Make(dtypes.Uint32, dimensions...)
	return Reshape(Iota(g, shapes.Make(dtypes.Uint32, shape.Size()), 0), dimensions...)
}
