package kernels

import (
	"errors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
)

// pattern is a kernel for one direction of a matrix; two make a parts.
type pattern interface {
	times(h, weights *Node) *Node
	replace(m csr.Matrix) error

	// As in [Product].
	Gather(h *Node) *Node
	Spread(x *Node) *Node
	Total(e *Node) *Node
	Highest(e *Node) *Node
	Agreement(x, h *Node, heads int) *Node
	Slots() int // entries come first, then padding
	alone(x *Node) *Node
}

type parts struct {
	pattern   // of the matrix
	adjoint   pattern
	constants *Constants
	matrix    csr.Matrix
	options   Options
	lazy      map[string]lazy // made on first use
	// in Replace: the entries in the transpose's order; may be nil
	from []int32
}

type lazy struct {
	*model.Variable
	renew    func() error
	backward bool // read only by gradients
}

func (p *parts) Rows() int                             { return p.matrix.Rows }
func (p *parts) Times(h, _, weights *Node) *Node       { return p.times(h, weights) }
func (p *parts) PairScores(h, a, b *Node) (y, z *Node) { return HeadProducts(h, a), HeadProducts(h, b) }
func (p *parts) Attend(a Attention) *Node              { return attendByParts(p, a) }
func (p *parts) Mean(h, mask, by, keep *Node, gradients bool) *Node {
	return Div(Sum(p, h, mask, keep, gradients), by)
}

// LeakyScores recomputes pairs of rows at each use instead of storing them per entry.
func (p *parts) LeakyScores(source, target, a *Node, slope float64, gradients bool) *Node {
	h, x := StopGradient(source), StopGradient(target)
	y := HeadProducts(activation.LeakyReluWith(Add(p.Gather(h), p.Spread(x)), slope), StopGradient(a))
	if !gradients {
		return y
	}
	p.needTransposed()
	slopes := func(of pattern, h, x, d *Node) *Node {
		pairs := Add(of.Gather(h), of.Spread(x))
		slopes := Where(LessThan(pairs, ZerosLike(pairs)), MulScalar(OnesLike(pairs), slope), OnesLike(pairs))
		return of.Total(perHead(slopes, d))
	}
	return withLeakyAdjoints(y, source, target, a,
		func(d *Node) *Node { return slopes(p.adjoint, x, h, p.transposed(d)) },
		func(d *Node) *Node { return slopes(p.pattern, h, x, d) })
}

func (p *parts) SumDropped(h *Node, s Stream, rate float64, gradients bool) *Node {
	return sumOfDropped(p, h, s, rate, gradients)
}

func (p *parts) hasTransposed() bool { return p.options.Gradients && !p.options.Symmetric }

// Otherwise the untransposed matrix would be used.
func (p *parts) needTransposed() {
	if !p.options.Gradients && !p.options.Symmetric {
		panic(errors.New("a product that was made without gradients has no transposed matrix"))
	}
}

func (p *parts) TotalBack(e *Node) *Node {
	p.needTransposed()
	return p.adjoint.Total(p.transposed(e))
}

func (p *parts) Back(v, _, weights *Node) *Node {
	p.needTransposed()
	if weights == nil {
		return p.adjoint.times(v, nil)
	}
	return p.adjoint.times(v, p.transposed(weights))
}

