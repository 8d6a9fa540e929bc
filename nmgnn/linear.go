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
// computed from is cut off from differentiation; call it once for each argument that needs a gradient.
//
// GoMLX lets only an identity have such a gradient, and an identity keeps its shape. So the value comes from y, and the
// gradient travels beside it through a carrier that is x minus itself: exactly zero, and as tall as the taller of both.
func withAdjoint(y, x *Node, adjoint func(v *Node) *Node) *Node {
	flat := x.Rank() != 2 || y.Rank() != 2 || x.Shape().Dimensions[1] != y.Shape().Dimensions[1]
	column := func(n *Node) *Node {
		if flat {
			return Reshape(n, n.Shape().Size(), 1)
		}
		return n
	}
	carried, shape := column(x), y.Shape()
	rows := shape.Dimensions[0]
	if flat {
		rows = shape.Size()
	}
	tall := max(rows, carried.Shape().Dimensions[0])
	carrier := IdentityWithCustomGradient(padRows(carried, tall), func(_, v *Node) *Node {
		return padRows(column(adjoint(Reshape(firstRows(v, rows), shape.Dimensions...))), tall)
	})
	zero := Reshape(firstRows(Sub(carrier, StopGradient(carrier)), rows), shape.Dimensions...)
	return Add(StopGradient(y), zero)
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
