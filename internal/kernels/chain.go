package kernels

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
)

// chainPattern computes Σ_u h_u as h[i₀] + h[i₁] + …: one gather for the first entry of all rows, one for the
// second, and so on. XLA on a CPU fuses such a chain of gathers and additions into one loop that never stores what it
// gathers, where a gather of all entries followed by any kind of sum writes and reads entries × width numbers.
type chainPattern struct {
	rows, columns int
	first         *chain
	entry         []int32         // slot of each entry
	size          int             // number of slots
	column        *model.Variable // [slots, 1]
	rowVar        *model.Variable // [slots, 1], once asked for
	makeRow       func() *model.Variable
}

// chain adds up the first width entries of some rows. Rows that are shorter have padding; what longer ones have left is
// added up by a further chain over just those rows, or rows are cut into pieces that are added up twice: planChain
// finds out what costs least.
type chain struct {
	rows, width int
	slot        int // of the first entry; entry j of row r is in slot + j·rows + r
	rest        *chain
	restRow     *model.Variable // [rows, 1]: each row's in rest; the row behind it for rows that have nothing left
	// A chain over the sums of pieces has no slots of its own: its entries are rows of another chain's result.
	pieces *chain
	piece  *model.Variable // [width·rows, 1]
}

func newChain(into *Constants, m csr.Matrix) *chainPattern {
	b := chainBuilder{into: into, entry: make([]int32, m.NumEntries())}
	rows := make([]run, m.Rows)
	for r := range rows {
		rows[r] = run{m.Offsets[r], m.Offsets[r+1]}
	}
	p := &chainPattern{rows: m.Rows, columns: m.Columns, entry: b.entry, first: b.build(rows, nil), size: b.size}
	column := slices.Repeat([]int32{int32(m.Columns)}, p.size) // padding reads a row of zeros behind h
	for i, slot := range b.entry {
		column[slot] = m.Indices[i]
	}
	p.column = into.Ints("column", column, p.size, 1)
	p.makeRow = func() *model.Variable {
		row := into.Ints("row", perSlot(p, m.RowIndices(), 0), p.size, 1)
		if into.err != nil {
			panic(into.err)
		}
		return row
	}
	return p
}

// run is a stretch of consecutive entries that belong to one row.
type run struct{ from, to int64 }

func (r run) length() int { return int(r.to - r.from) }

// chainBuilder lays out slots and indices.
type chainBuilder struct {
	into   *Constants
	entry  []int32 // slot of each entry
	size   int     // slots so far
	chains int
}

// build makes a chain over runs of entries, or of rows of pieces.
func (b *chainBuilder) build(runs []run, pieces *chain) *chain {
	lengths := make([]int, len(runs))
	for i, r := range runs {
		lengths[i] = r.length()
	}
	return b.lay(runs, pieces, planChain(lengths))
}

func (b *chainBuilder) lay(runs []run, pieces *chain, plan *chainPlan) *chain {
	if plan.cut {
		cut, whole := cutRuns(runs, int64(plan.width))
		return b.build(whole, b.lay(cut, pieces, &chainPlan{width: plan.width}))
	}
	c := &chain{rows: len(runs), width: plan.width, slot: b.size, pieces: pieces}
	b.chains++
	name := fmt.Sprintf("chain%d_", b.chains)
	if pieces == nil {
		for j := range int64(c.width) {
			for _, r := range runs {
				if r.from+j < r.to {
					b.entry[r.from+j] = int32(b.size)
				}
				b.size++
			}
		}
	} else {
		piece := make([]int32, 0, c.width*c.rows)
		for j := range int64(c.width) {
			for _, r := range runs {
				if r.from+j < r.to {
					piece = append(piece, int32(r.from+j))
				} else {
					piece = append(piece, int32(pieces.rows))
				}
			}
		}
		c.piece = b.into.Ints(name+"piece", piece, len(piece), 1)
	}
	if plan.rest == nil {
		return c
	}
	var left []run
	for _, r := range runs {
		if r.length() > c.width {
			left = append(left, run{r.from + int64(c.width), r.to})
		}
	}
	restRow, next := make([]int32, c.rows), int32(0)
	for i, r := range runs {
		if restRow[i] = int32(len(left)); r.length() > c.width {
			restRow[i] = next
			next++
		}
	}
	c.restRow = b.into.Ints(name+"rest", restRow, c.rows, 1)
	c.rest = b.lay(left, pieces, plan.rest)
	return c
}

