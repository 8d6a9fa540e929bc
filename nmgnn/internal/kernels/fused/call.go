package fused

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// handlers.c lists the inputs and results of each kernel.
const (
	timesKernel          = "nodemask_times"
	reachKernel          = "nodemask_reach" // in C only
	totalKernel          = "nodemask_total"
	highestKernel        = "nodemask_highest"
	agreementKernel      = "nodemask_agreement"
	attendKernel         = "nodemask_attend"
	attendBackwardKernel = "nodemask_attend_backward"
	dropKernel           = "nodemask_drop"
	scoreKernel          = "nodemask_score"
	scoreBackwardKernel  = "nodemask_score_backward"
	eluKernel            = "nodemask_elu"
	outerKernel          = "nodemask_outer" // in C only
)

// Bits in a kernel's first input tell which optional inputs follow. handlers.c has the same bits.
const (
	heardBit = 1 << iota
	wantedBit
	droppedBit
	scoresBit
	keepBit
	rootBit
	biasBit
	gateBit
)

// Rows tells a kernel, for a product [Matrix]·h, which rows of h and of the result it may skip, and what to add to the
// result. Each field may be nil.
type Rows struct {
	// Heard [columns, 1] has one number per row of the dense factor h (per column of the [Matrix]): 0 marks rows to
	// treat as zeros. Kernels skip marked rows if [Skips] returns true; otherwise, the caller must zero them.
	Heard *Node
	// Wanted [rows, 1] is zero for result rows that need not be computed.
	Wanted *Node
	// Root [rows, width] and then Bias [1, width] are added to the sum. They must be nil unless [Skips] returns true.
	// [Matrix.Attend] takes no Root; the other methods take a Bias only with a Root.
	Root, Bias *Node
}

func (r Rows) inputs(g *Graph, which int32, heard, wanted int) []*Node {
	must("heard", r.Heard, heard, 1)
	must("wanted", r.Wanted, wanted, 1)
	for _, optional := range []struct {
		x   *Node
		bit int32
	}{{r.Heard, heardBit}, {r.Wanted, wantedBit}, {r.Root, rootBit}, {r.Bias, biasBit}} {
		if optional.x != nil {
			which |= optional.bit
		}
	}
	return given(Const(g, [][]int32{{which}}), r.Heard, r.Wanted, r.Root, r.Bias)
}

// call adds a kernel's call to the computation; results are the shapes of what the kernel returns. call panics if the
// backend cannot run kernels.
//
// GoMLX has no custom calls. So call adds a call of a placeholder function and then, unknown to GoMLX, replaces it by a
// call of the kernel. Never clone the returned nodes, not even by gradient checkpointing: clones would call the
// placeholder.
func call(kernel string, results [][2]int, inputs ...*Node) []*Node {
	g := inputs[0].Graph()
	outputs := NewFunction(g, g.UniqueName(kernel), func(g *Graph) []*Node {
		for i, x := range inputs {
			Parameter(g, "x"+string(rune('a'+i)), x.Shape())
		}
		outputs := make([]*Node, len(results))
		for i, r := range results {
			// Nothing reads these values, so Iota serves as well as Zeros. GoMLX would share a node of Zeros among
			// functions, which is an error.
			outputs[i] = Iota(g, shapes.Make(dtypes.Float32, r[0], r[1]), 0)
		}
		return outputs
	}).Call(inputs...)
	switch t, isGo := runsInGo(g.Backend()); {
	case isGo && kernelsInGo[kernel] != nil:
		t.replace(outputs, kernelsInGo[kernel])
	case takesForeign(g.Backend()):
		if err := makeForeign(kernel, InternalBackendOutputs(outputs[0])[0]); err != nil {
			panic(fmt.Errorf("calling %s: %w", kernel, err))
		}
	default:
		panic(fmt.Errorf("the backend %q does not run %s: Intercepted or Register say why", g.Backend().Name(), kernel))
	}
	return outputs
}

// must panics unless x is nil or has this shape. If rows or columns is negative, any number is allowed, except 0
// columns.
func must(name string, x *Node, rows, columns int) {
	if x == nil {
		return
	}
	if d := x.Shape().Dimensions; len(d) != 2 || rows >= 0 && d[0] != rows || columns >= 0 && d[1] != columns ||
		d[1] == 0 {
		panic(fmt.Errorf("%s is %s, expected [%d, %d], where -1 stands for any number but 0 columns", name, x.Shape(),
			rows, columns))
	}
}

func mustDivide(width, heads int) {
	if heads < 1 || width%heads != 0 {
		panic(fmt.Errorf("%d heads cannot share a width of %d equally", heads, width))
	}
}

