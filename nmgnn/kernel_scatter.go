package nmgnn

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// scatterProduct holds the entries in order of their rows; an entry's slot is its place.
type scatterProduct struct {
	rows, entries int
	row, column   *model.Variable // [entries, 1]
}

func newScatterProduct(v *variables, s sparse) *scatterProduct {
	p := &scatterProduct{rows: s.rows, entries: s.entries()}
	p.row = v.ints("row", s.rowOfEntries(), p.entries, 1)
	p.column = v.ints("column", s.targets, p.entries, 1)
	return p
}

func (p *scatterProduct) slots() int      { return p.entries }
func (p *scatterProduct) slotOf() []int32 { return nil }

func (p *scatterProduct) times(h, weights *Node) *Node {
	gathered := p.gather(h)
	if weights != nil {
		gathered = heads(gathered, weights)
	}
	return p.total(gathered)
}

func (p *scatterProduct) gather(h *Node) *Node {
	return Gather(h, p.column.NodeValue(h.Graph()))
}

func (p *scatterProduct) spread(x *Node) *Node {
	return Gather(x, p.row.NodeValue(x.Graph()), true)
}

func (p *scatterProduct) total(e *Node) *Node {
	zeros := Zeros(e.Graph(), shapes.Make(e.DType(), p.rows, e.Shape().Dimensions[1]))
	return ScatterSum(zeros, p.row.NodeValue(e.Graph()), e, true, false)
}

func (p *scatterProduct) highest(e *Node) *Node {
	start := AddScalar(Zeros(e.Graph(), shapes.Make(e.DType(), p.rows, e.Shape().Dimensions[1])), lowest)
	return ScatterMax(start, p.row.NodeValue(e.Graph()), e, true, false)
}

// replace puts another pattern with as many rows and entries in the place of this one's.
func (p *scatterProduct) replace(s sparse) error {
	if err := p.row.SetValue(tensors.FromFlatDataAndDimensions(s.rowOfEntries(), p.entries, 1)); err != nil {
		return err
	}
	return p.column.SetValue(tensors.FromFlatDataAndDimensions(s.targets, p.entries, 1))
}