// cutRuns cuts runs into pieces of at most width entries, and makes runs of the pieces' numbers.
func cutRuns(runs []run, width int64) (pieces, whole []run) {
	for _, r := range runs {
		first := int64(len(pieces))
		for from := r.from; from < r.to; from += width {
			pieces = append(pieces, run{from, min(from+width, r.to)})
		}
		whole = append(whole, run{first, int64(len(pieces))})
	}
	return pieces, whole
}

func (p *chainPattern) slots() int      { return p.size }
func (p *chainPattern) slotOf() []int32 { return p.entry }

func (p *chainPattern) alone(x *Node) *Node { return alone(x) }

func (p *chainPattern) replace(csr.Matrix) error {
	return fmt.Errorf("%w; a chain's program depends on its matrix: use another kernel", ErrNoFit)
}

func (p *chainPattern) gather(h *Node) *Node {
	return Gather(padRows(h, p.columns+1), p.column.NodeValue(h.Graph()))
}

func (p *chainPattern) spread(x *Node) *Node {
	return Gather(x, p.row().NodeValue(x.Graph()))
}

// agreementBlock is for how many entries at a time products are stored before they are summed: few enough to stay in
// the processor's caches.
const agreementBlock = 8192

func (p *chainPattern) agreement(x, h *Node, heads int) *Node {
	x, h = alone(x), alone(h)
	if p.size > 8*agreementBlock && x.Graph().Backend().Capabilities().Operations[compute.OpTypeDynamicSlice] {
		return p.agreementByBlocks(x, h, heads)
	}
	return alone(sumHeads(Mul(p.spread(x), p.gather(h)), heads))
}

// agreementByBlocks is agreement for more slots than a block has.
func (p *chainPattern) agreementByBlocks(x, h *Node, heads int) *Node {
	g := x.Graph()
	h = padRows(h, p.columns+1)
	row, column := p.row().NodeValue(g), p.column.NodeValue(g)
	blocks := int32((p.size + agreementBlock - 1) / agreementBlock)
	state := []*Node{Const(g, int32(0)), Zeros(g, shapes.Make(x.DType(), p.size, heads))}
	parameters := func(g *Graph) (block, done *Node) {
		return Parameter(g, "block", state[0].Shape()), Parameter(g, "done", state[1].Shape())
	}
	more := NewClosure(g, func(g *Graph) []*Node {
		block, _ := parameters(g)
		return []*Node{LessThan(block, Const(g, blocks))}
	})
	next := NewClosure(g, func(g *Graph) []*Node {
		block, done := parameters(g)
		// The last block begins earlier, so that it is as long as the others.
		at := []*Node{Mul(block, Const(g, int32(agreementBlock))), Const(g, int32(0))}
		of := func(index *Node) *Node { return DynamicSlice(index, at, []int{agreementBlock, 1}) }
		sums := sumHeads(Mul(Gather(x, of(row)), Gather(h, of(column))), heads)
		return []*Node{Add(block, Const(g, int32(1))), DynamicUpdateSlice(done, sums, at)}
	})
	return While(more, next, state...)[1]
}

func (p *chainPattern) row() *model.Variable {
	if p.rowVar == nil {
		p.rowVar = p.makeRow()
	}
	return p.rowVar
}

func (p *chainPattern) times(h, weights *Node) *Node {
	// Whatever makes h would otherwise be fused into the loop too, and computed again for each entry.
	h = alone(padRows(h, p.columns+1))
	if weights != nil {
		weights = alone(weights)
	}
	column := p.column.NodeValue(h.Graph())
	return p.fold(0, Add, func(slot, rows int) *Node {
		term := Gather(h, SliceAxis(column, 0, AxisRange(slot, slot+rows)))
		if weights == nil {
			return term
		}
		return perHead(term, SliceAxis(weights, 0, AxisRange(slot, slot+rows)))
	})
}

func (p *chainPattern) total(e *Node) *Node {
	e = alone(e)
	return p.fold(0, Add, func(slot, rows int) *Node { return SliceAxis(e, 0, AxisRange(slot, slot+rows)) })
}

func (p *chainPattern) highest(e *Node) *Node {
	e = alone(e)
	return p.fold(Lowest, Max, func(slot, rows int) *Node { return SliceAxis(e, 0, AxisRange(slot, slot+rows)) })
}