func mustDraw(draw, scale *Node) {
	must("draw", draw, 1, 3)
	must("scale", scale, 1, 1)
}

// Matrix is the pattern of a sparse matrix, which multiplies a dense matrix h. Row r has entries Offsets[r] …
// Offsets[r+1]-1; entry i is in column Columns[i]. With several heads, the columns of h are divided into equal
// consecutive blocks, one per head.
//
// Offsets must ascend from 0 to the number of entries, and each of Columns must be the index of a row of h. Kernels
// do not check this, and would read outside their arrays.
type Matrix struct {
	Offsets *Node // [rows+1, 1] int32
	Columns *Node // [entries, 1] int32
}

func (m Matrix) rows() int { return m.Offsets.Shape().Dimensions[0] - 1 }

func (m Matrix) check(positions *Node) {
	must("offsets", m.Offsets, -1, 1)
	must("columns", m.Columns, -1, 1)
	must("positions", positions, m.entries(), 1)
}

func (m Matrix) entries() int { return m.Columns.Shape().Dimensions[0] }

func width(x *Node) int { return x.Shape().Dimensions[1] }

func given(nodes ...*Node) []*Node {
	return slices.DeleteFunc(nodes, func(n *Node) bool { return n == nil })
}

// Times returns Σ weight·h[column] over the entries of each matrix row: h [columns, width] → [rows, width]. weights is
// [entries, heads], one weight per head's equal share of width, or nil for ones. Entry i uses weights[positions[i]], or
// weights[i] if positions is nil. positions is [entries, 1] int32.
func (m Matrix) Times(h, weights, positions *Node, r Rows) *Node {
	return m.times(0, h, weights, positions, r)
}

// TimesDropped applies [Drop] to weights [entries, 1], then multiplies like [Matrix.Times]. indices [entries, 1]
// int32 holds the index i that Drop's formula uses for each entry. If indices is nil, i is the entry's own index.
// TimesDropped panics unless [Skips] returns true.
func (m Matrix) TimesDropped(draw, scale, h, weights, indices *Node, r Rows) *Node {
	mustDraw(draw, scale)
	must("weights", weights, m.entries(), 1)
	if !Skips(h.Graph()) {
		panic(errors.New("there is no such kernel in Go"))
	}
	return m.times(droppedBit, h, weights, indices, r, draw, scale)
}

// Skips reports whether the backend runs [Matrix.TimesDropped] and [Matrix.Reach], and skips all rows that [Rows] lets
// it skip. The pure-Go backend does not run these two, and skipping rows there would be slower or change the order of
// sums.
func Skips(g *Graph) bool { return takesForeign(g.Backend()) }

func (m Matrix) times(which int32, h, weights, positions *Node, r Rows, draw ...*Node) *Node {
	must("h", h, -1, -1)
	if weights == nil {
		positions = nil
	} else {
		must("weights", weights, m.entries(), -1)
		mustDivide(width(h), width(weights))
	}
	m.check(positions)
	must("root", r.Root, m.rows(), width(h))
	must("bias", r.Bias, 1, width(h))
	return call(timesKernel, [][2]int{{m.rows(), width(h)}}, slices.Concat(r.inputs(h.Graph(), which,
		h.Shape().Dimensions[0], m.rows()), draw, given(m.Offsets, m.Columns, h, weights, positions))...)[0]
}

// Reach returns y [rows, 1], which marks the seen nodes of a square matrix and their heard neighbours. y_u is 1 if
// seen_u ≠ 0, or if heard_u ≠ 0 and a row v with seen_v ≠ 0 has an entry in column u. seen and heard are [rows, 1]; a
// nil heard means ones.
func (m Matrix) Reach(seen, heard *Node) *Node {
	must("seen", seen, m.rows(), 1)
	must("heard", heard, m.rows(), 1)
	m.check(nil)
	return call(reachKernel, [][2]int{{m.rows(), 1}}, given(m.Offsets, m.Columns, seen, heard)...)[0]
}

// Total sums e over the entries of each row of m: e [entries, width] → [rows, width]. [Matrix.Times] explains
// positions.
func (m Matrix) Total(e, positions *Node) *Node {
	must("e", e, m.entries(), -1)
	m.check(positions)
	return call(totalKernel, [][2]int{{m.rows(), width(e)}}, given(m.Offsets, e, positions)...)[0]
}

// Highest returns the maximum of e over each row's entries, or -1e30 for a row without entries: e [entries, width] →
// [rows, width].
func (m Matrix) Highest(e *Node) *Node {
	must("e", e, m.entries(), -1)
	m.check(nil)
	return call(highestKernel, [][2]int{{m.rows(), width(e)}}, m.Offsets, e)[0]
}

