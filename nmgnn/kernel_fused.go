package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/fused"
)

// fusedProduct holds the entries in order of their rows and leaves the work to package fused; an entry's slot is its place.
type fusedProduct struct {
	entries         int
	offsets, column *model.Variable // [rows+1, 1], [entries, 1]
	at              *model.Variable // [entries, 1]: each entry's place in the matrix this one was transposed from; nil: its own
	rowVar          *model.Variable // [entries, 1], once asked for
	makeRow         func() *model.Variable
}

func newFusedProduct(v *variables, s sparse) *fusedProduct {
	offsets := make([]int32, len(s.offsets))
	for i, o := range s.offsets {
		offsets[i] = int32(o)
	}
	p := &fusedProduct{entries: s.entries(), offsets: v.ints("offset", offsets, len(offsets), 1), column: v.ints("column", s.targets, s.entries(), 1)}
	if s.positions != nil {
		p.at = v.ints("at", s.positions, s.entries(), 1)
	}
	p.makeRow = func() *model.Variable {
		row := v.ints("row", s.rowOfEntries(), s.entries(), 1)
		if v.err != nil {
			panic(v.err)
		}
		return row
	}
	return p
}

// matrix is the pattern in a computation.
func (p *fusedProduct) matrix(g *Graph) fused.Matrix {
	return fused.Matrix{Offsets: p.offsets.NodeValue(g), Columns: p.column.NodeValue(g)}
}

func (p *fusedProduct) slots() int      { return p.entries }
func (p *fusedProduct) slotOf() []int32 { return nil }

func (p *fusedProduct) times(h, weights *Node) *Node {
	return p.matrix(h.Graph()).Times(h, weights, nil)
}

// timesAt is times with the weights in the order of the matrix that this one was transposed from; at says which they are.
func (p *fusedProduct) timesAt(h, weights *Node, at *model.Variable) *Node {
	return p.matrix(h.Graph()).Times(h, weights, at.NodeValue(h.Graph()))
}

func (p *fusedProduct) gather(h *Node) *Node { return Gather(h, p.column.NodeValue(h.Graph())) }

func (p *fusedProduct) spread(x *Node) *Node {
	if p.rowVar == nil {
		p.rowVar = p.makeRow()
	}
	return Gather(x, p.rowVar.NodeValue(x.Graph()), true)
}

func (p *fusedProduct) total(e *Node) *Node   { return p.matrix(e.Graph()).Total(e, nil) }
func (p *fusedProduct) highest(e *Node) *Node { return p.matrix(e.Graph()).Highest(e) }

// fusedAttention is [Neighbours.Attention] in one visit to each entry, and one or two for the gradients: scores as package fused
// takes them.
func (n neighbours) fusedAttention(p *fusedProduct, s fused.Scores, h *Node, rate float64) *Node {
	m := p.matrix(h.Graph())
	fixed := fused.Scores{Slope: s.Slope}
	for _, x := range []struct{ from, to **Node }{{&s.E, &fixed.E}, {&s.Source, &fixed.Source}, {&s.Target, &fixed.Target}} {
		if *x.from != nil {
			*x.to = StopGradient(*x.from)
		}
	}
	value := StopGradient(h)
	var keep *Node
	if n.random != nil && rate > 0 {
		keep = n.entryKeepOf(h, fixed.Heads(), rate)
	}
	y, alpha, kept := m.Attend(fixed, value, keep)
	if !n.train {
		return y
	}
	// All gradients come from one v; what they share is computed once.
	type gradients struct{ d, target *Node }
	backward := remember(func(v *Node) gradients {
		d, target := m.AttendBackward(fixed, value, alpha, kept, v)
		return gradients{d, target}
	})
	towards := []argument{{h, func(v *Node) *Node { return n.timesTransposed(v, kept) }}}
	if s.E != nil {
		towards = append(towards, argument{s.E, func(v *Node) *Node { return backward(v).d }})
	} else {
		towards = append(towards, argument{s.Source, func(v *Node) *Node { return n.totalTransposed(backward(v).d) }},
			argument{s.Target, func(v *Node) *Node { return backward(v).target }})
	}
	return withAdjoints(y, towards...)
}

// remember computes f once for each node.
func remember[T any](f func(v *Node) T) func(v *Node) T {
	made := map[*Node]T{}
	return func(v *Node) T {
		if _, done := made[v]; !done {
			made[v] = f(v)
		}
		return made[v]
	}
}

// fusedScores is [Neighbours.Scores] in one pass over h, and one for the gradients.
func fusedScores(h, a, b *Node) (source, target *Node) {
	flat := func(x *Node) *Node { return Reshape(StopGradient(x), 1, x.Shape().Size()) }
	x, fa, fb, dims := StopGradient(h), flat(a), flat(b), a.Shape().Dimensions
	half := func(x *Node, i int) *Node { return SliceAxis(x, 1, AxisRange(i*dims[0], (i+1)*dims[0])) }
	type gradients struct{ x, a, b *Node }
	backward := remember(func(v *Node) gradients {
		gx, ga, gb := fused.ScoreBackward(x, fa, fb, half(v, 0), half(v, 1))
		return gradients{gx, Reshape(ga, dims...), Reshape(gb, dims...)}
	})
	// Both results travel side by side, since gradients come to one node.
	source, target = fused.Score(x, fa, fb, dims[0])
	both := withAdjoints(Concatenate([]*Node{source, target}, 1),
		argument{h, func(v *Node) *Node { return backward(v).x }},
		argument{a, func(v *Node) *Node { return backward(v).a }},
		argument{b, func(v *Node) *Node { return backward(v).b }})
	return half(both, 0), half(both, 1)
}
