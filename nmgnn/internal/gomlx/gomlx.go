// Package gomlx compiles GoMLX programs, shortens GoMLX's errors to one line, frees results, and keeps weights in
// stores.
package gomlx

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
)

// Error returns an error that wraps err and whose message is err's first line, without GoMLX's stack trace. It returns
// nil for nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return brief{err}
}

type brief struct{ error }

func (b brief) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.error.Error()), "\n")
	return line
}

func (b brief) Unwrap() error { return b.error }

// Guard must be deferred. If the deferring function panics with an error, Guard stores the error in err, prefixed with
// the parameter doing. A panic with another value is a bug and continues.
func Guard(err *error, doing string) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("%s: %w", doing, Error(r))
	default:
		panic(r)
	}
}

// CheckOpen returns an error if the backend is nil or finalized.
func CheckOpen(b compute.Backend) error {
	if b == nil || b.IsFinalized() {
		return errors.New("the backend is closed, or was never opened: open one with backend.Open")
	}
	return nil
}

// Compile compiles the computation that the function build makes, for inputs of these shapes. build may use the store's
// variables. Errors name the backend by id.
func Compile[F model.ExecGraphFn](b compute.Backend, id string, store *model.Store, build F,
	inputs ...shapes.Shape) (*model.Exec, error) {
	if err := CheckOpen(b); err != nil {
		return nil, err
	}
	exec, err := model.NewExec(b, store, build)
	if err != nil {
		return nil, Error(err)
	}
	if _, err := exec.Compile(inputs...); err != nil {
		exec.Finalize()
		return nil, fmt.Errorf("compiling for %s: %w", id, Error(err))
	}
	return exec, nil
}

// Matrices copies a program's outputs, each [rows, width], to the host and frees the outputs.
func Matrices[M ~matrix](outputs []*tensors.Tensor) ([]M, error) {
	defer Finalize(outputs)
	all := make([]M, len(outputs))
	for i, output := range outputs {
		values, err := tensors.CopyFlatData[float32](output)
		if err != nil {
			return nil, fmt.Errorf("reading layer %d: %w", i+1, Error(err))
		}
		all[i] = M(matrix{output.Shape().Dimensions[0], output.Shape().Dimensions[1], values})
	}
	return all, nil
}

// matrix is like infer.Representation, which this package cannot import.
type matrix = struct {
	Rows, Width int
	Values      []float32
}

// Finalize frees the outputs of a computation at once, instead of when Go collects them.
func Finalize(outputs []*tensors.Tensor) {
	for _, output := range outputs {
		output.MustFinalizeAll()
	}
}

// HostRandom returns a generator, on the host, for the random numbers of one purpose. As no two purposes share a
// generator, runs with and without masking get the same initial weights and dropped features.
func HostRandom(seed uint64, purpose string) *rand.Rand { return rand.New(HostSource(seed, purpose)) }

// HostSource returns the generator behind [HostRandom], whose state can be saved.
func HostSource(seed uint64, purpose string) *rand.PCG {
	// FNV-1a of the purpose is stable across versions and platforms, unlike maphash.
	h := uint64(14695981039346656037)
	for i := range len(purpose) {
		h = (h ^ uint64(purpose[i])) * 1099511628211
	}
	return rand.NewPCG(seed, h)
}

// Training changes the variables below ModelScope. Graphs are stored below DataScope.
const (
	ModelScope = "model"
	DataScope  = "data"
)

// weight is like infer.Weight, which this package cannot import.
type weight = struct {
	Path       string
	Dimensions []int
	Values     []float32
}

// Make makes a variable whose initial values are drawn uniformly from middle ± bound.
func Make(scope *model.Scope, g *graph.Graph, name string, middle, bound float64, dimensions ...int) *model.Variable {
	if _, ok := model.GetGraphParam(g, othersParam); !ok {
		scope.SetParam(name+firstSuffix, first{middle, bound})
	}
	start := initializer.RandomUniformFn(scope, middle-bound, middle+bound)
	if bound == 0 {
		start = func(g *graph.Graph, shape shapes.Shape) *graph.Node {
			return graph.BroadcastToShape(graph.Scalar(g, shape.DType, middle), shape)
		}
	}
	return scope.WithInitializer(start).VariableWithShape(name, shapes.Make(dtypes.Float32, dimensions...))
}

// othersParam marks computations that GoMLX's trainers build. In these, [Make] does not store a variable's range of
// initial values in the scope, because GoMLX's checkpoints would save the range.
const othersParam = "/nodemask_others"

// LeaveToOthers lets GoMLX, not [FirstValue], initialise the variables that are made later in g.
func LeaveToOthers(g *graph.Graph) { model.SetGraphParam(g, othersParam, true) }

const firstSuffix = "_first"

type first struct{ middle, bound float64 }

// IsMade reports whether [Make] made the variable.
func IsMade(store *model.Store, v *model.Variable) bool {
	_, ok := store.GetParam(v.Path() + firstSuffix)
	return ok
}

// FirstValue returns a variable's initial values, drawn from the seed on the host, so that all backends agree.
func FirstValue(store *model.Store, v *model.Variable, seed uint64) (*tensors.Tensor, error) {
	shape := v.Shape()
	if shape.DType != dtypes.Float32 {
		return nil, fmt.Errorf("variable %s is of type %s: expected float32, which models are made of", v.Path(),
			shape.DType)
	}
	noted, _ := store.GetParam(v.Path() + firstSuffix)
	from, ok := noted.(first)
	if !ok && shape.Rank() >= 2 {
		from.bound = math.Sqrt(6 / float64(shape.Dimensions[shape.Rank()-2]+shape.Dimensions[shape.Rank()-1]))
	}
	values, r := make([]float32, shape.Size()), HostRandom(seed, "weights"+v.Path())
	for i := range values {
		values[i] = float32(from.middle + (2*r.Float64()-1)*from.bound)
	}
	return tensors.FromFlatDataAndDimensions(values, shape.Dimensions...), nil
}

// IsWeight reports whether a variable is a model's weight or running statistic.
func IsWeight(v *model.Variable) bool { return strings.HasPrefix(v.Path(), "/"+ModelScope+"/") }

// WeightsOf returns a copy of the store's weights.
func WeightsOf[W ~weight](store *model.Store) ([]W, error) {
	var all []W
	for v := range store.IterVariables() {
		if !IsWeight(v) {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Path(), Error(err))
		}
		w := weight{Path: v.Path(), Dimensions: slices.Clone(v.Shape().Dimensions)}
		if w.Values, err = tensors.CopyFlatData[float32](value); err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Path(), Error(err))
		}
		all = append(all, W(w))
	}
	return all, nil
}

// SetWeights copies the given weights to the store. It returns an error if one of the store's weights is not given, or
// if a shape differs.
func SetWeights[W ~weight](store *model.Store, all []W) error {
	weights := make(map[string]weight, len(all))
	for _, w := range all {
		weights[weight(w).Path] = weight(w)
	}
	for v := range store.IterVariables() {
		if !IsWeight(v) {
			continue
		}
		w, ok := weights[v.Path()]
		if !ok || !slices.Equal(v.Shape().Dimensions, w.Dimensions) {
			return fmt.Errorf("the model has no weights %s of shape %v: they belong to other settings or features",
				v.Path(), v.Shape().Dimensions)
		}
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(w.Values, w.Dimensions...)); err != nil {
			return fmt.Errorf("variable %s: %w", w.Path, Error(err))
		}
	}
	return nil
}
