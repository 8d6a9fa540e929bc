package nmgnn

import (
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// linear applies a linear map to x [m, width], giving [rows, width], and takes the map's adjoint for its gradient. What
// automatic differentiation derives for a gather or a product is a scatter in random order, or a transposition every
// epoch; who knows the map can do better.
//
// GoMLX lets only an identity have a gradient of our own, and an identity keeps its shape. So the value comes from the
// map itself, cut off from differentiation, and the gradient travels beside it through a carrier that is x minus
// itself: exactly zero, and as tall as the taller of both.
func linear(x *Node, rows int, apply, adjoint func(*Node) *Node) *Node {
	y := StopGradient(apply(StopGradient(x)))
	tall := max(rows, x.Shape().Dimensions[0])
	carrier := IdentityWithCustomGradient(padRows(x, tall), func(_, v *Node) *Node {
		return padRows(adjoint(firstRows(v, rows)), tall)
	})
	return Add(y, firstRows(Sub(carrier, StopGradient(carrier)), rows))
}

// padRows appends rows of zeros until there are rows of them. GoMLX's Pad has no gradient; Concatenate has.
func padRows(x *Node, rows int) *Node {
	missing := rows - x.Shape().Dimensions[0]
	if missing == 0 {
		return x
	}
	dimensions := slices.Clone(x.Shape().Dimensions)
	dimensions[0] = missing
	return Concatenate([]*Node{x, Zeros(x.Graph(), shapes.Make(x.DType(), dimensions...))}, 0)
}

func firstRows(x *Node, rows int) *Node {
	if x.Shape().Dimensions[0] == rows {
		return x
	}
	return SliceAxis(x, 0, AxisRangeFromStart(rows))
}
