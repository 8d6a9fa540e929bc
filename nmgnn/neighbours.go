package nmgnn

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
)

// Neighbours aggregates over N_v inside a computation. Layers are written against it and read like their equation; how
// the sum is computed is its own affair.
type Neighbours interface {
	// Sum maps h [nodes, width] to [nodes, width]: row v is Σ_{u∈N_v} h_u.
	Sum(h *Node) *Node
	// NumNodes is the number of nodes.
	NumNodes() int
}

// Input is what a layer reads: [nodes, Width]. The first layer reads the graph's features, which are mostly zeros and
// kept that way; later ones read what the layer below computed.
type Input interface {
	// Graph is the computation it belongs to.
	Graph() *Graph
	// Width is the number of columns.
	Width() int
	// Times is h·w: w [Width, out] → [nodes, out].
	Times(w *Node) *Node
	// Dropout is the input with entries dropped ([Random.Dropout]). A nil generator leaves it alone.
	Dropout(r *Random, rate float64) Input
	// Node is the input as a dense node [nodes, Width], for layers that need more than a product.
	Node() *Node
}

// phaseData is a graph and its features, in variables of a model.
type phaseData struct {
	nodes, width int
	sum          product // A·h
	sumAdjoint   product // Aᵀ·h, for the gradient
	features     product // X·w, or nil if dense
	featuresAdj  product // Xᵀ·v
	dense        *model.Variable
	denseT       *model.Variable // Xᵀ, if the backend profits from it
	positions    *model.Variable // of the entries of a sparse X stored densely, by which dropout numbers them
}

// Plan says how a phase is to be computed. [Backend.PlanFor] chooses for a backend.
type Plan struct {
	Kernel Kernel // for sums over neighbours, and for sparse features
	// DenseFeatures stores features densely, zeros and all.
	DenseFeatures bool
	// WideGather moves pairs of numbers as one of twice the size, with BucketKernel.
	WideGather bool
	// Transposed keeps dense features in both orders: the pure-Go backend would otherwise transpose them every epoch.
	Transposed bool
}

