package nmgnn

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// bucketProduct holds rows in groups: a group of m rows with up to w entries each is a rectangle [m, w] of slots, padded
// with a column of zeros that is appended to h. Groups stand one after the other.
type bucketProduct struct {
	rows, columns int
	wide          bool // gather two numbers at a time
	buckets       []bucket
	entry         []int32         // slot of each entry
	size          int             // number of slots
	column        *model.Variable // [slots, 1]
	row           *model.Variable // [slots, 1]
	place         *model.Variable // [rows, 1]: where each row's sum stands in the groups, one after the other
}

type bucket struct{ rows, width, slot int } // slot: where it begins

// pick takes rows of h. The pure-Go backend moves one element at a time, whatever its size.
func (p *bucketProduct) pick(h, rows *Node) *Node {
	height, width := h.Shape().Dimensions[0], h.Shape().Dimensions[1]
	if !p.wide || width%2 != 0 {
		return Gather(h, rows)
	}
	pairs := Bitcast(Reshape(h, height, width/2, 2), dtypes.Float64)
	return Reshape(Bitcast(Gather(pairs, rows), dtypes.Float32), -1, width)
}

// Bucket widths grow by steps of at most an eighth, so that at most a ninth of a group is padding.
func bucketWidth(degree int) int {
	width := 1
	for width < degree {
		width += max(1, width/8)
	}
	return width
}

func newBucketProduct(v *variables, s sparse, wide bool) *bucketProduct {
	p := &bucketProduct{rows: s.rows, columns: s.columns, wide: wide, entry: make([]int32, s.entries())}
	grouped := map[int][]int32{}
	for r := range s.rows {
		if d := int(s.offsets[r+1] - s.offsets[r]); d > 0 {
			grouped[bucketWidth(d)] = append(grouped[bucketWidth(d)], int32(r))
		}
	}
	widths := make([]int, 0, len(grouped))
	for w := range grouped {
		widths = append(widths, w)
	}
	slices.Sort(widths)
	place := slices.Repeat([]int32{-1}, s.rows)
	placed := int32(0)
	var column, row []int32
	for _, w := range widths {
		members := grouped[w]
		p.buckets = append(p.buckets, bucket{rows: len(members), width: w, slot: len(column)})
		for _, r := range members {
			place[r] = placed
			placed++
			for j := range int64(w) {
				row = append(row, r)
				if i := s.offsets[r] + j; i < s.offsets[r+1] {
					p.entry[i] = int32(len(column))
					column = append(column, s.targets[i])
				} else {
					column = append(column, int32(s.columns))
				}
			}
		}
	}
	for r := range place {
		if place[r] < 0 { // no entries: the row behind all groups
			place[r] = placed
		}
	}
	p.size = len(column)
	p.column = v.ints("column", column, p.size, 1)
	p.row = v.ints("row", row, p.size, 1)
	p.place = v.ints("place", place, s.rows, 1)
	return p
}

func (p *bucketProduct) slots() int      { return p.size }
func (p *bucketProduct) slotOf() []int32 { return p.entry }

func (p *bucketProduct) gather(h *Node) *Node {
	return p.pick(padRows(h, p.columns+1), p.column.NodeValue(h.Graph()))
}

func (p *bucketProduct) spread(x *Node) *Node {
	return p.pick(x, p.row.NodeValue(x.Graph()))
}

func (p *bucketProduct) times(h, weights *Node) *Node {
	width := h.Shape().Dimensions[1]
	h = padRows(h, p.columns+1)
	column := p.column.NodeValue(h.Graph())
	return p.fold(0, width, func(b bucket) *Node {
		gathered := p.pick(h, SliceAxis(column, 0, AxisRange(b.slot, b.slot+b.rows*b.width)))
		if weights == nil {
			return ReduceSum(Reshape(gathered, b.rows, b.width, width), 1)
		}
		heads := weights.Shape().Dimensions[1]
		w := Reshape(b.of(weights), b.rows, b.width, heads)
		if heads == 1 {
			return DotGeneral(Reshape(w, b.rows, b.width), []int{1}, []int{0}, Reshape(gathered, b.rows, b.width, width), []int{1}, []int{0})
		}
		each := Mul(Reshape(gathered, b.rows, b.width, heads, width/heads), Reshape(w, b.rows, b.width, heads, 1))
		return Reshape(ReduceSum(each, 1), b.rows, width)
	})
}

func (p *bucketProduct) total(e *Node) *Node {
	width := e.Shape().Dimensions[1]
	return p.fold(0, width, func(b bucket) *Node { return ReduceSum(Reshape(b.of(e), b.rows, b.width, width), 1) })
}

func (p *bucketProduct) highest(e *Node) *Node {
	width := e.Shape().Dimensions[1]
	return p.fold(lowest, width, func(b bucket) *Node { return ReduceMax(Reshape(b.of(e), b.rows, b.width, width), 1) })
}

// of is a group's part of what belongs to the slots.
func (b bucket) of(e *Node) *Node { return SliceAxis(e, 0, AxisRange(b.slot, b.slot+b.rows*b.width)) }

// fold reduces each group to [rows, width] and puts the rows into their order; rows without entries get empty.
func (p *bucketProduct) fold(empty float64, width int, reduce func(bucket) *Node) *Node {
	parts := make([]*Node, 0, len(p.buckets)+1)
	for _, b := range p.buckets {
		parts = append(parts, reduce(b))
	}
	g := parts[0].Graph()
	parts = append(parts, AddScalar(Zeros(g, shapes.Make(parts[0].DType(), 1, width)), empty))
	return p.pick(Concatenate(parts, 0), p.place.NodeValue(g))
}
