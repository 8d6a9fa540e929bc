// Package kernels multiplies with sparse matrices inside computations: sums over neighbours, attention, features by
// weights.
//
// [Product] is the seam for speed: layers are written against it, by way of nmgnn.Neighbours and nmgnn.Input, and never
// ask which implementation runs. There is one for each [Kernel]; which of them a backend uses is chosen once, in a
// [Plan].
package kernels

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
)

// Kernel names a way of multiplying a sparse matrix with a dense one.
type Kernel string

const (
	// FusedKernel leaves the loops over entries to package fused, which XLA on a CPU and the pure-Go backend call: the
	// fastest there.
	FusedKernel Kernel = "fused"
	// ScatterKernel gathers one row an entry and adds each to its result: the plainest way, which every backend compiles
	// by itself, and XLA into the fewest kernels for a GPU. On a CPU it is slow.
	ScatterKernel Kernel = "scatter"
)

// Kernels lists all kernels.
func Kernels() []Kernel { return []Kernel{FusedKernel, ScatterKernel} }

// Plan says how a graph and its features are computed with. The backend chooses one: see backend.Backend.PlanFor.
type Plan struct {
	Kernel Kernel // for sums over neighbours, and for sparse features
	// DenseFeatures stores features densely, zeros and all.
	DenseFeatures bool
	// Transposed keeps dense features in both orders: the pure-Go backend would otherwise transpose them every epoch.
	Transposed bool
}

// Options say how a [Product] is made.
type Options struct {
	Kernel Kernel
	// Symmetric says that the matrix is its own transpose, as an undirected graph's is.
	Symmetric bool
	// Gradients asks for products with the transposed matrix too, which gradients need.
	Gradients bool
	// Slots makes room for as many entries, so that [Product.Replace] takes any matrix with up to that many. 0, or fewer
	// than there are: no more than there are. [FusedKernel] alone has room to spare.
	Slots int
	// Share is the backend to share the variables' memory with ([Constants.Share]); nil: none. For matrices that are
	// replaced often.
	Share compute.Backend
}

// Product is a sparse matrix [rows, columns] in variables of a model, to be multiplied with inside a computation.
//
// Each entry has a slot, and what belongs to the entries is a node [slots, width]. Slots without an entry are padding:
// anything may stand there, but weights and what is totalled are zero there.
//
// Times, Back, Gather, Spread, Total, TotalBack, Highest and Agreement cut their results off from differentiation or
// leave that to automatic differentiation; [Sum], [Sources], [Targets], [WeightedSum], [RowSoftmax], [RowMax], Mean and
// Attend have gradients of their own.
type Product interface {
	// Times returns Σ over the entries of a row: h [columns, width] → [rows, width]. weights [slots, heads] multiply
	// the entries, each head its share of the width, in order; nil: all ones. With a factor [columns, 1], h is zero in all
	// rows where that is, which need not be read; nil: h may be anything.
	Times(h, factor, weights *Node) *Node
	// Back multiplies with the transposed matrix: v [rows, width] → [columns, width]. weights [slots, heads] are in the
	// slots of this matrix; nil: all ones. With a factor [columns, 1], rows of the result where that is zero may be zero,
	// as they are multiplied by it later. It panics if the product was made without gradients, as TotalBack does.
	Back(v, factor, weights *Node) *Node

	// Gather returns h [columns, width] at each entry's column: [slots, width].
	Gather(h *Node) *Node
	// Spread returns x [rows, width] at each entry's row: [slots, width].
	Spread(x *Node) *Node
	// Total adds up the entries of each row: e [slots, width] → [rows, width].
	Total(e *Node) *Node
	// TotalBack adds up the entries of each column: e [slots, width] → [columns, width].
	TotalBack(e *Node) *Node
	// Highest returns the greatest entry of each row: e [slots, width], [Lowest] in padding → [rows, width], Lowest for
	// rows without entries.
	Highest(e *Node) *Node
	// Agreement returns the inner product of each head's share of x [rows, width] and h [columns, width] for each entry:
	// [slots, heads].
	Agreement(x, h *Node, heads int) *Node

	// Mean returns what [Sum] does, divided by divisor [rows, 1].
	Mean(h, mask, divisor, keep *Node, gradients bool) *Node
	// SumDropped returns what [Sum] does without a mask, with what DropEntries makes of the matrix's values for keep.
	// Where that is possible, what is dropped is not read.
	SumDropped(h *Node, s Stream, rate float64, gradients bool) *Node
	// Attend returns Σ over the entries of a row, weighed by the softmax of scores: see [Attention].
	Attend(a Attention) *Node
	// PairScores returns the inner products of each head's share of h [nodes, width] with its row of a and of b [heads,
	// width/heads]: two nodes [nodes, heads], with gradients towards h, a and b.
	PairScores(h, a, b *Node) (source, target *Node)
	// LeakyScores returns a·LeakyReLU(source_u + target_v) for each entry (v, u) and head, with that slope below zero:
	// source [columns, width], target [rows, width], a [heads, width/heads] → [slots, heads], with gradients towards these
	// three if they are asked for.
	LeakyScores(source, target, a *Node, slope float64, gradients bool) *Node
	// DropEntries returns x [slots, heads] with numbers set to zero with probability rate and the others divided by
	// 1-rate; a nil x stands for ones. All kernels drop the same entries for the same stream.
	DropEntries(s Stream, x *Node, heads int, rate float64) *Node

	// Rows returns the number of rows.
	Rows() int
	// Slots returns the number of slots.
	Slots() int
	// Ints returns a variable [slots, 1] with a number for each entry and padding elsewhere. The first call with a name
	// calls of, which returns the numbers in the order of the matrix. It panics if the variable cannot be made.
	Ints(name string, padding int32, of func(m csr.Matrix) []int32) *model.Variable
	// Floats does the same for other numbers; padding has 0.
	Floats(name string, of func(m csr.Matrix) []float32) *model.Variable
	// Replace replaces this pattern by another with as many rows, columns and entries (with [FusedKernel]: by up to as
	// many entries as there are slots), for computations that are compiled already, and remakes what Ints and Floats made.
	// It returns [ErrNoFit] for a pattern that does not fit. Without gradients, computations that have them need another
	// Replace first.
	Replace(m csr.Matrix, gradients bool) error

	// alone returns x, and keeps what makes it from being fused into what uses it if that would be computed again and
	// again.
	alone(x *Node) *Node
}

