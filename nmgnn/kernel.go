package nmgnn

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Kernel names a way of multiplying a sparse matrix with a dense one: sums over neighbours, and features by weights. It
// is chosen once, when a model is built for a backend and a graph; layers do not know which one runs.
type Kernel string

const (
	// FusedKernel leaves the loops over entries to package fused, which XLA on a CPU and the pure-Go backend call: the
	// fastest there.
	FusedKernel Kernel = "fused"
	// ChainKernel adds up gathers, one for each place in a row, which XLA compiles into a single loop: nothing as large
	// as entries × width is ever made. By far the fastest of what XLA can compile itself, as for a GPU.
	ChainKernel Kernel = "chain"
	// ScatterKernel gathers one row an entry and adds each to its result, in order: the plainest way.
	ScatterKernel Kernel = "scatter"
)

// Kernels lists all kernels.
func Kernels() []Kernel { return []Kernel{FusedKernel, ChainKernel, ScatterKernel} }

// sparse is a sparse matrix [rows, columns] on the host.
type sparse struct {
	rows, columns int
	offsets       []int64   // [rows+1]
	targets       []int32   // column of each entry
	values        []float32 // nil: all ones
	positions     []int32   // where each entry stands in the matrix this one was transposed from; nil: at its own place
}

func (s sparse) entries() int { return len(s.targets) }

// rowOfEntries is the row of each entry.
func (s sparse) rowOfEntries() []int32 {
	rows := make([]int32, 0, s.entries())
	for r := range s.rows {
		for range s.offsets[r+1] - s.offsets[r] {
			rows = append(rows, int32(r))
		}
	}
	return rows
}

// transpose keeps for each entry where it came from, so that a draw over the entries is the same in both directions.
func (s sparse) transpose() sparse {
	t := sparse{rows: s.columns, columns: s.rows, offsets: make([]int64, s.columns+1),
		targets: make([]int32, s.entries()), positions: make([]int32, s.entries())}
	if s.values != nil {
		t.values = make([]float32, s.entries())
	}
	for _, c := range s.targets {
		t.offsets[c+1]++
	}
	for c := range s.columns {
		t.offsets[c+1] += t.offsets[c]
	}
	next := slices.Clone(t.offsets)
	for r := range s.rows {
		for i := s.offsets[r]; i < s.offsets[r+1]; i++ {
			at := next[s.targets[i]]
			next[s.targets[i]]++
			t.targets[at] = int32(r)
			t.positions[at] = int32(i)
			if s.values != nil {
				t.values[at] = s.values[i]
			}
		}
	}
	return t
}

// product multiplies by the pattern of a sparse matrix, its ones and zeros, inside a computation. Each entry has a slot,
// and what belongs to the entries is a node [slots, width]. Slots without an entry are padding: anything may stand
// there, except among weights, which are zero there.
type product interface {
	// times is Σ over the entries of a row: h [columns, width] → [rows, width]. weights [slots, heads] multiply the entries,
	// each head its share of the width, in order; nil: all ones.
	times(h, weights *Node) *Node
	// gather is h [columns, width] at each entry's column: [slots, width].
	gather(h *Node) *Node
	// spread is x [rows, width] at each entry's row: [slots, width].
	spread(x *Node) *Node
	// total adds up the entries of each row: e [slots, width], zero in padding → [rows, width].
	total(e *Node) *Node
	// highest is the greatest entry of each row, for e [slots, width], lowest in padding; rows without entries get lowest.
	highest(e *Node) *Node
	// slots is how many there are, and slotOf where each entry's is; nil: at its own place.
	slots() int
	slotOf() []int32
}

// lowest is below every score that can still be exponentiated and subtracted from without overflow.
const lowest = -1e30

