package nmgnn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/gomlx"
)

// Layer computes all nodes' next representations: h^(k-1) → h^(k).
type Layer interface {
	// Forward adds the layer to a computation: h [nodes, in] → [nodes, out]. It makes weights in scope with [Weights],
	// [GlorotWeights], [ZeroWeights] or VariableWithValue. Weights with equal names are the same variable. mask [nodes,
	// 1], the paper's δ, multiplies what a node contributes to other nodes. The mask multiplies a node's contribution
	// to itself only if the layer's equation says so. A nil mask masks nothing. Layers never draw masks.
	Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node
}

// Masked multiplies row u of h [nodes, width] by δ(u), from mask [nodes, 1]. A nil mask changes nothing. The mask gets
// no gradient. Methods of [Neighbours] that take a mask apply it themselves.
func Masked(h, mask *Node) *Node {
	if mask == nil {
		return h
	}
	return Mul(h, StopGradient(mask))
}

// Weights returns a trained variable in scope. Its initial values are uniform in ±1/√fanIn, as in PyTorch's linear
// layers, and drawn with the trial's seed.
func Weights(scope *model.Scope, g *Graph, name string, fanIn int, dimensions ...int) *Node {
	return gomlx.Make(scope, g, name, 0, 1/math.Sqrt(float64(max(fanIn, 1))), dimensions...).NodeValue(g)
}

// GlorotWeights returns a trained matrix [in, out] in scope. Its initial values are uniform in ±√(6/(in+out)) (Glorot
// and Bengio 2010), and drawn with the trial's seed.
func GlorotWeights(scope *model.Scope, g *Graph, name string, in, out int) *Node {
	return gomlx.Make(scope, g, name, 0, math.Sqrt(6/float64(max(in+out, 1))), in, out).NodeValue(g)
}

// ZeroWeights returns a trained variable in scope, initially zero.
func ZeroWeights(scope *model.Scope, g *Graph, name string, dimensions ...int) *Node {
	return gomlx.Make(scope, g, name, 0, 0, dimensions...).NodeValue(g)
}

func linearWeights(scope *model.Scope, g *Graph, in, out int) (w, b *Node) {
	return Weights(scope, g, "weights", in, in, out), Weights(scope, g, "biases", in, 1, out)
}
