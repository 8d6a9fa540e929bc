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

// Kernel names in programs. handlers.c lists their inputs and results.
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

// Rows select rows that a kernel may skip, and what its sums start from; each may be nil.
type Rows struct {
	// Heard [columns, 1] is zero for rows of h that count as zero and are not read; unless [Skips], they must be zero.
	Heard *Node
	// Wanted [rows, 1] is zero for result rows that may be zero. In Go, only sums use Wanted.
	Wanted *Node
	// Root [rows, width] and Bias [1, width] are added to sums if [Skips]: (Root + sum) + Bias. Attention takes only a
	// Bias, other sums a Bias only with a Root.
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

// call calls a kernel that returns matrices of these [rows, columns]. It panics if the backend cannot run kernels.
//
// GoMLX has no custom calls, so call calls a dummy function of the same shapes, then turns that call into the kernel's.
// GoMLX does not know this: never clone nodes of kernels, as gradient checkpointing does.
func call(kernel string, results [][2]int, inputs ...*Node) []*Node {
	g := inputs[0].Graph()
	outputs := NewFunction(g, g.UniqueName(kernel), func(g *Graph) []*Node {
		for i, x := range inputs {
			Parameter(g, "x"+string(rune('a'+i)), x.Shape())
		}
		outputs := make([]*Node, len(results))
		for i, r := range results {
			// Functions would share a node of zeros, but may use only their own nodes.
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

// must panics, as GoMLX does, unless x is nil or has these rows and columns; below 0 means any number but 0 columns, as
// kernels divide by columns.
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

// Matrix is a sparse matrix's pattern: row r has entries Offsets[r] … Offsets[r+1]-1; entry i is in column Columns[i].
// Heads share the width equally, in order.
//
// Callers must ensure that offsets ascend from 0 to the number of entries and that columns are rows of every h;
// otherwise kernels read outside their arrays.
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

// Times returns Σ over each row's entries of weight·h[column]: h [columns, width] → [rows, width]. Entry i's weights
// are row positions[i] of weights [entries, heads] (nil: ones), positions [entries, 1] int32 (nil: i).
func (m Matrix) Times(h, weights, positions *Node, r Rows) *Node {
	return m.times(0, h, weights, positions, r)
}

// TimesDropped is [Matrix.Times] with [Drop] of weights [entries, 1], without reading dropped rows. Entry i has number
// numbers[i] ([entries, 1] int32; nil: i). It panics unless [Skips].
func (m Matrix) TimesDropped(draw, scale, h, weights, numbers *Node, r Rows) *Node {
	mustDraw(draw, scale)
	must("weights", weights, m.entries(), 1)
	if !Skips(h.Graph()) {
		panic(errors.New("there is no such kernel in Go"))
	}
	return m.times(droppedBit, h, weights, numbers, r, draw, scale)
}

// Skips reports whether the backend runs [Matrix.TimesDropped] and [Matrix.Reach], and all its kernels skip [Rows]. In
// Go that would be slower, or change the order of sums.
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

// Reach returns 1 for rows seen [rows, 1] and for rows that a seen row's sum reads, else 0. Only columns heard [rows,
// 1] count; nil means all. The matrix is square.
func (m Matrix) Reach(seen, heard *Node) *Node {
	must("seen", seen, m.rows(), 1)
	must("heard", heard, m.rows(), 1)
	m.check(nil)
	return call(reachKernel, [][2]int{{m.rows(), 1}}, given(m.Offsets, m.Columns, seen, heard)...)[0]
}

// Total sums each row: e [entries, width] → [rows, width], positions as in [Matrix.Times].
func (m Matrix) Total(e, positions *Node) *Node {
	must("e", e, m.entries(), -1)
	m.check(positions)
	return call(totalKernel, [][2]int{{m.rows(), width(e)}}, given(m.Offsets, e, positions)...)[0]
}

// Highest returns each row's maximum, -1e30 if empty: e [entries, width] → [rows, width].
func (m Matrix) Highest(e *Node) *Node {
	must("e", e, m.entries(), -1)
	m.check(nil)
	return call(highestKernel, [][2]int{{m.rows(), width(e)}}, m.Offsets, e)[0]
}

// Agreement returns each entry's inner products, per head, of its row of x [rows, width] and its column of h [columns,
// width]: [entries, heads].
func (m Matrix) Agreement(x, h *Node, heads int) *Node {
	must("x", x, m.rows(), -1)
	must("h", h, -1, width(x))
	mustDivide(width(x), heads)
	m.check(nil)
	return call(agreementKernel, [][2]int{{m.entries(), heads}}, m.Offsets, m.Columns, x, h)[0]
}

// Drop returns x [rows, columns] (nil: ones), with some numbers zeroed and the others multiplied by scale [1, 1].
// Number i, row by row, is dropped if mix(mix(i ^ a) + b) < c, with mix "lowbias32" and draw [1, 3] uint32 (a, b, c).
// wanted is as in [Rows].
//
// Where gate [rows, columns] is below 0 the result is 0; nil: nowhere. A gate needs [Skips].
func Drop(draw, scale, x *Node, rows, columns int, wanted, gate *Node) *Node {
	must("x", x, rows, columns)
	must("gate", gate, rows, columns)
	return callDrop(draw, scale, x, 0, rows, columns, rows, wanted, gate, nil)
}

// DropRows returns rows first … first+rows-1 of [Drop] of x. It waits for the node after, so that blocks are computed
// one by one.
func DropRows(draw, scale, x *Node, first, rows int, wanted, after *Node) *Node {
	return callDrop(draw, scale, x, first, rows, width(x), x.Shape().Dimensions[0], wanted, nil, after)
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

// Score returns y, z [rows, heads]: per head, inner products of x [rows, width] with a and with b [1, width].
func Score(x, a, b *Node, heads int) (y, z *Node) {
	must("x", x, -1, -1)
	must("a", a, 1, width(x))
	must("b", b, 1, width(x))
	mustDivide(width(x), heads)
	results := [2]int{x.Shape().Dimensions[0], heads}
	out := call(scoreKernel, [][2]int{results, results}, x, a, b)
	return out[0], out[1]
}

// ScoreBackward returns the gradients of [Score] towards x, a and b, given v, w [rows, heads] towards y and z.
func ScoreBackward(x, a, b, v, w *Node) (towardsX, towardsA, towardsB *Node) {
	must("x", x, -1, -1)
	must("a", a, 1, width(x))
	must("b", b, 1, width(x))
	rows := x.Shape().Dimensions[0]
	must("v", v, rows, -1)
	must("w", w, rows, width(v))
	mustDivide(width(x), width(v))
	parts := [2]int{min(rows, 64), width(x)} // equal on all backends, for equal sums
	out := call(scoreBackwardKernel, [][2]int{{rows, width(x)}, parts, parts}, x, a, b, v, w)
	total := func(parts *Node) *Node { return Reshape(ReduceSum(parts, 0), 1, width(x)) }
	return out[0], total(out[1]), total(out[2])
}

var sumsInOrder atomic.Bool

// HoldSums makes all that XLA compiles for a CPU in this process sum over rows with [Outer].
func HoldSums() { sumsInOrder.Store(true) }

// Outer returns xᵀ·v, x [rows, width], v [rows, out]; it needs [SumsInOrder]. Only the shapes decide the order of its
// sums, while XLA's order depends on the CPU. v must be zero in rows where wanted [rows, 1] is zero, which need not be
// read; nil means all are read.
func Outer(x, v, wanted *Node) *Node {
	must("x", x, -1, -1)
	must("v", v, x.Shape().Dimensions[0], -1)
	const most = 1 << 18 // numbers
	size := width(x) * width(v)
	parts := max(1, min(16, x.Shape().Dimensions[0], most/size))
	must("wanted", wanted, x.Shape().Dimensions[0], 1)
	sums := call(outerKernel, [][2]int{{parts * width(x), width(v)}}, given(x, v, wanted)...)[0]
	return ReduceSum(Reshape(sums, parts, width(x), width(v)), 0)
}

// SumsInOrder reports whether [HoldSums] applies to the computation's backend.
func SumsInOrder(g *Graph) bool { return sumsInOrder.Load() && takesForeign(g.Backend()) }

// ELU returns x [rows, columns] where positive, else exp(x) - 1. With v, the gradient towards this result, it returns
// the gradient towards x.
func ELU(x, v *Node) *Node {
	must("x", x, -1, -1)
	must("v", v, x.Shape().Dimensions[0], width(x))
	return call(eluKernel, [][2]int{{x.Shape().Dimensions[0], width(x)}}, given(x, v)...)[0]
}

// Available reports whether the computation's backend runs all kernels.
func Available(g *Graph) bool { return RunsOn(g.Backend()) }

// RunsOn reports whether a backend runs all kernels: see [Intercepted] and [Register].
func RunsOn(b compute.Backend) bool {
	_, isGo := runsInGo(b)
	return isGo || takesForeign(b)
}

// Scores are the inputs of attention's softmax over each row: E [entries, heads] or, if nil, LeakyReLU(source of the
// column + target of the row), with Source [columns, heads], Target [rows, heads] and slope Slope [1, 1] below zero.
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

// Attend returns y [rows, width], each row's Σ kept·h[column], with alpha the softmax of the scores and kept =
// alpha·keep (nil: alpha): h [columns, width]; keep, alpha, kept [entries, heads], the last two undefined in unwanted
// rows.
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

// AttendBackward returns d [entries, heads], the gradient of [Matrix.Attend] towards E or the LeakyReLU's inputs, given
// g [rows, width] towards y; and target [rows, heads], each row's sum of d (nil with E).
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
