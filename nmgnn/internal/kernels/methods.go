package kernels

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"

	"nodemask/nmgnn/internal/kernels/fused"
)

// Seeing returns a variant of p that may leave rows of its results zero where seen [rows, 1] is zero. The caller must
// not read these rows, and gradients with respect to them must be zero. If seen is nil or p uses scatters, Seeing
// returns p itself.
func Seeing(p Product, seen *Node) Product {
	if p.fused && seen != nil {
		p.seen = seen
	}
	return p
}

// Reach returns y [rows, 1]: 1 for nodes whose results the caller uses (seen [rows, 1] is not zero) and for the
// neighbours that [Sum] needs to compute these results, else 0. Neighbours whose mask [rows, 1] is zero are not
// needed; a nil mask excludes none. If the backend cannot skip rows, Reach returns nil, which means all rows.
func Reach(p Product, seen, mask *Node) *Node {
	if !p.fused || seen == nil || !fused.Skips(seen.Graph()) {
		return nil
	}
	return p.in(seen.Graph()).Reach(seen, mask)
}

// Rooted returns h + [Sum](h) + bias in one loop. p's matrix must be square; bias is [1, width]. If gradients is
// true, h and bias get gradients. Rooted returns nil if p uses [ScatterKernel], or if the shortcuts of [Lean] are not
// allowed.
func Rooted(p Product, h, bias, mask *Node, gradients bool) *Node {
	is, zeroOne := lean(h.Graph())
	if !p.fused || !is || mask != nil && !zeroOne {
		return nil
	}
	g, fixed := h.Graph(), StopGradient(h)
	rows := fused.Rows{Wanted: p.seen, Root: fixed, Bias: StopGradient(bias)}
	if mask != nil {
		rows.Heard = StopGradient(mask)
	}
	y := p.in(g).Times(fixed, nil, nil, rows)
	if !gradients {
		return y
	}
	p.needTransposed()
	return WithAdjoints(y, Argument{h, func(v *Node) *Node {
		return p.adjoint.in(g).Times(v, nil, nil, fused.Rows{Heard: p.seen, Wanted: rows.Heard, Root: v})
	}}, Argument{bias, func(v *Node) *Node { return ReduceAndKeep(v, ReduceSum, 0) }})
}

// Times returns Σ_u weights_vu·h_u over the entries (v, u) of each row v of p: weights [entries+padding, heads], h
// [columns, width], split equally among heads → [rows, width]. Times may skip rows of h where factor [columns, 1] is
// zero; unless skipped, these rows must hold zeros.
func (p Product) Times(h, factor, weights *Node) *Node {
	return times(p.pattern, h, weights, nil, fused.Rows{Heard: factor, Wanted: p.seen})
}

func times(p *pattern, h, weights, positions *Node, r fused.Rows) *Node {
	if p.fused {
		return p.in(h.Graph()).Times(h, weights, positions, r)
	}
	gathered := p.Gather(h)
	if weights != nil {
		gathered = perHead(gathered, weights)
	}
	return p.Total(gathered)
}

// Back multiplies the transposed matrix with v [rows, width] → [columns, width]. weights are those that Times takes.
// factor [columns, 1] only marks the result rows to compute: where factor is zero, rows may stay zero. Back and
// TotalBack panic if p's [Options] set neither Gradients nor Symmetric.
func (p Product) Back(v, factor, weights *Node) *Node {
	p.needTransposed()
	var positions *Node
	if weights != nil && p.fused {
		positions = p.transposedAt().NodeValue(v.Graph())
	} else if weights != nil {
		weights = p.transposed(weights)
	}
	return times(p.adjoint, v, weights, positions, fused.Rows{Heard: p.seen, Wanted: factor})
}

// TotalBack sums e over the entries of each column of p's matrix: e [entries+padding, width] → [columns, width].
func (p Product) TotalBack(e *Node) *Node {
	p.needTransposed()
	if g := e.Graph(); p.fused {
		return p.adjoint.in(g).Total(e, p.transposedAt().NodeValue(g))
	}
	return p.adjoint.Total(p.transposed(e))
}

// SumDropped returns [Sum] without a mask, with the matrix's values as weights. Dropout is applied to these values.
func (p Product) SumDropped(h *Node, s Stream, rate float64, gradients bool) *Node {
	g := h.Graph()
	if !p.fused || !fused.Skips(g) {
		return Sum(p, h, nil, p.DropEntries(s, Values(p).NodeValue(g), 1, rate), gradients)
	}
	draw, scale := s.dropped(rate)
	return linear(gradients, h, p.Rows(), func(h *Node) *Node {
		return p.in(g).TimesDropped(draw, scale, h, Values(p).NodeValue(g), nil, fused.Rows{Wanted: p.seen})
	}, func(v *Node) *Node {
		p.needTransposed()
		return p.adjoint.in(g).TimesDropped(draw, scale, v, p.transposedValues().NodeValue(g),
			p.transposedAt().NodeValue(g), fused.Rows{Heard: p.seen})
	})
}