// ErrNoFit says that a compiled computation has no room for another pattern.
var ErrNoFit = errors.New("only a matrix with as many rows and columns, and entries that there is room for, can take " +
	"another's place")

// Lowest is below every score that can still be exponentiated and subtracted from without overflow.
const Lowest = -1e30

// New returns a product of a matrix. What it needs goes into variables below path, which are not trained. The matrix's
// values are left out: pass them as weights. It returns an error for a matrix whose indices leave it or that has more
// entries than can be numbered, and for an unknown kernel.
func New(store *model.Store, path string, m csr.Matrix, o Options) (Product, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	constants := NewConstants(store, path).Share(o.Share)
	p := &parts{constants: constants, matrix: m, options: o, lazy: map[string]lazy{}}
	if !slices.Contains(Kernels(), o.Kernel) {
		return nil, fmt.Errorf("no kernel %q: expected one of %v", o.Kernel, Kernels())
	}
	if m.NumEntries() == 0 && !(o.Kernel == FusedKernel && o.Slots > 0) {
		p.pattern, p.adjoint = emptyPattern{m.Rows}, emptyPattern{m.Columns}
		return p, nil
	}
	behind := NewConstants(store, path+"_transposed").Share(o.Share)
	var product Product = p
	if o.Kernel == FusedKernel {
		forward, adjoint := bothWays(p, behind, func(into *Constants, m csr.Matrix) *fusedPattern {
			return newFused(into, m, o.Slots)
		})
		product = &fusedProduct{parts: p, forward: forward, adjoint: adjoint}
	} else {
		bothWays(p, behind, newScatter)
	}
	if err := errors.Join(constants.err, behind.err); err != nil {
		return nil, err
	}
	return product, nil
}

// bothWays makes the patterns of a matrix and of its transpose, which are one if it is symmetric or if no gradients are
// wanted.
func bothWays[P pattern](p *parts, behind *Constants, make func(into *Constants, m csr.Matrix) P) (forward, adjoint P) {
	forward = make(p.constants, p.matrix)
	adjoint = forward
	if p.hasTransposed() {
		transposed, _ := p.matrix.Transpose()
		adjoint = make(behind, transposed)
	}
	p.pattern, p.adjoint = forward, adjoint
	return forward, adjoint
}

// check is made once for each matrix: kernels trust its indices.
func check(m csr.Matrix) error {
	if m.NumEntries() > math.MaxInt32 {
		return fmt.Errorf("a matrix with %d entries: at most %d can be numbered", m.NumEntries(), math.MaxInt32)
	}
	if m.Rows < 0 || len(m.Offsets) != m.Rows+1 || m.Offsets[0] != 0 || m.Offsets[m.Rows] != int64(m.NumEntries()) {
		return fmt.Errorf("%d offsets for %d rows and %d entries: expected one more than rows, from 0 to the "+
			"number of entries", len(m.Offsets), m.Rows, m.NumEntries())
	}
	for r := range m.Rows {
		if m.Offsets[r] > m.Offsets[r+1] {
			return fmt.Errorf("row %d runs from entry %d to %d: expected ascending offsets", r, m.Offsets[r],
				m.Offsets[r+1])
		}
	}
	for i, c := range m.Indices {
		if c < 0 || int(c) >= m.Columns {
			return fmt.Errorf("entry %d is in column %d: expected 0 to %d", i, c, m.Columns-1)
		}
	}
	return nil
}
