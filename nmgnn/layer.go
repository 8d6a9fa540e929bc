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
	// Forward adds the layer to a computation: h [nodes, in] → [nodes, out]. Weights are made in scope, with [Weights].
	// mask [nodes, 1] holds δ and multiplies what a node contributes to others, never what it is to itself unless the
	// equation says so; nil: inactive. Layers never draw a mask of their own.
	Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node
}

// Masked is δ(u)·h_u for all u: h [nodes, width] times mask [nodes, 1], or h itself if the mask is nil.
func Masked(h, mask *Node) *Node {
	if mask == nil {
		return h
	}
	return Mul(h, mask)
}

// Weights makes a trained variable in scope and returns its value. It starts uniform in ±1/√fanIn, as PyTorch's linear
// layers do, from the trial's seed.
func Weights(scope *model.Scope, g *Graph, name string, fanIn int, dimensions ...int) *Node {
	scope.SetParam(name+boundSuffix, 1/math.Sqrt(float64(max(fanIn, 1))))
	return scope.VariableWithShape(name, shapes.Make(dtypes.Float32, dimensions...)).NodeValue(g)
}

// LinearWeights makes the weights [in, out] and biases [1, out] of a linear layer, h·w + b.
func LinearWeights(scope *model.Scope, g *Graph, in, out int) (w, b *Node) {
	return Weights(scope, g, "weights", in, in, out), Weights(scope, g, "biases", in, 1, out)
}

// boundSuffix marks the parameter that tells how wide a variable's first values spread.
const boundSuffix = "_bound"
