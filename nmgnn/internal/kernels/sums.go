package kernels

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
)

// Sum returns Σ_u keep_vu·mask_u·h_u over the entries (v, u) of each row v of p: h [columns, width], mask [columns, 1],
// keep [entries+padding, 1] → [rows, width]. Only h gets a gradient. Rows of h whose mask is zero may be skipped.
func Sum(p Product, h, mask, keep *Node, gradients bool) *Node {
	h, factor := masked(p.fused, h, mask)
	return linear(gradients, h, p.Rows(), func(h *Node) *Node { return p.Times(h, factor, keep) },
		func(v *Node) *Node { return p.Back(v, factor, keep) })
}

// masked returns arguments for [Product.Times] to multiply its matrix by mask·h. If the fused kernel may skip masked
// rows, input is h and factor is the mask. Otherwise, input is mask·h, and factor affects only speed: factor is the
// mask if this is faster, else nil.
func masked(fused bool, h, mask *Node) (input, factor *Node) {
	if mask == nil {
		return h, nil
	}
	mask = StopGradient(mask)
	if h.Shape().Dimensions[1] > 1 {
		factor = mask
		if is, zeroOne := lean(h.Graph()); fused && is && zeroOne {
			return h, factor
		}
	}
	return Mul(h, mask), factor
}

// Values returns the matrix's values as a variable [entries+padding, 1], with 0 in padding.
func Values(p Product) *model.Variable {
	return p.Floats("value", func(m csr.Matrix) []float32 { return m.Values })
}

// WeightedSum returns Σ_u weights_vu·h_u over the entries (v, u) of each row v of p: weights [entries+padding, heads],
// h [columns, width] → [rows, width]. Each head weighs its own width/heads columns of h. If gradients is true, weights
// and h get gradients.
func WeightedSum(p Product, weights, h *Node, gradients bool) *Node {
	heads := weights.Shape().Dimensions[1]
	weights = Mul(weights, Valid(p, h.Graph()))
	fixed, value := StopGradient(weights), StopGradient(h)
	y := p.Times(value, nil, fixed)
	if !gradients {
		return y
	}
	return WithAdjoints(y, Argument{h, func(v *Node) *Node { return p.Back(v, nil, fixed) }},
		Argument{weights, func(v *Node) *Node { return p.Agreement(v, value, heads) }})
}

// Sources returns row u of h for each entry (v, u) of p: h [columns of p, width] → [entries+padding, width].
func Sources(p Product, h *Node, gradients bool) *Node {
	return linear(gradients, h, p.Slots(), p.Gather,
		func(v *Node) *Node { return p.TotalBack(Mul(v, Valid(p, h.Graph()))) })
}

// Targets returns row v of h for each entry (v, u) of p: h [rows of p, width] → [entries+padding, width].
func Targets(p Product, h *Node, gradients bool) *Node {
	return linear(gradients, h, p.Slots(), p.Spread, func(v *Node) *Node { return Total(p, v, false) })
}

// Total sums each row's entries, ignoring padding: e [entries+padding, width] → [rows, width].
func Total(p Product, e *Node, gradients bool) *Node {
	total := func(e *Node) *Node { return p.Total(Mul(e, Valid(p, e.Graph()))) }
	return linear(gradients, e, p.Rows(), total, p.Spread)
}

// RowMax returns each row's maximum, or 0 for a row without entries: e [entries+padding, width] → [rows, width].
// present [entries+padding, 1] is 1 for entries that count; nil means all. Equal maxima share the gradient.
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

// Valid returns 1 for entries and 0 for padding: [entries+padding, 1].
func Valid(p Product, g *Graph) *Node {
	return p.Floats("valid", func(m csr.Matrix) []float32 {
		return slices.Repeat([]float32{1}, m.NumEntries())
	}).NodeValue(g)
}
