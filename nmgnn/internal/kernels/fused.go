package kernels

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/nmgnn/internal/kernels/fused"
)

// fusedPattern holds the entries by row, then padding outside all rows, with valid indices for gathers.
type fusedPattern struct {
	room            int
	matrix          csr.Matrix
	offsets, column *model.Variable // [rows+1, 1], [room, 1]
	rowVar          *model.Variable // made on first use
	into            *Constants
}

func newFused(into *Constants, m csr.Matrix, slots int) *fusedPattern {
	p := &fusedPattern{room: max(m.NumEntries(), slots), matrix: m, into: into}
	p.offsets, p.column = into.Ints("offset", narrow(m.Offsets), m.Rows+1, 1), into.Ints("column",
		perSlot(p, m.Indices, 0), p.room, 1)
	return p
}

// check has ensured that the number of entries fits int32.
func narrow(offsets []int64) []int32 {
	narrowed := make([]int32, len(offsets))
	for i, o := range offsets {
		narrowed[i] = int32(o)
	}
	return narrowed
}

func (p *fusedPattern) in(g *Graph) fused.Matrix {
	return fused.Matrix{Offsets: p.offsets.NodeValue(g), Columns: p.column.NodeValue(g)}
}

func (p *fusedPattern) Slots() int { return p.room }
func (p *fusedPattern) times(h, weights *Node) *Node {
	return p.in(h.Graph()).Times(h, weights, nil, fused.Rows{})
}
func (p *fusedPattern) Gather(h *Node) *Node  { return Gather(h, p.column.NodeValue(h.Graph())) }
func (p *fusedPattern) Total(e *Node) *Node   { return p.in(e.Graph()).Total(e, nil) }
func (p *fusedPattern) Highest(e *Node) *Node { return p.in(e.Graph()).Highest(e) }

// alone stops XLA on a CPU from fusing x into its uses, which would recompute it per entry. XLA removes
// OptimizationBarrier before fusion but never fuses a scatter; this one adds zero to one row, in place.
func (p *fusedPattern) alone(x *Node) *Node {
	g := x.Graph()
	if !fused.Available(g) {
		return x
	}
	zeros := Zeros(g, shapes.Make(x.DType(), 2, x.Shape().Dimensions[1]))
	return ScatterSum(x, Const(g, [][]int32{{0}, {0}}), zeros, true, false)
}

func (p *fusedPattern) Agreement(x, h *Node, heads int) *Node {
	return p.in(x.Graph()).Agreement(x, h, heads)
}

func (p *fusedPattern) Spread(x *Node) *Node {
	if p.rowVar == nil {
		p.rowVar = p.into.Ints("row", perSlot(p, p.matrix.RowIndices(), 0), p.room, 1)
		if p.into.err != nil {
			panic(p.into.err)
		}
	}
	return Gather(x, p.rowVar.NodeValue(x.Graph()), true)
}

func (p *fusedPattern) replace(m csr.Matrix) error {
	if m.NumEntries() > p.room {
		return ErrNoFit
	}
	p.matrix = m
	if err := overwrite(p.offsets, narrow(m.Offsets)); err != nil {
		return err
	}
	if p.rowVar != nil {
		if err := overwrite(p.rowVar, perSlot(p, m.RowIndices(), 0)); err != nil {
			return err
		}
	}
	return overwrite(p.column, perSlot(p, m.Indices, 0))
}

// fusedProduct needs fewer passes than parts.
type fusedProduct struct {
	*parts
	forward, adjoint *fusedPattern
	seen             *Node // [rows, 1]; nil: all
}

// Seeing returns p for a computation that reads only the result rows where seen [rows, 1] is not zero: other rows may
// be zero, and their gradients must be. nil: p itself.
func Seeing(p Product, seen *Node) Product {
	if f, ok := p.(*fusedProduct); ok && seen != nil {
		view := *f
		view.seen = seen
		return &view
	}
	return p
}

// Reach returns 1 for rows seen [rows, 1] and rows that sums over their entries read, else 0. Only columns where mask
// [rows, 1] is not zero count; nil: all. It returns nil, meaning all rows, if the backend gains nothing.
func Reach(p Product, seen, mask *Node) *Node {
	f, ok := p.(*fusedProduct)
	if !ok || seen == nil || !fused.Skips(seen.Graph()) {
		return nil
	}
	return f.forward.in(seen.Graph()).Reach(seen, mask)
}

// Rooted returns h + [Sum] + bias in one loop, with gradients towards h and bias [1, width], of a square matrix. It
// returns nil if the computation is not [Lean], or this product has other loops.
func Rooted(p Product, h, bias, mask *Node, gradients bool) *Node {
	f, ok := p.(*fusedProduct)
	is, zeroOne := lean(h.Graph())
	if !ok || !is || mask != nil && !zeroOne {
		return nil
	}
	g, fixed := h.Graph(), StopGradient(h)
	rows := fused.Rows{Wanted: f.seen, Root: fixed, Bias: StopGradient(bias)}
	if mask != nil {
		rows.Heard = StopGradient(mask)
	}
	y := f.forward.in(g).Times(fixed, nil, nil, rows)
	if !gradients {
		return y
	}
	f.needTransposed()
	return WithAdjoints(y, Argument{h, func(v *Node) *Node {
		return f.adjoint.in(g).Times(v, nil, nil, fused.Rows{Heard: f.seen, Wanted: rows.Heard, Root: v})
	}}, Argument{bias, func(v *Node) *Node { return ReduceAndKeep(v, ReduceSum, 0) }})
}

func (p *fusedProduct) Times(h, factor, weights *Node) *Node {
	return p.forward.in(h.Graph()).Times(h, weights, nil, fused.Rows{Heard: factor, Wanted: p.seen})
}

