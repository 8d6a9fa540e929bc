package nmgnn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/variables"
)

// Layer is one update of all nodes: h^(k-1) → h^(k).
type Layer interface {
	// Forward adds the layer to a computation: h [nodes, in] → [nodes, out]. Weights are made in scope, with [Weights],
	// [GlorotWeights] or [ZeroWeights], or with the scope's VariableWithValue, to start at values of the layer's own. A
	// name used twice in a scope is one variable. mask [nodes, 1] holds δ and multiplies what a node contributes to
	// others, never what it is to itself unless the equation says so; nil: inactive. Layers never draw a mask of their
	// own.
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
	return variables.Make(scope, g, name, 0, 1/math.Sqrt(float64(max(fanIn, 1))), dimensions...).NodeValue(g)
}

// GlorotWeights makes a trained matrix [in, out] in scope and returns its value. It starts uniform in
// ±√(6/(in+out)), as Glorot and Bengio (2010) have it, from the trial's seed.
func GlorotWeights(scope *model.Scope, g *Graph, name string, in, out int) *Node {
	return variables.Make(scope, g, name, 0, math.Sqrt(6/float64(max(in+out, 1))), in, out).NodeValue(g)
}

// ZeroWeights makes a trained variable in scope that starts at zero, as biases may, and returns its value.
func ZeroWeights(scope *model.Scope, g *Graph, name string, dimensions ...int) *Node {
	return variables.Make(scope, g, name, 0, 0, dimensions...).NodeValue(g)
}

// linearWeights makes the weights [in, out] and biases [1, out] of a linear layer, h·w + b.
func linearWeights(scope *model.Scope, g *Graph, in, out int) (w, b *Node) {
	return Weights(scope, g, "weights", in, in, out), Weights(scope, g, "biases", in, 1, out)
}
