package nmgnn

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// linear applies a linear map to x [m, width], giving [rows, width], and takes the map's adjoint for its gradient. What
// automatic differentiation derives for a gather or a product is a scatter in random order, or a transposition every
// epoch; who knows the map can do better.
func linear(x *Node, rows int, apply, adjoint func(*Node) *Node) *Node {
	y := apply(StopGradient(x))
	if y.Shape().Dimensions[0] != rows {
		panic(fmt.Errorf("a linear map gives %s where %d rows were announced", y.Shape(), rows))
	}
	return withAdjoint(y, x, adjoint)
}

// withAdjoint is y, a function of x, with a gradient of our own towards x: v [y's shape] → [x's shape]. What y was
// computed from is cut off from differentiation.
func withAdjoint(y, x *Node, adjoint func(v *Node) *Node) *Node {
	return withAdjoints(y, argument{x, adjoint})
}

// argument is what a function is computed from, and the gradient of our own towards it: v [the function's shape] → [x's shape].
type argument struct {
	x       *Node
	adjoint func(v *Node) *Node
}

// withAdjoints is y, a function of arguments, with gradients of our own.
//
// GoMLX lets only an identity have such a gradient, and an identity keeps its shape. So there are two: one on y, where v
// arrives, and one on each x, where the gradient sets out. What links them is one number of x minus itself; the gradient that
// comes back by this way is ignored, and never computed.
func withAdjoints(y *Node, arguments ...argument) *Node {
	var arrived, links *Node
	for _, a := range arguments {
		start := IdentityWithCustomGradient(a.x, func(_, _ *Node) *Node { return a.adjoint(arrived) })
		corner := make([]SliceAxisSpec, a.x.Rank())
		for i := range corner {
			corner[i] = AxisElem(0)
		}
		link := Reshape(Slice(start, corner...))
		if link = Sub(link, StopGradient(link)); links == nil {
			links = link
		} else {
			links = Add(links, link)
		}
	}
	return IdentityWithCustomGradient(Add(StopGradient(y), links), func(_, v *Node) *Node {
		arrived = v
		return v
	})
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