// fold combines the terms of each row's slots, empty standing for none.
func (p *chainPattern) fold(empty float64, combine func(a, b *Node) *Node, term func(slot, rows int) *Node) *Node {
	done := map[*chain]*Node{} // followed by a row of empty
	var run func(c *chain) *Node
	behind := func(c *chain) *Node {
		if done[c] == nil {
			x := run(c)
			last := AddScalar(Zeros(x.Graph(), shapes.Make(x.DType(), 1, x.Shape().Dimensions[1])), empty)
			done[c] = alone(Concatenate([]*Node{x, last}, 0))
		}
		return done[c]
	}
	run = func(c *chain) *Node {
		var sum *Node
		add := func(x *Node) {
			if sum == nil {
				sum = x
			} else {
				sum = combine(sum, x)
			}
		}
		for j := range c.width {
			if c.pieces == nil {
				add(term(c.slot+j*c.rows, c.rows))
				continue
			}
			x := behind(c.pieces)
			add(Gather(x, SliceAxis(c.piece.NodeValue(x.Graph()), 0, AxisRange(j*c.rows, (j+1)*c.rows))))
		}
		if c.rest != nil {
			x := behind(c.rest)
			add(Gather(x, c.restRow.NodeValue(x.Graph())))
		}
		return sum
	}
	return alone(run(p.first))
}

// alone keeps XLA on a CPU from fusing what makes x into what uses it: a loop of gathers inside another such loop would
// be computed anew for each entry, and OptimizationBarrier is gone before fusion begins. A scatter is never fused; this
// one adds zero to one row, in place. On a GPU it would be a kernel that does nothing.
func alone(x *Node) *Node {
	g := x.Graph()
	zeros := Zeros(g, shapes.Make(x.DType(), 2, x.Shape().Dimensions[1]))
	return ScatterSum(x, Const(g, [][]int32{{0}, {0}}), zeros, true, false)
}

// chainPlan says how long a chain is and what follows it.
type chainPlan struct {
	width int
	rest  *chainPlan // for rows that are longer; nil: there are none
	cut   bool       // instead, cut all rows into pieces of width entries
}

const (
	longestChain = 64
	// compiling is what a gather in the program costs, in rows gathered: it takes milliseconds to compile, a row takes
	// nanoseconds to gather, in some hundreds of epochs.
	compiling = 2000
)

// planChain finds the cheapest plan for rows of these lengths, at least one of them above 0.
func planChain(lengths []int) *chainPlan {
	rows := map[int]int{}
	for _, n := range lengths {
		rows[n]++
	}
	h := make([]bin, 0, len(rows))
	for n, count := range rows {
		h = append(h, bin{n, count})
	}
	slices.SortFunc(h, func(a, b bin) int { return a.length - b.length })
	_, plan := cheapest(h, 3)
	return plan
}

// bin counts rows of one length.
type bin struct{ length, rows int }

// cheapest searches plans with up to so many chains in a row; h is in order of length.
func cheapest(h []bin, chains int) (cost int, best *chainPlan) {
	rows, longest := 0, h[len(h)-1].length
	for _, b := range h {
		rows += b.rows
	}
	consider := func(c int, plan chainPlan) {
		if best == nil || c < cost {
			cost, best = c, &plan
		}
	}
	if longest <= longestChain {
		consider((rows+compiling)*longest, chainPlan{width: longest})
	}
	for _, w := range []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64} {
		if w >= longest {
			break
		}
		if chains > 1 && (best == nil || (rows+compiling)*(w+1) < cost) {
			var left []bin
			over := 0
			for _, b := range h {
				if b.length > w {
					left = append(left, bin{b.length - w, b.rows})
					over += b.rows
				}
			}
			c, rest := cheapest(left, chains-1)
			consider((rows+compiling)*(w+1)+over+c, chainPlan{width: w, rest: rest})
		}
		if w >= 8 {
			var whole []bin
			pieces := 0
			for _, b := range h {
				n := (b.length + w - 1) / w
				pieces += n * b.rows
				if k := len(whole); k > 0 && whole[k-1].length == n {
					whole[k-1].rows += b.rows
				} else {
					whole = append(whole, bin{n, b.rows})
				}
			}
			c, _ := cheapest(whole, min(chains, 2))
			consider((pieces+compiling)*w+pieces+c, chainPlan{width: w, cut: true})
		}
	}
	return cost, best
}
