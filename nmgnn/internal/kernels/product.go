// Package kernels multiplies with sparse matrices inside computations: sums over neighbours, attention, sparse
// features. Layers use [Product]; the backend's [Plan] chooses its [Kernel].
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
	"nodemask/nmgnn/internal/kernels/fused"
)

// Kernel names an implementation of [Product].
type Kernel string

const (
	// FusedKernel runs package fused's loops: fastest for XLA on a CPU and the pure-Go backend.
	FusedKernel Kernel = "fused"
	// ScatterKernel gathers a row per entry and adds it to the entry's result: fewest GPU kernels, slow on a CPU.
	ScatterKernel Kernel = "scatter"
)

// Kernels returns all kernels.
func Kernels() []Kernel { return []Kernel{FusedKernel, ScatterKernel} }

// Plan configures the computation with a graph: see [PlanFor].
type Plan struct {
	Kernel Kernel // for sums over neighbours, and for sparse features
	// DenseFeatures stores features with zeros.
	DenseFeatures bool
	// Transposed also stores dense features transposed; the pure-Go backend would transpose them every epoch.
	Transposed bool
}

// Planned is a backend with a custom plan, which [PlanFor] returns.
type Planned struct {
	compute.Backend
	Plan
}

// PlanFor returns the plan for features of a density (the share of nonzeros): package fused if the backend runs it,
// else scatters (on a CPU up to 27 times slower), as for a nil backend (any).
func PlanFor(b compute.Backend, density float64) Plan {
	if b, ok := b.(Planned); ok {
		return b.Plan
	}
	plan := Plan{Kernel: ScatterKernel, DenseFeatures: density > 0.25}
	if b != nil && fused.RunsOn(b) {
		plan.Kernel = FusedKernel
	}
	// GoMLX does not export the pure-Go backend's type.
	plan.Transposed = fmt.Sprintf("%T", b) == "*gobackend.Backend"
	return plan
}

// Options configure a [Product].
type Options struct {
	Kernel Kernel
	// Symmetric means that the matrix is its own transpose.
	Symmetric bool
	// Gradients adds products with the transposed matrix.
	Gradients bool
	// Slots makes room for this many entries in [Product.Replace], with [FusedKernel]; fewer than now: no spare room.
	Slots int
	// Share is the backend to share memory with, for frequent Replace; nil: none.
	Share compute.Backend
}

// Product is a sparse matrix [rows, columns] in variables, for use inside a computation.
//
// Each entry has a slot; data of entries is a node [slots, width]. Other slots are padding, which must be 0 in weights
// and totals and may be anything elsewhere. Heads share the width equally, in order. nil weights, masks and factors are
// ones.
//
// Mean, Attend, [Sum], [Sources], [Targets], [WeightedSum], [RowSoftmax] and [RowMax] define gradients. Times, Back,
// Gather, Spread, Total, TotalBack, Highest and Agreement stop gradients or leave them to automatic differentiation.
type Product interface {
	// Times returns Σ over each row's entries of weights [slots, heads] times h: [columns, width] → [rows, width]. h
	// must be zero where factor [columns, 1] is, and need not be read there.
	Times(h, factor, weights *Node) *Node
	// Back multiplies with the transpose: v [rows, width] → [columns, width], weights as in Times. Rows where factor
	// [columns, 1] is zero may be zero. Back and TotalBack panic on a product made without gradients.
	Back(v, factor, weights *Node) *Node

	// Gather returns h [columns, width] at each entry's column: [slots, width].
	Gather(h *Node) *Node
	// Spread returns x [rows, width] at each entry's row: [slots, width].
	Spread(x *Node) *Node
	// Total sums each row's entries: e [slots, width] → [rows, width].
	Total(e *Node) *Node
	// TotalBack sums each column's entries: e [slots, width] → [columns, width].
	TotalBack(e *Node) *Node
	// Highest returns each row's maximum: e [slots, width], [Lowest] in padding → [rows, width]; Lowest if empty.
	Highest(e *Node) *Node
	// Agreement returns each entry's inner products, per head, of x [rows, width] and h [columns, width]: [slots,
	// heads].
	Agreement(x, h *Node, heads int) *Node

	// Mean returns [Sum] divided by divisor [rows, 1].
	Mean(h, mask, divisor, keep *Node, gradients bool) *Node
	// SumDropped returns [Sum] without a mask, with keep = DropEntries of the values. Dropped rows need not be read.
	SumDropped(h *Node, s Stream, rate float64, gradients bool) *Node
	// Attend returns attention's sums: see [Attention].
	Attend(a Attention) *Node
	// PairScores returns two nodes [nodes, heads]: per head, inner products of h [nodes, width] with a and with b
	// [heads, width/heads], with gradients towards all three.
	PairScores(h, a, b *Node) (source, target *Node)
	// LeakyScores returns a·LeakyReLU(source_u + target_v), with this slope below zero, per entry (v, u) and head:
	// source [columns, width], target [rows, width], a [heads, width/heads] → [slots, heads], with gradients to all
	// three if asked.
	LeakyScores(source, target, a *Node, slope float64, gradients bool) *Node
	// DropEntries zeroes numbers of x [slots, heads] with probability rate and divides the others by 1-rate; nil x is
	// ones. A stream drops the same entries in all kernels.
	DropEntries(s Stream, x *Node, heads int, rate float64) *Node

	Rows() int
	Slots() int
	// Ints returns a variable [slots, 1] with a number per entry, and padding. Only a name's first call calls of, which
	// returns the numbers in the matrix's order. It panics on failure.
	Ints(name string, padding int32, of func(m csr.Matrix) []int32) *model.Variable
	// Floats is like Ints; padding is 0.
	Floats(name string, of func(m csr.Matrix) []float32) *model.Variable
	// Replace puts another pattern of equal rows, columns and entries ([FusedKernel]: up to Slots entries) into
	// compiled computations, and remakes variables of Ints and Floats; [ErrNoFit] if it does not fit. After a Replace
	// without gradients, computations with gradients need another.
	Replace(m csr.Matrix, gradients bool) error

	// alone returns x, never fused into uses that would recompute it.
	alone(x *Node) *Node
}

// ErrNoFit reports a matrix that does not fit into a compiled computation.
var ErrNoFit = errors.New("only a matrix with as many rows and columns, and entries that there is room for, can take " +
	"another's place")

// Lowest is below every score, yet does not overflow in subtraction or exp.
const Lowest = -1e30

// New returns a product of a matrix without its values, which are passed as weights. Variables go below path. Indices
// out of range, too many entries and unknown kernels are errors.
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

// One pattern serves both ways if symmetric or without gradients.
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

// check validates indices once per matrix: kernels trust them.
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