func (p *parts) DropEntries(s Stream, x *Node, heads int, rate float64) *Node {
	g := s.key.Graph()
	// Numbered by entry, not slot: all kernels drop the same entries.
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

func (p *parts) position() *model.Variable {
	return p.Ints("position", 0, func(m csr.Matrix) []int32 {
		number := make([]int32, m.NumEntries())
		for i := range number {
			number[i] = int32(i)
		}
		return number
	})
}

func (p *parts) Replace(m csr.Matrix, gradients bool) error {
	if err := check(m); err != nil {
		return err
	}
	if m.Rows != p.matrix.Rows || m.Columns != p.matrix.Columns {
		return ErrNoFit
	}
	if err := p.replace(m); err != nil {
		return err
	}
	if gradients && p.hasTransposed() {
		transposed, from := m.Transpose()
		if err := p.adjoint.replace(transposed); err != nil {
			return err
		}
		p.from = from
		defer func() { p.from = nil }()
	}
	p.matrix = m
	for _, v := range p.lazy {
		if v.backward && !gradients {
			continue
		}
		if err := v.renew(); err != nil {
			return err
		}
	}
	return nil
}

// transposedAt returns the adjoint's slots here [slots, 1]; padding gets the number of slots.
func (p *parts) transposedAt() *model.Variable {
	return once(p, "transposed", p.adjoint, int32(p.Slots()), p.transposedFrom)
}

func (p *parts) transposedFrom(m csr.Matrix) []int32 {
	if p.from != nil {
		return p.from
	}
	_, from := m.Transpose()
	return from
}

func (p *parts) transposedValues() *model.Variable {
	return once(p, "value_transposed", p.adjoint, 0, func(m csr.Matrix) []float32 {
		values := make([]float32, m.NumEntries())
		for i, entry := range p.transposedFrom(m) {
			values[i] = m.Values[entry]
		}
		return values
	})
}

// transposed moves e [slots, width] into the adjoint's slots, 0 in padding.
func (p *parts) transposed(e *Node) *Node {
	return Gather(padRows(e, p.Slots()+1), p.transposedAt().NodeValue(e.Graph()))
}

func (p *parts) Ints(name string, padding int32, of func(m csr.Matrix) []int32) *model.Variable {
	return once(p, name, p.pattern, padding, of)
}

func (p *parts) Floats(name string, of func(m csr.Matrix) []float32) *model.Variable {
	return once(p, name, p.pattern, 0, of)
}

func once[T int32 | float32](p *parts, name string, direction pattern, padding T,
	of func(m csr.Matrix) []T) *model.Variable {
	if v, ok := p.lazy[name]; ok {
		return v.Variable
	}
	values := func() []T { return perSlot(direction, of(p.matrix), padding) }
	into, data := NewConstants(p.constants.store, p.constants.path).Share(p.constants.shares), values()
	v := add(into, name, data, len(data), 1)
	if into.err != nil {
		panic(into.err)
	}
	p.lazy[name] = lazy{v, func() error { return overwrite(v, values()) }, direction == p.adjoint &&
		direction != p.pattern}
	return v
}

func perSlot[T any](p pattern, perEntry []T, padding T) []T {
	if len(perEntry) == p.Slots() {
		return perEntry
	}
	all := append(make([]T, 0, p.Slots()), perEntry...)
	for len(all) < p.Slots() {
		all = append(all, padding)
	}
	return all
}

// Nodes cannot be empty: one slot of padding.
type emptyPattern struct{ rows int }

func (p emptyPattern) Slots() int             { return 1 }
func (p emptyPattern) times(h, _ *Node) *Node { return p.zeros(h, p.rows) }
func (p emptyPattern) Gather(h *Node) *Node   { return p.zeros(h, 1) }
func (p emptyPattern) Spread(x *Node) *Node   { return p.zeros(x, 1) }
func (p emptyPattern) Total(e *Node) *Node    { return p.zeros(e, p.rows) }
func (p emptyPattern) Highest(e *Node) *Node  { return AddScalar(p.zeros(e, p.rows), Lowest) }
func (p emptyPattern) alone(x *Node) *Node    { return x }
func (p emptyPattern) replace(m csr.Matrix) error {
	if m.NumEntries() > 0 {
		return ErrNoFit
	}
	return nil
}
func (p emptyPattern) Agreement(x, _ *Node, heads int) *Node {
	return Zeros(x.Graph(), shapes.Make(x.DType(), 1, heads))
}
func (p emptyPattern) zeros(x *Node, rows int) *Node {
	return Zeros(x.Graph(), shapes.Make(x.DType(), rows, x.Shape().Dimensions[1]))
}