func (p *fusedProduct) Back(v, factor, weights *Node) *Node {
	p.needTransposed()
	g := v.Graph()
	var positions *Node
	if weights != nil {
		positions = p.transposedAt().NodeValue(g)
	}
	return p.adjoint.in(g).Times(v, weights, positions, fused.Rows{Heard: p.seen, Wanted: factor})
}

func (p *fusedProduct) SumDropped(h *Node, s Stream, rate float64, gradients bool) *Node {
	g := h.Graph()
	if !fused.Skips(g) {
		return sumOfDropped(p, h, s, rate, gradients)
	}
	draw, scale := s.dropped(rate)
	return linear(gradients, h, p.Rows(), func(h *Node) *Node {
		return p.forward.in(g).TimesDropped(draw, scale, h, Values(p).NodeValue(g), nil, fused.Rows{Wanted: p.seen})
	}, func(v *Node) *Node {
		p.needTransposed()
		return p.adjoint.in(g).TimesDropped(draw, scale, v, p.transposedValues().NodeValue(g),
			p.transposedAt().NodeValue(g), fused.Rows{Heard: p.seen})
	})
}

func (p *fusedProduct) TotalBack(e *Node) *Node {
	p.needTransposed()
	g := e.Graph()
	return p.adjoint.in(g).Total(e, p.transposedAt().NodeValue(g))
}

func (p *fusedProduct) DropEntries(s Stream, x *Node, heads int, rate float64) *Node {
	if !fused.Available(s.key.Graph()) {
		return p.parts.DropEntries(s, x, heads, rate)
	}
	return s.drop(x, p.Slots(), heads, rate, nil, nil) // slots are entries
}

// Mean divides the entries' weights, at no cost.
func (p *fusedProduct) Mean(h, mask, divisor, keep *Node, gradients bool) *Node {
	weights := p.Spread(Inverse(divisor))
	if keep != nil {
		weights = Mul(weights, keep)
	}
	return Sum(p, h, mask, weights, gradients)
}

// Attend visits each entry once, and once or twice for gradients.
func (p *fusedProduct) Attend(a Attention) *Node {
	g := a.Values.Graph()
	if a.Present != nil || !fused.Available(g) {
		return attendByParts(p, a) // package fused cannot omit entries
	}
	if is, _ := lean(g); a.Bias != nil && !is {
		bias := a.Bias
		a.Bias = nil
		return Add(p.Attend(a), bias)
	}
	values, factor := masked(p, a.Values, a.Mask)
	m, value := p.forward.in(g), StopGradient(values)
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
		// The pure-Go backend fails if a program ends with one of several results and later ones are unused; this node
		// follows all of them.
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

// Kernels leave padding uninitialised.
func (p *fusedProduct) cleared(e *Node) *Node {
	if p.options.Slots == 0 {
		return e
	}
	valid := Valid(p, e.Graph())
	return Where(BroadcastToDims(GreaterThan(valid, ZerosLike(valid)), e.Shape().Dimensions...), e, ZerosLike(e))
}

func (p *fusedProduct) PairScores(h, a, b *Node) (source, target *Node) {
	if !fused.Available(h.Graph()) {
		return p.parts.PairScores(h, a, b)
	}
	flat := func(x *Node) *Node { return Reshape(StopGradient(x), 1, x.Shape().Size()) }
	x, fa, fb, dims := StopGradient(h), flat(a), flat(b), a.Shape().Dimensions
	half := func(x *Node, i int) *Node { return SliceAxis(x, 1, AxisRange(i*dims[0], (i+1)*dims[0])) }
	type gradients struct{ x, a, b *Node }
	backward := Remember(func(v *Node) gradients {
		gx, ga, gb := fused.ScoreBackward(x, fa, fb, half(v, 0), half(v, 1))
		return gradients{Identity(gx), Reshape(ga, dims...), Reshape(gb, dims...)} // see Attend
	})
	// Joined: gradients arrive at one node.
	source, target = fused.Score(x, fa, fb, dims[0])
	both := WithAdjoints(Concatenate([]*Node{source, target}, 1),
		Argument{h, func(v *Node) *Node { return backward(v).x }},
		Argument{a, func(v *Node) *Node { return backward(v).a }},
		Argument{b, func(v *Node) *Node { return backward(v).b }})
	return half(both, 0), half(both, 1)
}

func (p *fusedProduct) LeakyScores(source, target, a *Node, slope float64, gradients bool) *Node {
	return leakyScoresByParts(p, source, target, a, slope, gradients)
}

// withLeakyAdjoints returns y = a·LeakyReLU(source_u + target_v) with gradients. d is the gradient of y; ofTarget
// returns u_v = Σ_u d_vu·LeakyReLU'(source_u + target_v), ofSource the same sum over v, w_u, both without a. The
// gradients are a·u towards target, a·w towards source and, as LeakyReLU(x) = x·LeakyReLU'(x), Σ_v target_v·u_v + Σ_u
// source_u·w_u towards a.
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

// ELU returns x where positive and exp(x)-1 elsewhere, any shape, with its gradient.
func ELU(x *Node) *Node {
	fixed := StopGradient(x)
	if x.Rank() == 2 && fused.Available(x.Graph()) {
		return WithAdjoints(fused.ELU(fixed), Argument{x, func(v *Node) *Node { return fused.ELUBackward(fixed, v) }})
	}
	zero, one := ZerosLike(x), OnesLike(x)
	positive, e := GreaterThan(fixed, zero), Exp(Min(fixed, zero))
	y := Where(positive, fixed, Sub(e, one))
	return WithAdjoints(y, Argument{x, func(v *Node) *Node { return Mul(v, Where(positive, one, e)) }})
}