// DropEntries zeroes each number of x [entries+padding, heads] with probability rate and divides the others by 1-rate.
// nil x means ones. A stream drops the same entries with each [Kernel].
func (p Product) DropEntries(s Stream, x *Node, heads int, rate float64) *Node {
	if p.fused {
		return s.drop(x, p.Slots(), heads, rate, nil, nil)
	}
	g := s.key.Graph()
	entry := ConvertDType(p.position().NodeValue(g), dtypes.Uint32)
	shape := shapes.Make(dtypes.Uint32, p.Slots(), heads)
	positions := entry
	if heads > 1 {
		positions = Add(BroadcastToDims(Mul(entry, Const(g, uint32(heads))), shape.Dimensions...), Iota(g, shape, 1))
	}
	keep := s.Keep(positions, rate)
	if x == nil {
		return keep
	}
	return Mul(x, keep)
}

// Mean returns [Sum] divided by divisor [rows, 1].
func (p Product) Mean(h, mask, divisor, keep *Node, gradients bool) *Node {
	if !p.fused {
		return Div(Sum(p, h, mask, keep, gradients), divisor)
	}
	weights := p.Spread(Inverse(divisor))
	if keep != nil {
		weights = Mul(weights, keep)
	}
	return Sum(p, h, mask, weights, gradients)
}

// Attend returns the sums that [Attention] describes.
func (p Product) Attend(a Attention) *Node {
	if !p.fused || a.Present != nil {
		return attendByParts(p, a)
	}
	g := a.Values.Graph()
	if is, _ := lean(g); a.Bias != nil && !is {
		bias := a.Bias
		a.Bias = nil
		return Add(p.Attend(a), bias)
	}
	values, factor := masked(p.fused, a.Values, a.Mask)
	m, value := p.in(g), StopGradient(values)
	var s fused.Scores
	if a.Scores != nil {
		s.E = StopGradient(a.Scores)
	} else {
		s.Source, s.Target, s.Slope = StopGradient(a.Source), StopGradient(a.Target),
			Const(g, [][]float32{{float32(a.Slope)}})
	}
	rows := fused.Rows{Heard: factor, Wanted: p.seen}
	biased := rows
	if a.Bias != nil {
		biased.Bias = StopGradient(a.Bias)
	}
	y, alpha, kept := m.Attend(s, value, a.Keep, biased)
	if !a.Gradients {
		// The pure-Go backend fails if a program's last operation has unused results. StopGradient adds an operation,
		// so that the kernel is never the last.
		return StopGradient(y)
	}
	type gradients struct{ scores, target *Node }
	backward := Remember(func(v *Node) gradients {
		scores, target := m.AttendBackward(s, value, alpha, kept, v, rows)
		return gradients{scores, target}
	})
	towards := []Argument{{values, func(v *Node) *Node { return p.Back(v, factor, kept) }}}
	if a.Scores != nil {
		towards = append(towards, Argument{a.Scores, func(v *Node) *Node { return p.cleared(backward(v).scores) }})
	} else {
		towards = append(towards, Argument{a.Source, func(v *Node) *Node { return p.TotalBack(backward(v).scores) }},
			Argument{a.Target, func(v *Node) *Node { return backward(v).target }})
	}
	if a.Bias != nil {
		towards = append(towards, Argument{a.Bias, func(v *Node) *Node { return ReduceAndKeep(v, ReduceSum, 0) }})
	}
	return WithAdjoints(y, towards...)
}

// cleared sets padding slots, which kernels leave uninitialised, to zero.
func (p Product) cleared(e *Node) *Node {
	if p.options.Slots == 0 {
		return e
	}
	valid := Valid(p, e.Graph())
	return Where(BroadcastToDims(GreaterThan(valid, ZerosLike(valid)), e.Shape().Dimensions...), e, ZerosLike(e))
}

