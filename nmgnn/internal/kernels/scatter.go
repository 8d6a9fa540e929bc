package kernels

import (
	"errors"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
)

// scatterPattern holds the entries by row, without padding.
type scatterPattern struct {
	rows, entries int
	row, column   *model.Variable // [entries, 1]
}

func newScatter(into *Constants, m csr.Matrix) *scatterPattern {
	p := &scatterPattern{rows: m.Rows, entries: m.NumEntries()}
	p.row = into.Ints("row", m.RowIndices(), p.entries, 1)
	p.column = into.Ints("column", m.Indices, p.entries, 1)
	return p
}

func (p *scatterPattern) Slots() int { return p.entries }

// alone does nothing: on a GPU, where this kernel runs, more fusion means fewer launches.
func (p *scatterPattern) alone(x *Node) *Node { return x }

func (p *scatterPattern) times(h, weights *Node) *Node {
	gathered := p.Gather(h)
	if weights != nil {
		gathered = perHead(gathered, weights)
	}
	return p.Total(gathered)
}

func (p *scatterPattern) Gather(h *Node) *Node {
	return Gather(h, p.column.NodeValue(h.Graph()))
}

func (p *scatterPattern) Spread(x *Node) *Node {
	return Gather(x, p.row.NodeValue(x.Graph()), true)
}

func (p *scatterPattern) Total(e *Node) *Node {
	zeros := Zeros(e.Graph(), shapes.Make(e.DType(), p.rows, e.Shape().Dimensions[1]))
	return ScatterSum(zeros, p.row.NodeValue(e.Graph()), e, true, false)
}

func (p *scatterPattern) Highest(e *Node) *Node {
	start := AddScalar(Zeros(e.Graph(), shapes.Make(e.DType(), p.rows, e.Shape().Dimensions[1])), Lowest)
	return ScatterMax(start, p.row.NodeValue(e.Graph()), e, true, false)
}

func (p *scatterPattern) Agreement(x, h *Node, heads int) *Node {
	// The matrix product of [sumHeads] would be stored per entry.
	return ReduceSum(Reshape(Mul(p.Spread(x), p.Gather(h)), p.entries, heads, -1), -1)
}

func (p *scatterPattern) replace(m csr.Matrix) error {
	if m.NumEntries() != p.entries {
		return ErrNoFit
	}
	return errors.Join(overwrite(p.row, m.RowIndices()), overwrite(p.column, m.Indices))
}
