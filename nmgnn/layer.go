package nmgnn

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Layer is one update of all nodes: h^(k-1) → h^(k).
type Layer interface {
	// Forward adds the layer to a computation: h [nodes, in] → [nodes, out]. Weights are made in scope, with [Weights],
	// [GlorotWeights] or [ZeroWeights]. mask [nodes, 1] holds δ and multiplies what a node contributes to others, never
	// what it is to itself unless the equation says so; nil: inactive. Layers never draw a mask of their own.
	Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node
}

// Masked returns δ(u)·h_u for all u: h [nodes, width] times mask [nodes, 1], or h itself if the mask is nil. The mask
// has no gradient. It is for what is more than a sum, a mean, a maximum or attention over [Neighbours]: these take the
// mask themselves.
func Masked(h, mask *Node) *Node {
	if mask == nil {
		return h
	}
	return Mul(h, StopGradient(mask))
}

// Weights makes a trained variable in scope and returns its value. It starts uniform in ±1/√fanIn, as PyTorch's
// linear layers do, from the trial's seed.
func Weights(scope *model.Scope, g *Graph, name string, fanIn int, dimensions ...int) *Node {
	return weights(scope, g, name, 1/math.Sqrt(float64(max(fanIn, 1))), dimensions)
}

// GlorotWeights makes a trained matrix [in, out] in scope and returns its value. It starts uniform in
// ±√(6/(in+out)), as Glorot and Bengio (2010) have it, from the trial's seed.
func GlorotWeights(scope *model.Scope, g *Graph, name string, in, out int) *Node {
	return weights(scope, g, name, math.Sqrt(6/float64(max(in+out, 1))), []int{in, out})
}

// ZeroWeights makes a trained variable in scope that starts at zero, as biases may, and returns its value.
func ZeroWeights(scope *model.Scope, g *Graph, name string, dimensions ...int) *Node {
	return weights(scope, g, name, 0, dimensions)
}

func weights(scope *model.Scope, g *Graph, name string, bound float64, dimensions []int) *Node {
	return variable(scope, name, 0, bound, dimensions...).NodeValue(g)
}

// SetTrials has a model in the store hold the weights of so many trials side by side: [trials, dimensions…]. Nodes'
// rows are then those of one trial after the other, as [LoadOptions].Trials has them.
func SetTrials(store *model.Store, trials int) { store.SetParam("/"+trialsKey, trials) }

const trialsKey = "trials"

// variable makes a variable that starts uniform in middle ± bound.
func variable(scope *model.Scope, name string, middle, bound float64, dimensions ...int) *model.Variable {
	scope.SetParam(name+firstSuffix, first{middle, bound})
	if trials, found := scope.GetParam(trialsKey); found {
		dimensions = append([]int{trials.(int)}, dimensions...)
	}
	return scope.VariableWithShape(name, shapes.Make(dtypes.Float32, dimensions...))
}

// linearWeights makes the weights [in, out] and biases [1, out] of a linear layer, h·w + b.
func linearWeights(scope *model.Scope, g *Graph, in, out int) (w, b *Node) {
	return Weights(scope, g, "weights", in, in, out), Weights(scope, g, "biases", in, 1, out)
}

// firstSuffix marks the parameter that tells where a variable's first values are drawn from.
const firstSuffix = "_first"

type first struct{ middle, bound float64 }

// FirstValues returns where the first values of the variable at a path are drawn from: uniform in middle ± bound, as
// [Weights] and its siblings noted in the store; not found for variables made otherwise.
func FirstValues(store *model.Store, path string) (middle, bound float64, found bool) {
	value, _ := store.GetParam(path + firstSuffix)
	from, found := value.(first)
	return from.middle, from.bound, found
}