// newPhaseData stores one phase below path. With train, what gradients need is stored too.
func newPhaseData(store *model.Store, path string, edges *csr.Graph, features datasets.Features, plan Plan, train bool) (*phaseData, error) {
	n := edges.NumNodes()
	if features.Rows != n {
		return nil, fmt.Errorf("nmgnn: %d rows of features for %d nodes", features.Rows, n)
	}
	d := &phaseData{nodes: n, width: features.Width}
	adjacency := sparse{rows: n, columns: n, offsets: edges.Offsets, targets: edges.Targets}
	if n == 0 {
		adjacency.offsets = []int64{0}
	}
	var err error
	if d.sum, err = newProduct(store, path+"/edges", adjacency, plan); err != nil {
		return nil, err
	}
	if train {
		d.sumAdjoint = d.sum
		if !edges.IsSymmetric() {
			if d.sumAdjoint, err = newProduct(store, path+"/edges_transposed", adjacency.transpose(), plan); err != nil {
				return nil, err
			}
		}
	}
	v := variables{store: store, path: path}
	if !features.IsSparse() || plan.DenseFeatures {
		x := denseRows(features)
		d.dense = v.floats("features", x, n, features.Width)
		if train && plan.Transposed {
			d.denseT = v.floats("features_transposed", transposed(x, n, features.Width), features.Width, n)
		}
		if train && features.IsSparse() {
			d.positions = v.ints("position", densePositions(features), n, features.Width)
		}
		return d, v.err
	}
	x := sparse{rows: n, columns: features.Width, offsets: features.Offsets, targets: features.Columns, values: features.Values}
	if d.features, err = newProduct(store, path+"/features", x, plan); err != nil {
		return nil, err
	}
	if train {
		if d.featuresAdj, err = newProduct(store, path+"/features_transposed", x.transpose(), plan); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func denseRows(f datasets.Features) []float32 {
	if !f.IsSparse() {
		return f.Dense
	}
	x := make([]float32, f.Rows*f.Width)
	for r := range f.Rows {
		for i := f.Offsets[r]; i < f.Offsets[r+1]; i++ {
			x[r*f.Width+int(f.Columns[i])] = f.Values[i]
		}
	}
	return x
}

// densePositions numbers the entries as the sparse matrix does, so that a seed drops the same ones however they are stored.
// What a zero is numbered does not matter.
func densePositions(f datasets.Features) []int32 {
	positions := make([]int32, f.Rows*f.Width)
	for r := range f.Rows {
		for i := f.Offsets[r]; i < f.Offsets[r+1]; i++ {
			positions[r*f.Width+int(f.Columns[i])] = int32(i)
		}
	}
	return positions
}

func transposed(x []float32, rows, columns int) []float32 {
	t := make([]float32, len(x))
	for r := range rows {
		for c := range columns {
			t[c*rows+r] = x[r*columns+c]
		}
	}
	return t
}

// neighbours is the phase's graph in computation g. Outside training no gradient is prepared.
func (d *phaseData) neighbours(train bool) Neighbours { return neighbours{d, train} }

type neighbours struct {
	data  *phaseData
	train bool
}

func (n neighbours) NumNodes() int { return n.data.nodes }

func (n neighbours) Sum(h *Node) *Node {
	apply := func(h *Node) *Node { return n.data.sum.times(h, nil) }
	if !n.train {
		return apply(h)
	}
	return linear(h, n.data.nodes, apply, func(v *Node) *Node { return n.data.sumAdjoint.times(v, nil) })
}

// input is the phase's features in computation g.
func (d *phaseData) input(g *Graph, train bool) Input {
	if d.dense != nil {
		x := dense{node: d.dense.NodeValue(g), positions: d.positions}
		if d.denseT != nil && train {
			x.transposed = d.denseT.NodeValue(g)
		}
		return x
	}
	return sparseInput{data: d, graph: g, train: train}
}

// Dense makes an [Input] of a node [nodes, width].
func Dense(h *Node) Input { return dense{node: h} }

type dense struct {
	node       *Node
	transposed *Node           // nil: automatic differentiation transposes
	positions  *model.Variable // nil: row by row
}

func (d dense) Graph() *Graph { return d.node.Graph() }
func (d dense) Width() int    { return d.node.Shape().Dimensions[1] }
func (d dense) Node() *Node   { return d.node }

func (d dense) Times(w *Node) *Node {
	times := func(a, b *Node) *Node { return DotGeneral(a, []int{1}, nil, b, []int{0}, nil) }
	if d.transposed == nil {
		return times(d.node, w)
	}
	return linear(w, d.node.Shape().Dimensions[0],
		func(w *Node) *Node { return times(d.node, w) },
		func(v *Node) *Node { return times(d.transposed, v) })
}

func (d dense) Dropout(r *Random, rate float64) Input {
	if r == nil || rate == 0 {
		return d
	}
	keep := r.stream().keep(positionsOf(d.node.Graph(), d.positions, d.node.Shape().Dimensions), rate)
	dropped := dense{node: Mul(d.node, keep)}
	if d.transposed != nil {
		dropped.transposed = Mul(d.transposed, TransposeAllAxes(keep, 1, 0)) // both orders drop the same entries
	}
	return dropped
}

// sparseInput is X by its nonzeros, with entries dropped if drop is set.
type sparseInput struct {
	data  *phaseData
	graph *Graph
	train bool
	drop  *entryDropout
}

func (s sparseInput) Graph() *Graph { return s.graph }
func (s sparseInput) Width() int    { return s.data.width }

func (s sparseInput) Times(w *Node) *Node {
	apply := func(w *Node) *Node { return s.data.features.times(w, s.drop) }
	if !s.train {
		return apply(w)
	}
	return linear(w, s.data.nodes, apply, func(v *Node) *Node { return s.data.featuresAdj.times(v, s.drop) })
}

func (s sparseInput) Dropout(r *Random, rate float64) Input {
	if r == nil || rate == 0 {
		return s
	}
	if s.drop != nil {
		panic(fmt.Errorf("nmgnn: sparse features can be dropped once; the model's and the layer's dropout were both asked for"))
	}
	s.drop = &entryDropout{stream: r.stream(), rate: rate}
	return s
}

func (s sparseInput) Node() *Node {
	return s.Times(DiagonalWithValue(ScalarOne(s.graph, dtypes.Float32), s.data.width))
}