// Agreement returns, for each entry (r, c), the inner product of each head's columns of x_r and h_c: x [rows, width], h
// [columns, width] → [entries, heads].
func (m Matrix) Agreement(x, h *Node, heads int) *Node {
	must("x", x, m.rows(), -1)
	must("h", h, -1, width(x))
	mustDivide(width(x), heads)
	m.check(nil)
	return call(agreementKernel, [][2]int{{m.entries(), heads}}, m.Offsets, m.Columns, x, h)[0]
}

// Drop multiplies x [rows, columns] by scale [1, 1] and sets some elements to zero. nil x means ones. draw [1, 3]
// uint32 holds a, b and c. Element i, counted row by row, becomes zero if mix(mix(i ^ a) + b) < c; mix is the hash
// function lowbias32. Elements where gate [rows, columns] is below 0 become 0, too. Rows where wanted [rows, 1] is zero
// need not be computed. wanted may be nil; gate must be nil unless [Skips] returns true.
func Drop(draw, scale, x *Node, rows, columns int, wanted, gate *Node) *Node {
	must("x", x, rows, columns)
	must("gate", gate, rows, columns)
	return callDrop(draw, scale, x, 0, rows, columns, rows, wanted, gate, nil)
}

// DropRows computes a block of [Drop]'s result: as many rows as the parameter rows says, from the row with index first.
// DropRows waits for the node previous, so that blocks are computed one after another.
func DropRows(draw, scale, x *Node, first, rows int, wanted, previous *Node) *Node {
	return callDrop(draw, scale, x, first, rows, width(x), x.Shape().Dimensions[0], wanted, nil, previous)
}

func callDrop(draw, scale, x *Node, first, rows, columns, all int, wanted, gate, after *Node) *Node {
	mustDraw(draw, scale)
	g := draw.Graph()
	draw = Concatenate([]*Node{draw, Const(g, [][]uint32{{uint32(first)}})}, 1)
	var which int32
	if gate != nil {
		which = gateBit
	}
	return call(dropKernel, [][2]int{{rows, columns}}, append(Rows{Wanted: wanted}.inputs(g, which, 0, all),
		given(gate, draw, scale, x, after)...)...)[0]
}

// Score returns two inner products for each row of x and each head, over the head's columns: y is that of x and a, z
// that of x and b. x is [rows, width], a and b are [1, width], y and z are [rows, heads].
func Score(x, a, b *Node, heads int) (y, z *Node) {
	must("x", x, -1, -1)
	must("a", a, 1, width(x))
	must("b", b, 1, width(x))
	mustDivide(width(x), heads)
	results := [2]int{x.Shape().Dimensions[0], heads}
	out := call(scoreKernel, [][2]int{results, results}, x, a, b)
	return out[0], out[1]
}

// ScoreBackward returns the gradients with respect to x, a and b, the arguments of [Score]. v and w [rows, heads] are
// the gradients with respect to Score's first and second result.
func ScoreBackward(x, a, b, v, w *Node) (towardsX, towardsA, towardsB *Node) {
	must("x", x, -1, -1)
	must("a", a, 1, width(x))
	must("b", b, 1, width(x))
	rows := x.Shape().Dimensions[0]
	must("v", v, rows, -1)
	must("w", w, rows, width(v))
	mustDivide(width(x), width(v))
	parts := [2]int{min(rows, 64), width(x)} // the same number of partial sums on every backend, for equal rounding
	out := call(scoreBackwardKernel, [][2]int{{rows, width(x)}, parts, parts}, x, a, b, v, w)
	total := func(parts *Node) *Node { return Reshape(ReduceSum(parts, 0), 1, width(x)) }
	return out[0], total(out[1]), total(out[2])
}

var sumsInOrder atomic.Bool

// HoldSums fixes the order of additions. Programs that this process compiles afterwards, for XLA on a CPU, use [Outer]
// for sums over rows.
func HoldSums() { sumsInOrder.Store(true) }

// Outer returns xᵀ·v for x [rows, width] and v [rows, out]. It adds in an order that depends on the shapes alone,
// whereas XLA's order depends on the CPU. wanted [rows, 1], if not nil, is zero for rows that Outer may skip; v must
// be zero there. Outer works only if [SumsInOrder] returns true.
func Outer(x, v, wanted *Node) *Node {
	must("x", x, -1, -1)
	must("v", v, x.Shape().Dimensions[0], -1)
	const most = 1 << 18
	size := width(x) * width(v)
	parts := max(1, min(16, x.Shape().Dimensions[0], most/size))
	must("wanted", wanted, x.Shape().Dimensions[0], 1)
	sums := call(outerKernel, [][2]int{{parts * width(x), width(v)}}, given(x, v, wanted)...)[0]
	return ReduceSum(Reshape(sums, parts, width(x), width(v)), 0)
}

