package fused

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Kernels that XLA's programs call by name; handlers.c says what each takes and gives.
const (
	timesKernel          = "nodemask_times"
	totalKernel          = "nodemask_total"
	highestKernel        = "nodemask_highest"
	agreementKernel      = "nodemask_agreement"
	attendKernel         = "nodemask_attend"
	attendBackwardKernel = "nodemask_attend_backward"
	dropKernel           = "nodemask_drop"
	scoreKernel          = "nodemask_score"
	scoreBackwardKernel  = "nodemask_score_backward"
	eluKernel            = "nodemask_elu"

	fromScores, dropout = "_scores", "_dropout" // behind attendKernel
)

// call calls a kernel with matrices, for matrices of these rows and columns. The function that stands for it is never run.
// Backends that cannot call kernels panic.
func call(kernel string, results [][2]int, inputs ...*Node) []*Node {
	g := inputs[0].Graph()
	outputs := NewFunction(g, g.UniqueName(kernel), func(g *Graph) []*Node {
		for i, x := range inputs {
			Parameter(g, "x"+string(rune('a'+i)), x.Shape())
		}
		outputs := make([]*Node, len(results))
		for i, r := range results {
			// Not zeros: a graph shares those between its functions, which may only use their own.
			outputs[i] = Iota(g, shapes.Make(dtypes.Float32, r[0], r[1]), 0)
		}
		return outputs
	}).Call(inputs...)
	isPure, err := callInGo(g, kernel, outputs)
	if !isPure {
		err = makeForeign(g, kernel)
	}
	if err != nil {
		panic(fmt.Errorf("calling %s: %w", kernel, err))
	}
	return outputs
}

// must panics unless a matrix has these rows and columns, below 0 for any: what GoMLX does with nodes that do not fit.
func must(name string, x *Node, rows, columns int) {
	if d := x.Shape().Dimensions; len(d) != 2 || rows >= 0 && d[0] != rows || columns >= 0 && d[1] != columns {
		panic(fmt.Errorf("fused: %s is %s, expected [%d, %d], -1 standing for any", name, x.Shape(), rows, columns))
	}
}

func mustDivide(width, heads int) {
	if heads < 1 || width%heads != 0 {
		panic(fmt.Errorf("fused: a width of %d cannot be shared by %d heads", width, heads))
	}
}

// Matrix is the pattern of a sparse matrix in a computation: the entries of row r are Offsets[r] … Offsets[r+1]-1.
type Matrix struct {
	Offsets *Node // [rows+1, 1] int32
	Columns *Node // [entries, 1] int32
}

func (m Matrix) rows() int { return m.Offsets.Shape().Dimensions[0] - 1 }

// check panics unless the matrix is one, and positions, if there are any, belong to its entries.
func (m Matrix) check(positions *Node) {
	must("offsets", m.Offsets, -1, 1)
	must("columns", m.Columns, -1, 1)
	if positions != nil {
		must("positions", positions, m.entries(), 1)
	}
}

func (m Matrix) entries() int { return m.Columns.Shape().Dimensions[0] }

func width(x *Node) int { return x.Shape().Dimensions[1] }

// given leaves out what is nil.
func given(nodes ...*Node) []*Node {
	var there []*Node
	for _, n := range nodes {
		if n != nil {
			there = append(there, n)
		}
	}
	return there
}

// Times is Σ over the entries of a row: h [columns, width] → [rows, width]. weights [entries, heads] multiply the entries, each
// head its share of the width, in order; nil: all ones. Entry i has row positions[i] of the weights, positions [entries, 1] int32;
// nil: row i.
func (m Matrix) Times(h, weights, positions *Node) *Node {
	must("h", h, -1, -1)
	if weights == nil {
		positions = nil
	} else {
		must("weights", weights, m.entries(), -1)
		mustDivide(width(h), width(weights))
	}
	m.check(positions)
	return call(timesKernel, [][2]int{{m.rows(), width(h)}}, given(m.Offsets, m.Columns, h, weights, positions)...)[0]
}

// Total is the sum of the entries of each row: e [entries, width] → [rows, width], at positions as for [Matrix.Times].
func (m Matrix) Total(e, positions *Node) *Node {
	must("e", e, m.entries(), -1)
	m.check(positions)
	return call(totalKernel, [][2]int{{m.rows(), width(e)}}, given(m.Offsets, e, positions)...)[0]
}

// Highest is the greatest entry of each row, -1e30 for rows without any: e [entries, width] → [rows, width].
func (m Matrix) Highest(e *Node) *Node {
	must("e", e, m.entries(), -1)
	m.check(nil)
	return call(highestKernel, [][2]int{{m.rows(), width(e)}}, m.Offsets, e)[0]
}

// Agreement is the inner product of each head's share of x [rows, width] and h [columns, width], for each entry: [entries, heads].
func (m Matrix) Agreement(x, h *Node, heads int) *Node {
	must("x", x, m.rows(), -1)
	must("h", h, -1, width(x))
	mustDivide(width(x), heads)
	m.check(nil)
	return call(agreementKernel, [][2]int{{m.entries(), heads}}, m.Offsets, m.Columns, x, h)[0]
}

