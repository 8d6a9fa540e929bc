package kernels

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/nmgnn/kernels/fused"
)

// Sum returns Σ over the entries of a row: h [columns, width] → [rows, width]. keep [slots, 1] multiplies the entries; nil:
// all ones. With gradients, the result has one towards h, and none towards keep. Where h is a product with a column of numbers that is
// cut off from differentiation, as a mask is, rows that are multiplied by zero may be left unread, and may have zeros for a gradient: it
// is multiplied by zero, too, and nobody else asks for it.
func Sum(p Product, h, keep *Node, gradients bool) *Node {
	apply, adjoint := func(h *Node) *Node { return p.Times(h, keep) }, func(v *Node) *Node { return p.Back(v, keep) }
	if some, is := p.(skipping); is {
		if factor := rowFactor(h); factor != nil {
			apply = func(h *Node) *Node { return some.timesHeard(factor, h, keep) }
			adjoint = func(v *Node) *Node { return some.backWanted(factor, v, keep) }
		}
	}
	if !gradients {
		return apply(h)
	}
	return Linear(h, p.Rows(), apply, adjoint)
}

// SumDropped returns what [Sum] does with what [Product.DropEntries] makes of the matrix's values. Where that is possible, what is dropped
// is not read.
func SumDropped(p Product, h *Node, s Stream, rate float64, gradients bool) *Node {
	some, is := p.(dropping)
	if !is || !fused.SkipsDropped(h.Graph()) {
		return Sum(p, h, p.DropEntries(s, Values(p).NodeValue(h.Graph()), 1, rate), gradients)
	}
	draw, scale := s.dropped(rate)
	apply := func(h *Node) *Node { return some.timesDropped(draw, scale, h) }
	if !gradients {
		return apply(h)
	}
	return Linear(h, p.Rows(), apply, func(v *Node) *Node { return some.backDropped(draw, scale, v) })
}

// Values returns the values of the matrix as a variable [slots, 1]: zero in padding.
func Values(p Product) *model.Variable {
	return p.Floats("value", func(m csr.Matrix) []float32 { return m.Values })
}

// dropping is a [Product] that need not read entries that are dropped: see [fused.Drop] for draw and scale.
type dropping interface {
	// timesDropped is Times with what is kept of the matrix's values.
	timesDropped(draw, scale, h *Node) *Node
	// backDropped is Back with the same.
	backDropped(draw, scale, v *Node) *Node
}

// skipping is a [Product] that need not read rows that are zero.
type skipping interface {
	// timesHeard is Times for an h that is zero in all rows where heard [columns, 1] is.
	timesHeard(heard, h, weights *Node) *Node
	// backWanted is Back with zeros in all rows where wanted [columns, 1] is zero.
	backWanted(wanted, v, weights *Node) *Node
}

// rowFactor returns the column of numbers that the rows of h were multiplied by; nil if h was not made that way, or if the column may
// have a gradient, which takes those of all rows.
func rowFactor(h *Node) *Node {
	if h.Type() != NodeTypeMul || h.Rank() != 2 || h.Shape().Dimensions[1] == 1 {
		return nil
	}
	for _, x := range h.Inputs() {
		if d := x.Shape().Dimensions; x.StopGradient() && len(d) == 2 && d[0] == h.Shape().Dimensions[0] && d[1] == 1 {
			return x
		}
	}
	return nil
}

// WeightedSum returns Σ weights_vu·h_u over the entries of a row: weights [slots, heads], h [columns, width] → [rows, width].
// Each head weighs its share of the width, in order. With gradients, the result has them towards both.
func WeightedSum(p Product, weights, h *Node, gradients bool) *Node {
	heads := weights.Shape().Dimensions[1]
	weights = Mul(weights, Valid(p, h.Graph()))
	fixed, value := StopGradient(weights), StopGradient(h)
	y := p.Times(value, fixed)
	if !gradients {
		return y
	}
	return WithAdjoints(y, Argument{h, func(v *Node) *Node { return p.Back(v, fixed) }},
		Argument{weights, func(v *Node) *Node { return p.Agreement(v, value, heads) }})
}

// Sources returns h [columns, width] at each entry's column: [slots, width].
func Sources(p Product, h *Node, gradients bool) *Node {
	if !gradients {
		return p.Gather(h)
	}
	return Linear(h, p.Slots(), p.Gather, func(v *Node) *Node { return p.TotalBack(Mul(v, Valid(p, h.Graph()))) })
}

// Targets returns h [rows, width] at each entry's row: [slots, width].
func Targets(p Product, h *Node, gradients bool) *Node {
	if !gradients {
		return p.Spread(h)
	}
	return Linear(h, p.Slots(), p.Spread, func(v *Node) *Node { return totalOf(p, v) })
}

// Total returns the sum of the entries of each row, whatever stands in padding: e [slots, width] → [rows, width].
func Total(p Product, e *Node, gradients bool) *Node {
	total := func(e *Node) *Node { return totalOf(p, e) }
	if !gradients {
		return total(e)
	}
	return Linear(e, p.Rows(), total, p.Spread)
}

func totalOf(p Product, e *Node) *Node { return p.Total(Mul(e, Valid(p, e.Graph()))) }

// RowMax returns the greatest entry of each row, 0 for rows without entries: e [slots, width] → [rows, width]. present [slots, 1]
// is 1 for the entries that count; nil: all. With gradients, entries that are equally great share the gradient.
func RowMax(p Product, e, present *Node, gradients bool) *Node {
	fixed := StopGradient(e)
	is, among := Among(p, fixed, present)
	top := p.Highest(among)
	greatest := ConvertDType(And(is, Equal(fixed, p.Spread(top))), e.DType())
	count := p.Total(greatest)
	y := Where(Equal(count, ZerosLike(count)), ZerosLike(top), top)
	if !gradients {
		return y
	}
	share := Div(greatest, p.Spread(Max(count, OnesLike(count))))
	return WithAdjoints(y, Argument{e, func(v *Node) *Node { return Mul(share, p.Spread(v)) }})
}

// Valid returns 1 for each slot that has an entry and 0 for padding: [slots, 1].
func Valid(p Product, g *Graph) *Node {
	return p.Floats("valid", func(m csr.Matrix) []float32 { return slices.Repeat([]float32{1}, m.NumEntries()) }).NodeValue(g)
}