// SumsInOrder reports whether [HoldSums] was called and applies to g's backend.
func SumsInOrder(g *Graph) bool { return sumsInOrder.Load() && takesForeign(g.Backend()) }

// ELU returns x [rows, columns] where x is positive, else exp(x) - 1. If v is not nil, v is the gradient with respect
// to this result, and ELU returns the gradient with respect to x instead.
func ELU(x, v *Node) *Node {
	must("x", x, -1, -1)
	must("v", v, x.Shape().Dimensions[0], width(x))
	return call(eluKernel, [][2]int{{x.Shape().Dimensions[0], width(x)}}, given(x, v)...)[0]
}

// Available reports whether the computation's backend runs all kernels.
func Available(g *Graph) bool { return RunsOn(g.Backend()) }

// RunsOn reports whether a backend runs all kernels. If not, [Intercepted] or [Register] returns the reason.
func RunsOn(b compute.Backend) bool {
	_, isGo := runsInGo(b)
	return isGo || takesForeign(b)
}

// Scores are attention's scores before the softmax: E [entries, heads]. If E is nil, the entry in row r and column c
// has the score LeakyReLU(Source_c + Target_r): Slope [1, 1] is LeakyReLU's slope for negative inputs, Source is
// [columns, heads] and Target is [rows, heads].
type Scores struct{ E, Source, Target, Slope *Node }

func (s Scores) nodes() []*Node { return given(s.E, s.Source, s.Target, s.Slope) }

func (s Scores) which() int32 {
	if s.E != nil {
		return scoresBit
	}
	return 0
}

// Heads returns the number of heads.
func (s Scores) Heads() int { return width(s.nodes()[0]) }

func (m Matrix) checkScores(s Scores, h *Node) {
	m.check(nil)
	must("h", h, -1, -1)
	mustDivide(width(h), s.Heads())
	if s.E != nil {
		must("scores", s.E, m.entries(), -1)
		return
	}
	must("source", s.Source, h.Shape().Dimensions[0], -1)
	must("target", s.Target, m.rows(), s.Heads())
	must("slope", s.Slope, 1, 1)
}

// Attend sums rows of h [columns, width], weighted by attention. alpha is the softmax of the scores over the entries of
// each row of m. kept is alpha·keep, or alpha if keep is nil. y [rows, width] is Σ kept·h[column] over the same
// entries. keep, alpha and kept are [entries, heads]. alpha and kept are undefined for rows where r.Wanted is zero.
func (m Matrix) Attend(s Scores, h, keep *Node, r Rows) (y, alpha, kept *Node) {
	m.checkScores(s, h)
	must("keep", keep, m.entries(), s.Heads())
	must("bias", r.Bias, 1, width(h))
	which, entries := s.which(), [2]int{m.entries(), s.Heads()}
	results := [][2]int{{m.rows(), width(h)}, entries}
	if keep != nil {
		which |= keepBit
		results = append(results, entries)
	}
	out := call(attendKernel, results, slices.Concat(r.inputs(h.Graph(), which, h.Shape().Dimensions[0], m.rows()),
		given(m.Offsets, m.Columns, h), s.nodes(), given(keep))...)
	return out[0], out[1], out[len(out)-1]
}

// AttendBackward returns d [entries, heads], the gradient with respect to [Matrix.Attend]'s scores, given g [rows,
// width], the gradient with respect to Attend's result y. If s.E is nil, d is the gradient with respect to each score
// before LeakyReLU, and target [rows, heads] is the sum of d over each row of m: the gradient with respect to s.Target.
// Otherwise, target is nil.
func (m Matrix) AttendBackward(s Scores, h, alpha, kept, g *Node, r Rows) (d, target *Node) {
	m.checkScores(s, h)
	must("alpha", alpha, m.entries(), s.Heads())
	must("kept", kept, m.entries(), s.Heads())
	must("g", g, m.rows(), width(h))
	results := [][2]int{{m.entries(), s.Heads()}}
	if s.E == nil {
		results = append(results, [2]int{m.rows(), s.Heads()})
	}
	out := call(attendBackwardKernel, results, slices.Concat(r.inputs(h.Graph(), s.which(), h.Shape().Dimensions[0],
		m.rows()), given(m.Offsets, m.Columns, h, alpha, kept, g), s.nodes())...)
	if s.E != nil {
		return out[0], nil
	}
	return out[0], out[1]
}
