package kernels

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/kernels/fused"
)

// Linear returns apply(x), where apply is a linear map: x [m, width] → [rows, width]. adjoint computes the gradient
// with respect to x. Without adjoint, automatic differentiation would scatter in random order, which varies the
// rounding, or transpose a matrix every epoch. Linear panics if apply returns another number of rows.
func Linear(x *Node, rows int, apply, adjoint func(*Node) *Node) *Node {
	y := apply(StopGradient(x))
	if y.Shape().Dimensions[0] != rows {
		panic(fmt.Errorf("a linear map returned %s: expected %d rows", y.Shape(), rows))
	}
	return WithAdjoints(y, Argument{x, adjoint})
}

func linear(gradients bool, x *Node, rows int, apply, adjoint func(*Node) *Node) *Node {
	if !gradients {
		return apply(x)
	}
	return Linear(x, rows, apply, adjoint)
}

// Dense returns x·w for x [rows, width] and w [width, out]. If [fused.SumsInOrder] returns true, w's gradient is summed
// over rows in a fixed order. The sum may skip rows where seen [rows, 1] is zero; in these rows, the result's gradient
// must be zero. seen may be nil.
func Dense(x, w, seen *Node) *Node {
	times := func(x, w *Node) *Node { return DotGeneral(x, []int{1}, nil, w, []int{0}, nil) }
	if !fused.SumsInOrder(x.Graph()) {
		return times(x, w)
	}
	fixed, weights := StopGradient(x), StopGradient(w)
	return WithAdjoints(times(fixed, weights),
		Argument{x, func(v *Node) *Node { return DotGeneral(v, []int{1}, nil, weights, []int{1}, nil) }},
		Argument{w, func(v *Node) *Node { return fused.Outer(fixed, v, seen) }})
}

// DenseAdjoint returns xᵀ·v for a large x [rows, width] and v [rows, out]. seen [rows, 1], if not nil, is zero for
// rows that the sum may skip; v must be zero there.
func DenseAdjoint(x, v, seen *Node) *Node {
	if fused.SumsInOrder(x.Graph()) {
		return fused.Outer(x, v, seen)
	}
	// xᵀ·v is computed as (vᵀ·x)ᵀ: XLA copies the first factor, and v is smaller than x.
	return TransposeAllAxes(DotGeneral(v, []int{0}, nil, x, []int{0}, nil), 1, 0)
}

const (
	leanParam     = "/nodemask_lean"
	completeParam = "/nodemask_complete"
)

// Lean lets a computation omit additions of zero. With zeroOne the caller promises that masks hold only 0 and 1, so
// that kernels may skip masked rows instead of multiplying by masks. Lean changes how XLA fuses operations, and so
// perhaps the rounding.
func Lean(g *Graph, zeroOne bool) { model.SetGraphParam(g, leanParam, zeroOne) }

// Complete cancels [Lean] for a computation, whether Lean is called before or after Complete.
func Complete(g *Graph) { model.SetGraphParam(g, completeParam, true) }

func lean(g *Graph) (is, zeroOne bool) {
	value, is := model.GetGraphParam(g, leanParam)
	zeroOne, _ = value.(bool)
	_, complete := model.GetGraphParam(g, completeParam)
	return is && !complete && fused.Skips(g), zeroOne
}

// Argument is an input X of a function. Adjoint returns X's gradient, given the result's gradient v.
type Argument struct {
	X       *Node
	Adjoint func(v *Node) *Node
}

// WithAdjoints returns y with custom gradients: the gradient of each argument's X is Adjoint(v), where v is y's
// gradient. Nothing else gets a gradient.
//
// GoMLX allows custom gradients on identities only. So y goes through an identity that keeps y's gradient v. Each
// argument's X goes through an identity whose gradient is Adjoint(v). Differentiation must reach y's identity before
// X's. To force this order, y depends on X: an element of X minus itself, which is 0, is added to y.
func WithAdjoints(y *Node, arguments ...Argument) *Node {
	var arrived, links *Node
	for _, a := range arguments {
		start := IdentityWithCustomGradient(a.X, func(_, _ *Node) *Node { return a.Adjoint(arrived) })
		corner := make([]SliceAxisSpec, a.X.Rank())
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
	g := y.Graph()
	linked := Add(StopGradient(y), links)
	if is, _ := lean(g); is {
		linked = Where(Const(g, false), BroadcastToDims(links, y.Shape().Dimensions...), StopGradient(y))
	}
	return IdentityWithCustomGradient(linked, func(_, v *Node) *Node {
		arrived = v
		return v
	})
}

// Remember returns a function that calls f once per node, so that gradients with respect to several arguments share
// work.
func Remember[T any](f func(v *Node) T) func(v *Node) T {
	made := map[*Node]T{}
	return func(v *Node) T {
		if _, ok := made[v]; !ok {
			made[v] = f(v)
		}
		return made[v]
	}
}

// padRows appends rows of zeros without GoMLX's Pad, which has no gradient.
func padRows(x *Node, rows int) *Node {
	missing := rows - x.Shape().Dimensions[0]
	if missing == 0 {
		return x
	}
	dimensions := slices.Clone(x.Shape().Dimensions)
	dimensions[0] = missing
	return Concatenate([]*Node{x, Zeros(x.Graph(), shapes.Make(x.DType(), dimensions...))}, 0)
}
