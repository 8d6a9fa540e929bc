package kernels

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/internal/kernels/fused"
)

// Linear applies a linear map to x [m, width] → [rows, width], with adjoint as its gradient: automatic differentiation
// would scatter in random order or transpose every epoch. It panics if apply returns another number of rows.
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

// Dense returns x·w, x [rows, width], w [width, out]; gradients sum in a fixed order if [fused.SumsInOrder]. The
// result's gradient must be zero in rows where seen [rows, 1] is zero; seen may be nil.
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

// DenseAdjoint returns xᵀ·v, x [rows, width], v [rows, out], for large x. v must be zero in rows where seen [rows, 1]
// is zero; seen may be nil.
func DenseAdjoint(x, v, seen *Node) *Node {
	if fused.SumsInOrder(x.Graph()) {
		return fused.Outer(x, v, seen)
	}
	// (vᵀ·X)ᵀ = Xᵀ·v: XLA copies the first factor, which should be the smaller one.
	return TransposeAllAxes(DotGeneral(v, []int{0}, nil, x, []int{0}, nil), 1, 0)
}

const leanParam = "/nodemask_lean"

// Lean lets a computation omit additions of zero and, if zeroOne (masks hold only 0 and 1), multiplications by masks.
// XLA then fuses differently, which may change rounding, and so batch normalization's digits.
func Lean(g *Graph, zeroOne bool) { model.SetGraphParam(g, leanParam, zeroOne) }

func lean(g *Graph) (is, zeroOne bool) {
	value, is := model.GetGraphParam(g, leanParam)
	zeroOne, _ = value.(bool)
	return is && fused.Skips(g), zeroOne
}

// Argument is an input of a function; Adjoint maps the result's gradient to X's gradient.
type Argument struct {
	X       *Node
	Adjoint func(v *Node) *Node
}

// WithAdjoints returns y with these gradients towards its arguments, and no others.
//
// GoMLX allows custom gradients on identities only. So an identity on y receives v, y's gradient, and an identity on
// each x returns Adjoint(v). An element of x minus itself links both; the link's gradient is never computed.
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

// Remember returns f, computed once per node, so that gradients towards several arguments share work.
func Remember[T any](f func(v *Node) T) func(v *Node) T {
	made := map[*Node]T{}
	return func(v *Node) T {
		if _, ok := made[v]; !ok {
			made[v] = f(v)
		}
		return made[v]
	}
}

// GoMLX's Pad has no gradient; Concatenate has.
func padRows(x *Node, rows int) *Node {
	missing := rows - x.Shape().Dimensions[0]
	if missing == 0 {
		return x
	}
	dimensions := slices.Clone(x.Shape().Dimensions)
	dimensions[0] = missing
	return Concatenate([]*Node{x, Zeros(x.Graph(), shapes.Make(x.DType(), dimensions...))}, 0)
}
