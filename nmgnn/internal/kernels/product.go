// Package kernels adds products with sparse matrices to a GoMLX computation. They serve sums over neighbours, attention
// and sparse features. Layers use [Product]. The backend's [Plan] chooses the [Kernel].
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
	// ScatterKernel takes, for each entry of the sparse matrix, a row of the dense matrix, and adds it to a row of
	// the result. ScatterKernel launches the fewest kernels on a GPU, but is slow on a CPU.
	ScatterKernel Kernel = "scatter"
)

// Kernels returns all kernels.
func Kernels() []Kernel { return []Kernel{FusedKernel, ScatterKernel} }

// Plan says how to compute with a graph. [PlanFor] chooses it.
type Plan struct {
	Kernel Kernel // computes sums over neighbours, and products with sparse features
	// DenseFeatures means to store features as a dense matrix.
	DenseFeatures bool
	// Transposed means to store a second, transposed copy of dense features. Without this copy, the pure-Go backend
	// would transpose the features every epoch.
	Transposed bool
}

// Planned is a backend with its own plan. [PlanFor] returns this plan instead of choosing one.
type Planned struct {
	compute.Backend
	Plan
}

// PlanFor returns the plan for backend b; density is the share of the features' values that are not zero. The kernel is
// [FusedKernel] if b runs it, else [ScatterKernel]. If b is nil, the backend is not known and the kernel is
// [ScatterKernel].
func PlanFor(b compute.Backend, density float64) Plan {
	if b, ok := b.(Planned); ok {
		return b.Plan
	}
	plan := Plan{Kernel: ScatterKernel, DenseFeatures: density > 0.25}
	if b != nil && fused.RunsOn(b) {
		plan.Kernel = FusedKernel
	}
	// The type is compared by name, because GoMLX does not export it.
	plan.Transposed = fmt.Sprintf("%T", b) == "*gobackend.Backend"
	return plan
}

// Options configure a [Product].
type Options struct {
	Kernel Kernel
	// Symmetric means that the matrix is its own transpose.
	Symmetric bool
	// Gradients allows gradients, which need the transposed matrix.
	Gradients bool
	// With [FusedKernel], Slots is the largest number of entries that a matrix passed to [Product.Replace] may have.
	// If the matrix passed to [New] has more entries, their number is the limit.
	Slots int
	// Share, if not nil, is a backend to share memory with, which speeds up Replace.
	Share compute.Backend
}

// Product is a sparse matrix [rows, columns] whose structure is held in variables, for use inside a computation.
// Tensors [entries+padding, width] have a row (a slot) for each entry, then padding slots. Padding must be 0 in
// weights and in the argument of Total, and [Lowest] in the argument of Highest; elsewhere, it may hold anything.
// Several heads split a tensor's width into equal consecutive blocks. Nil weights, masks and factors mean ones.
//
// Mean, Attend, [Sum], [Sources], [Targets], [WeightedSum], [RowSoftmax] and [RowMax] define gradients. The other
// methods do not.
type Product struct {
	*parts
	seen *Node // [rows, 1]: zero for result rows that nothing reads; nil if all are read. [Seeing] sets seen
}

// parts is the data that a Product shares with the variant that [Seeing] returns.
type parts struct {
	*pattern
	adjoint   *pattern
	constants *Constants
	options   Options
	lazy      map[string]lazy
	// from[i] is the index, in the matrix, of the transpose's entry i. from is set only during Replace.
	from []int32
}

type lazy struct {
	*model.Variable
	renew    func() error
	backward bool // only the backward pass reads the variable
}

// ErrNoFit reports a matrix that does not fit into a compiled computation.
var ErrNoFit = errors.New("only a matrix with as many rows and columns, and entries that there is room for, can take " +
	"another's place")

// Lowest is below every attention score or feature, but not so low that differences or exp overflow.
const Lowest = -1e30

// New returns a product that holds the positions of m's entries, but not their values. [Values] returns the values,
// to be passed as weights. The product's variables go below path in store. Indices out of range, too many entries and
// unknown kernels are errors.
func New(store *model.Store, path string, m csr.Matrix, o Options) (Product, error) {
	if err := check(m); err != nil {
		return Product{}, err
	}
	if !slices.Contains(Kernels(), o.Kernel) {
		return Product{}, fmt.Errorf("no kernel %q: expected one of %v", o.Kernel, Kernels())
	}
	if m.NumEntries() == 0 && o.Slots == 0 {
		// A matrix without entries has only padding slots. The gradients of ScatterKernel ignore padding.
		o.Kernel = ScatterKernel
	}
	constants := NewConstants(store, path).Share(o.Share)
	p := &parts{constants: constants, options: o, lazy: map[string]lazy{}}
	p.pattern = newPattern(constants, m, o)
	p.adjoint = p.pattern
	if p.hasTransposed() {
		transposed, _ := m.Transpose()
		p.adjoint = newPattern(NewConstants(store, path+"_transposed").Share(o.Share), transposed, o)
	}
	return Product{parts: p}, errors.Join(constants.err, p.adjoint.into.err)
}

// check returns an error for invalid offsets or indices, since kernels trust them.
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
