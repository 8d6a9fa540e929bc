package kernels

import (
	"errors"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/nmgnn/internal/kernels/fused"
)

// pattern holds the entries of a matrix or of its transpose, row by row, then padding. Padding is in no row, but has
// valid indices, because gathers read them.
type pattern struct {
	fused      bool // runs fused loops, not scatters
	rows, room int
	matrix     csr.Matrix
	// offsets is [rows+1, 1] if fused is true, else nil. column and row are [room, 1]; room is entries plus padding.
	offsets, column, row *model.Variable
	into                 *Constants
}

func newPattern(into *Constants, m csr.Matrix, o Options) *pattern {
	p := &pattern{fused: o.Kernel == FusedKernel, rows: m.Rows, room: max(m.NumEntries(), 1), matrix: m, into: into}
	if p.fused {
		p.room = max(p.room, o.Slots)
		p.offsets = into.Ints("offset", narrow(m.Offsets), m.Rows+1, 1)
	} else {
		p.rowOf()
	}
	p.column = into.Ints("column", perSlot(p, m.Indices, 0), p.room, 1)
	return p
}

// narrow cannot overflow, as the function check limits the number of entries.
func narrow(offsets []int64) []int32 {
	narrowed := make([]int32, len(offsets))
	for i, o := range offsets {
		narrowed[i] = int32(o)
	}
	return narrowed
}

func perSlot[T any](p *pattern, perEntry []T, fill T) []T {
	if len(perEntry) == p.room {
		return perEntry
	}
	all := append(make([]T, 0, p.room), perEntry...)
	for len(all) < p.room {
		all = append(all, fill)
	}
	return all
}

func (p *pattern) rowOf() *model.Variable {
	if p.row == nil {
		p.row = p.into.Ints("row", perSlot(p, p.matrix.RowIndices(), 0), p.room, 1)
	}
	return p.row
}

func (p *pattern) in(g *Graph) fused.Matrix {
	return fused.Matrix{Offsets: p.offsets.NodeValue(g), Columns: p.column.NodeValue(g)}
}

func (p *pattern) replace(m csr.Matrix) error {
	if m.NumEntries() > p.room || !p.fused && m.NumEntries() != p.matrix.NumEntries() {
		return ErrNoFit
	}
	p.matrix = m
	err := overwrite(p.column, perSlot(p, m.Indices, 0))
	if p.fused {
		err = errors.Join(err, overwrite(p.offsets, narrow(m.Offsets)))
	}
	if p.row != nil {
		err = errors.Join(err, overwrite(p.row, perSlot(p, m.RowIndices(), 0)))
	}
	return err
}

// Slots returns the number of slots: entries, plus padding.
func (p *pattern) Slots() int { return p.room }

// Gather returns row u of h [columns, width] for each entry (v, u): [entries+padding, width].
func (p *pattern) Gather(h *Node) *Node { return Gather(h, p.column.NodeValue(h.Graph())) }

// Spread returns row v of x [rows, width] for each entry (v, u): [entries+padding, width].
func (p *pattern) Spread(x *Node) *Node {
	row := p.rowOf()
	if p.into.err != nil {
		panic(p.into.err)
	}
	return Gather(x, row.NodeValue(x.Graph()), true)
}

// Total sums e over the entries of each row of the matrix: e [entries+padding, width] → [rows, width].
func (p *pattern) Total(e *Node) *Node {
	if p.fused {
		return p.in(e.Graph()).Total(e, nil)
	}
	zeros := Zeros(e.Graph(), shapes.Make(e.DType(), p.rows, e.Shape().Dimensions[1]))
	if p.matrix.NumEntries() == 0 {
		return zeros
	}
	return ScatterSum(zeros, p.row.NodeValue(e.Graph()), e, true, false)
}

// Highest returns the maximum of e over each row's entries, or [Lowest] for a row without entries: e [entries+padding,
// width] → [rows, width]. e must hold Lowest in padding.
func (p *pattern) Highest(e *Node) *Node {
	if p.fused {
		return p.in(e.Graph()).Highest(e)
	}
	start := AddScalar(Zeros(e.Graph(), shapes.Make(e.DType(), p.rows, e.Shape().Dimensions[1])), Lowest)
	if p.matrix.NumEntries() == 0 {
		return start
	}
	return ScatterMax(start, p.row.NodeValue(e.Graph()), e, true, false)
}

// Agreement returns, for each entry (v, u) and head, the inner product of that head's columns of x_v and h_u: x [rows,
// width], h [columns, width] → [entries+padding, heads].
func (p *pattern) Agreement(x, h *Node, heads int) *Node {
	if p.fused {
		return p.in(x.Graph()).Agreement(x, h, heads)
	}
	return ReduceSum(Reshape(Mul(p.Spread(x), p.Gather(h)), p.room, heads, -1), -1)
}

// noFuse keeps XLA on a CPU from fusing x into later operations, which would compute x again for each entry. XLA never
// fuses a scatter, so noFuse scatters zeros into x. On a GPU, fusion is welcome: it saves launches.
func (p *pattern) noFuse(x *Node) *Node {
	if !p.fused {
		return x
	}
	g := x.Graph()
	zeros := Zeros(g, shapes.Make(x.DType(), 2, x.Shape().Dimensions[1]))
	return ScatterSum(x, Const(g, [][]int32{{0}, {0}}), zeros, true, false)
}