// newProduct puts what the kernel needs of s into variables below path, which are not trained. Values are left out.
func newProduct(store *model.Store, path string, s sparse, plan Plan) (product, error) {
	v := &variables{store: store, path: path}
	if s.entries() == 0 {
		return emptyProduct{rows: s.rows}, nil
	}
	if s.entries() > math.MaxInt32 {
		return nil, fmt.Errorf("nmgnn: a matrix with %d entries: at most %d can be numbered", s.entries(), math.MaxInt32)
	}
	switch plan.Kernel {
	case FusedKernel:
		return newFusedProduct(v, s), v.err
	case ChainKernel:
		return newChainProduct(v, s), v.err
	case ScatterKernel:
		return newScatterProduct(v, s), v.err
	}
	return nil, fmt.Errorf("nmgnn: no kernel %q: known are %v", plan.Kernel, Kernels())
}

// emptyProduct is a matrix without entries. It has one slot, of padding, since no node is empty.
type emptyProduct struct{ rows int }

func (p emptyProduct) slots() int             { return 1 }
func (p emptyProduct) slotOf() []int32        { return []int32{} }
func (p emptyProduct) times(h, _ *Node) *Node { return p.zeros(h, p.rows) }
func (p emptyProduct) gather(h *Node) *Node   { return p.zeros(h, 1) }
func (p emptyProduct) spread(x *Node) *Node   { return p.zeros(x, 1) }
func (p emptyProduct) total(e *Node) *Node    { return p.zeros(e, p.rows) }
func (p emptyProduct) highest(e *Node) *Node  { return AddScalar(p.zeros(e, p.rows), lowest) }
func (p emptyProduct) zeros(x *Node, rows int) *Node {
	return Zeros(x.Graph(), shapes.Make(x.DType(), rows, x.Shape().Dimensions[1]))
}

// perSlot puts what belongs to each entry into the entries' slots, and padding everywhere else.
func perSlot[T any](p product, perEntry []T, padding T) []T {
	slotOf := p.slotOf()
	if slotOf == nil {
		return perEntry
	}
	spread := slices.Repeat([]T{padding}, p.slots())
	for i, x := range perEntry {
		spread[slotOf[i]] = x
	}
	return spread
}

// heads multiplies each head's share of x [rows, width] by its weight [rows, heads].
func heads(x, weights *Node) *Node {
	width, n := x.Shape().Dimensions[1], weights.Shape().Dimensions[1]
	if n == 1 {
		return Mul(x, weights)
	}
	rows := x.Shape().Dimensions[0]
	return Reshape(Mul(Reshape(x, rows, n, width/n), Reshape(weights, rows, n, 1)), rows, width)
}

// sumHeads adds up each head's share of x: [rows, width] → [rows, heads].
func sumHeads(x *Node, heads int) *Node {
	width := x.Shape().Dimensions[1]
	share := make([][]float32, width)
	for i := range share {
		share[i] = make([]float32, heads)
		share[i][i/(width/heads)] = 1
	}
	return DotGeneral(x, []int{1}, nil, Const(x.Graph(), share), []int{0}, nil)
}

// variables makes constants of a model: data lives in variables, not in the program, so that it is neither folded at
// compile time nor copied at every call.
type variables struct {
	store *model.Store
	path  string
	err   error // the first one
}

func (v *variables) add(name string, t *tensors.Tensor) *model.Variable {
	variable, err := v.store.CreateVariable(model.JoinPath(v.path, name), t)
	if err != nil {
		if v.err == nil {
			v.err = err
		}
		return nil
	}
	return variable.SetTrainable(false)
}

func (v *variables) ints(name string, data []int32, dimensions ...int) *model.Variable {
	return v.add(name, tensors.FromFlatDataAndDimensions(data, dimensions...))
}

func (v *variables) floats(name string, data []float32, dimensions ...int) *model.Variable {
	return v.add(name, tensors.FromFlatDataAndDimensions(data, dimensions...))
}

// positionsOf is the positions of the entries as uint32 [dimensions…]: those stored, or 0, 1, ….
func positionsOf(g *Graph, stored *model.Variable, dimensions []int) *Node {
	if stored != nil {
		return ConvertDType(stored.NodeValue(g), dtypes.Uint32)
	}
	size := 1
	for _, d := range dimensions {
		size *= d
	}
	return Reshape(Iota(g, shapes.Make(dtypes.Uint32, size), 0), dimensions...)
}