// Drop sets numbers of a matrix [rows, columns] to zero and multiplies the others by scale [1, 1]. They are numbered row by row,
// and number i is dropped if mix(mix(i ^ a) + b) < c, mix being "lowbias32", for draw [1, 3] uint32 = (a, b, c). x may be nil: all
// ones.
func Drop(draw, scale, x *Node, rows, columns int) *Node {
	must("draw", draw, 1, 3)
	must("scale", scale, 1, 1)
	if x != nil {
		must("x", x, rows, columns)
	}
	return call(dropKernel, [][2]int{{rows, columns}}, given(draw, scale, x)...)[0]
}

// Score is the inner products of each head's share of x [rows, width] with a and with b [1, width]: y, z [rows, heads].
func Score(x, a, b *Node, heads int) (y, z *Node) {
	must("x", x, -1, -1)
	must("a", a, 1, width(x))
	must("b", b, 1, width(x))
	mustDivide(width(x), heads)
	results := [2]int{x.Shape().Dimensions[0], heads}
	out := call(scoreKernel, [][2]int{results, results}, x, a, b)
	return out[0], out[1]
}

// ScoreBackward is the gradient of [Score] towards x, a and b, from those towards y and z: v, w [rows, heads].
func ScoreBackward(x, a, b, v, w *Node) (towardsX, towardsA, towardsB *Node) {
	rows := x.Shape().Dimensions[0]
	must("v", v, rows, -1)
	must("w", w, rows, width(v))
	parts := [2]int{min(rows, 64), width(x)} // as many whoever computes, so that sums are the same
	out := call(scoreBackwardKernel, [][2]int{{rows, width(x)}, parts, parts}, x, a, b, v, w)
	total := func(parts *Node) *Node { return Reshape(ReduceSum(parts, 0), 1, width(x)) }
	return out[0], total(out[1]), total(out[2])
}

// ELU is x [rows, columns] above zero, and exp(x) - 1 below.
func ELU(x *Node) *Node {
	must("x", x, -1, -1)
	return call(eluKernel, [][2]int{{x.Shape().Dimensions[0], width(x)}}, x)[0]
}

// ELUBackward is the gradient of [ELU] towards x, from v, that towards its result.
func ELUBackward(x, v *Node) *Node {
	must("v", v, x.Shape().Dimensions[0], width(x))
	return call(eluKernel, [][2]int{{x.Shape().Dimensions[0], width(x)}}, x, v)[0]
}

// Available says whether the backend that a computation is built for can call the kernels.
func Available(g *Graph) bool {
	pure.Lock()
	isPure := pure.types != nil && backendFunction(g).Type() == pure.types.function
	pure.Unlock()
	return isPure || takesForeign(g)
}

// Scores are what attention is the softmax of, over each row: E [entries, heads]; or, if E is nil,
// LeakyReLU(source of the entry's column + target of its row), with Source [columns, heads], Target [rows, heads] and Slope [1, 1]
// below zero.
type Scores struct{ E, Source, Target, Slope *Node }

func (s Scores) nodes() []*Node { return given(s.E, s.Source, s.Target, s.Slope) }

// Heads is how many the scores are for.
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

// Attend is Σ over the entries of a row of kept·h, with alpha the softmax of the scores and kept = alpha·keep; without keep
// (nil) it is alpha itself: h [columns, width], keep [entries, heads] → y [rows, width], alpha, kept [entries, heads].
func (m Matrix) Attend(s Scores, h, keep *Node) (y, alpha, kept *Node) {
	m.checkScores(s, h)
	if keep != nil {
		must("keep", keep, m.entries(), s.Heads())
	}
	kernel, entries := attendKernel, [2]int{m.entries(), s.Heads()}
	results := [][2]int{{m.rows(), width(h)}, entries}
	if s.E != nil {
		kernel += fromScores
	}
	if keep != nil {
		kernel += dropout
		results = append(results, entries)
	}
	out := call(kernel, results, append(append([]*Node{m.Offsets, m.Columns, h}, s.nodes()...), given(keep)...)...)
	return out[0], out[1], out[len(out)-1]
}

// AttendBackward is the gradient of [Matrix.Attend] towards the scores, before LeakyReLU if it makes them: g [rows, width], that
// towards y → d [entries, heads]. target is its sum over each row [rows, heads], and nil where scores are given as E.
func (m Matrix) AttendBackward(s Scores, h, alpha, kept, g *Node) (d, target *Node) {
	m.checkScores(s, h)
	must("alpha", alpha, m.entries(), s.Heads())
	must("kept", kept, m.entries(), s.Heads())
	must("g", g, m.rows(), width(h))
	results := [][2]int{{m.entries(), s.Heads()}}
	if s.E == nil {
		results = append(results, [2]int{m.rows(), s.Heads()})
	}
	out := call(attendBackwardKernel, results, append([]*Node{m.Offsets, m.Columns, h, alpha, kept, g}, s.nodes()...)...)
	if s.E != nil {
		return out[0], nil
	}
	return out[0], out[1]
}