// PairScores returns each head's inner products of h [rows, width] with a (source) and b (target): each [rows,
// heads]. a and b are [heads, width/heads]. h, a and b get gradients.
func (p Product) PairScores(h, a, b *Node) (source, target *Node) {
	if !p.fused {
		return HeadProducts(h, a), HeadProducts(h, b)
	}
	flat := func(x *Node) *Node { return Reshape(StopGradient(x), 1, x.Shape().Size()) }
	x, fa, fb, dims := StopGradient(h), flat(a), flat(b), a.Shape().Dimensions
	half := func(x *Node, i int) *Node { return SliceAxis(x, 1, AxisRange(i*dims[0], (i+1)*dims[0])) }
	type gradients struct{ x, a, b *Node }
	backward := Remember(func(v *Node) gradients {
		gx, ga, gb := fused.ScoreBackward(x, fa, fb, half(v, 0), half(v, 1))
		return gradients{Identity(gx), Reshape(ga, dims...), Reshape(gb, dims...)}
	})
	// source and target are concatenated into one computation node, so that backward gets both gradients at once.
	source, target = fused.Score(x, fa, fb, dims[0])
	both := WithAdjoints(Concatenate([]*Node{source, target}, 1),
		Argument{h, func(v *Node) *Node { return backward(v).x }},
		Argument{a, func(v *Node) *Node { return backward(v).a }},
		Argument{b, func(v *Node) *Node { return backward(v).b }})
	return half(both, 0), half(both, 1)
}

// LeakyScores returns a·LeakyReLU(source_u + target_v) for each entry (v, u) and head. Shapes: source [columns, width],
// target [rows, width], a [heads, width/heads] → [entries+padding, heads]. slope is LeakyReLU's slope for negative
// inputs. If gradients is true, source, target and a get gradients.
func (p Product) LeakyScores(source, target, a *Node, slope float64, gradients bool) *Node {
	if p.fused {
		pairs := Add(Sources(p, source, gradients), Targets(p, target, gradients))
		return HeadProducts(activation.LeakyReluWith(pairs, slope), a)
	}
	h, x := StopGradient(source), StopGradient(target)
	y := HeadProducts(activation.LeakyReluWith(Add(p.Gather(h), p.Spread(x)), slope), StopGradient(a))
	if !gradients {
		return y
	}
	p.needTransposed()
	slopes := func(of *pattern, h, x, d *Node) *Node {
		pairs := Add(of.Gather(h), of.Spread(x))
		slopes := Where(LessThan(pairs, ZerosLike(pairs)), MulScalar(OnesLike(pairs), slope), OnesLike(pairs))
		return of.Total(perHead(slopes, d))
	}
	return withLeakyAdjoints(y, source, target, a,
		func(d *Node) *Node { return slopes(p.adjoint, x, h, p.transposed(d)) },
		func(d *Node) *Node { return slopes(p.pattern, h, x, d) })
}

// withLeakyAdjoints returns y_vu = ⟨a, LeakyReLU(source_u + target_v)⟩ with gradients. Let d be the loss's gradient
// with respect to y. ofTarget returns s_v = Σ_u d_vu·LeakyReLU'(source_u + target_v), and ofSource returns t_u, the sum
// of the same terms over v. With ⊙ the elementwise product, the gradients are:
//
//	target_v: a ⊙ s_v
//	source_u: a ⊙ t_u
//	a:        Σ_v target_v ⊙ s_v + Σ_u source_u ⊙ t_u, as LeakyReLU(x) = x ⊙ LeakyReLU'(x)
func withLeakyAdjoints(y, source, target, a *Node, ofSource, ofTarget func(d *Node) *Node) *Node {
	ofSource, ofTarget = Remember(ofSource), Remember(ofTarget)
	weights := StopGradient(Reshape(a, 1, source.Shape().Dimensions[1]))
	return WithAdjoints(y,
		Argument{source, func(d *Node) *Node { return Mul(ofSource(d), weights) }},
		Argument{target, func(d *Node) *Node { return Mul(ofTarget(d), weights) }},
		Argument{a, func(d *Node) *Node {
			along := func(x, of *Node) *Node { return ReduceSum(Mul(StopGradient(x), of), 0) }
			return Reshape(Add(along(target, ofTarget(d)), along(source, ofSource(d))), a.Shape().Dimensions...)
		}})
}

// ELU returns x (any shape) where positive, else exp(x)-1. x gets a gradient.
func ELU(x *Node) *Node {
	fixed := StopGradient(x)
	if x.Rank() == 2 && fused.Available(x.Graph()) {
		return WithAdjoints(fused.ELU(fixed, nil), Argument{x, func(v *Node) *Node { return fused.ELU(fixed, v) }})
	}
	zero, one := ZerosLike(x), OnesLike(x)
	positive, e := GreaterThan(fixed, zero), Exp(Min(fixed, zero))
	y := Where(positive, fixed, Sub(e, one))
	return WithAdjoints(y, Argument{x, func(v *Node) *Node { return Mul(v, Where(positive, one, e)) }})
}
