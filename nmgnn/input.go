package nmgnn

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
)

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
	// ScaleRows is the input with row v multiplied by factors[v]: factors [nodes, 1]. No gradient goes to the factors.
	ScaleRows(factors *Node) Input
	// Node is the input as a dense node [nodes, Width], for layers that need more than a product.
	Node() *Node
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
	if d.positions == nil && d.transposed == nil {
		d.node = r.Dropout(d.node, rate)
		return d
	}
	return d.scale(r.stream().keep(positionsOf(d.node.Graph(), d.positions, d.node.Shape().Dimensions), rate))
}

func (d dense) ScaleRows(factors *Node) Input { return d.scale(StopGradient(factors)) }

// scale multiplies by factors [nodes, width or 1], in both orders alike.
func (d dense) scale(factors *Node) Input {
	d.node = Mul(d.node, factors)
	if d.transposed != nil {
		d.transposed = Mul(d.transposed, TransposeAllAxes(factors, 1, 0))
	}
	return d
}

// sparseFeatures are the nonzeros of X in variables, by rows and by columns.
type sparseFeatures struct {
	nodes, width       int
	forward, adjoint   product
	values, positions  *model.Variable // [slots, 1]: zero in padding; number of each entry, by which dropout draws
	valuesT, positionT *model.Variable // the same in the adjoint's slots, unless it reads them from there
}

func newSparseFeatures(store *model.Store, path string, f datasets.Features, plan Plan, train bool) (*sparseFeatures, error) {
	x := sparse{rows: f.Rows, columns: f.Width, offsets: f.Offsets, targets: f.Columns, values: f.Values}
	s := &sparseFeatures{nodes: f.Rows, width: f.Width}
	put := func(path string, x sparse) (p product, values, positions *model.Variable, err error) {
		if p, err = newProduct(store, path, x, plan); err != nil || x.entries() == 0 {
			return p, nil, nil, err
		}
		number := x.positions
		if number == nil {
			number = make([]int32, x.entries())
			for i := range number {
				number[i] = int32(i)
			}
		}
		v := variables{store: store, path: path}
		values = v.floats("value", perSlot(p, x.values, 0), p.slots(), 1)
		if train && plan.Kernel != FusedKernel {
			positions = v.ints("position", perSlot(p, number, 0), p.slots(), 1)
		}
		return p, values, positions, v.err
	}
	var err error
	if s.forward, s.values, s.positions, err = put(path, x); err != nil || !train {
		return s, err
	}
	if plan.Kernel == FusedKernel {
		s.adjoint, err = newProduct(store, path+"_transposed", x.transpose(), plan) // it reads values where they are
		return s, err
	}
	s.adjoint, s.valuesT, s.positionT, err = put(path+"_transposed", x.transpose())
	return s, err
}

// sparseInput is X by its nonzeros.
type sparseInput struct {
	*sparseFeatures
	graph *Graph
	train bool
	// Weights of the entries, in both orders, beside their values; nil: all ones.
	weights, weightsT *Node
	weighed           *Node // with FusedKernel instead: values times weights; nil: values
}

func (s sparseInput) Graph() *Graph { return s.graph }
func (s sparseInput) Width() int    { return s.width }

func (s sparseInput) Times(w *Node) *Node {
	times := func(p product, x *Node, values *model.Variable, weights *Node) *Node {
		if values == nil {
			return p.times(x, nil)
		}
		all := values.NodeValue(s.graph)
		if weights != nil {
			all = Mul(all, weights)
		}
		return p.times(x, all)
	}
	apply := func(w *Node) *Node { return times(s.forward, w, s.values, s.weights) }
	adjoint := func(v *Node) *Node { return times(s.adjoint, v, s.valuesT, s.weightsT) }
	if _, isFused := s.forward.(*fusedProduct); isFused {
		all := s.all()
		apply = func(w *Node) *Node { return s.forward.times(w, all) }
		adjoint = func(v *Node) *Node {
			p := s.adjoint.(*fusedProduct)
			return p.timesAt(v, all, p.at)
		}
	}
	if !s.train {
		return apply(w)
	}
	return linear(w, s.nodes, apply, adjoint)
}

// all is the values times the weights of the entries.
func (s sparseInput) all() *Node {
	if s.weighed != nil {
		return s.weighed
	}
	return s.values.NodeValue(s.graph)
}

func (s sparseInput) Dropout(r *Random, rate float64) Input {
	if r == nil || rate == 0 || s.values == nil {
		return s
	}
	stream := r.stream() // one draw, read in both orders
	if _, isFused := s.forward.(*fusedProduct); isFused {
		s.weighed = stream.drop(s.all(), s.forward.slots(), 1, rate)
		return s
	}
	keep := func(positions *model.Variable) *Node {
		return stream.keep(ConvertDType(positions.NodeValue(s.graph), dtypes.Uint32), rate)
	}
	return s.scale(keep(s.positions), keep(s.positionT))
}

func (s sparseInput) ScaleRows(factors *Node) Input {
	if s.values == nil {
		return s
	}
	factors = StopGradient(factors)
	if _, isFused := s.forward.(*fusedProduct); isFused {
		s.weighed = Mul(s.all(), s.forward.spread(factors))
		return s
	}
	var factorsT *Node
	if s.train {
		factorsT = s.adjoint.gather(factors)
	}
	return s.scale(s.forward.spread(factors), factorsT)
}

func (s sparseInput) scale(weights, weightsT *Node) Input {
	if s.weights != nil {
		weights = Mul(s.weights, weights)
	}
	if s.weightsT != nil {
		weightsT = Mul(s.weightsT, weightsT)
	}
	s.weights, s.weightsT = weights, weightsT
	return s
}

func (s sparseInput) Node() *Node {
	return s.Times(DiagonalWithValue(ScalarOne(s.graph, dtypes.Float32), s.width))
}

// Plan says how a phase is to be computed. [Backend.PlanFor] chooses for a backend.
type Plan struct {
	Kernel Kernel // for sums over neighbours, and for sparse features
	// DenseFeatures stores features densely, zeros and all.
	DenseFeatures bool
	// Transposed keeps dense features in both orders: the pure-Go backend would otherwise transpose them every epoch.
	Transposed bool
}

// phaseData is a graph and its features, in variables of a model.
type phaseData struct {
	adjacency *adjacency
	sparse    *sparseFeatures // nil if dense
	dense     *model.Variable
	denseT    *model.Variable // Xᵀ, if the backend profits from it
	positions *model.Variable // of the entries of a sparse X stored densely, by which dropout numbers them
}

// newPhaseData stores one phase below path. With train, what gradients need is stored too.
func newPhaseData(store *model.Store, path string, edges *csr.Graph, features datasets.Features, plan Plan, train bool) (*phaseData, error) {
	n := edges.NumNodes()
	if features.Rows != n {
		return nil, fmt.Errorf("nmgnn: %d rows of features for %d nodes", features.Rows, n)
	}
	d := &phaseData{}
	var err error
	if d.adjacency, err = newAdjacency(store, path+"/edges", adjacencyOf(edges), edges.IsSymmetric(), plan, train); err != nil {
		return nil, err
	}
	if features.IsSparse() && !plan.DenseFeatures {
		d.sparse, err = newSparseFeatures(store, path+"/features", features, plan, train)
		return d, err
	}
	v := variables{store: store, path: path}
	x := features.Stored(false).Dense
	d.dense = v.floats("features", x, n, features.Width)
	if train && plan.Transposed {
		d.denseT = v.floats("features_transposed", transposed(x, n, features.Width), features.Width, n)
	}
	if train && features.IsSparse() {
		d.positions = v.ints("position", densePositions(features), n, features.Width)
	}
	return d, v.err
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

// neighbours is the phase's graph in one pass. Outside training, with a nil generator, nothing is dropped; without train no
// gradient is prepared.
func (d *phaseData) neighbours(train bool, random *Random) Neighbours {
	return neighbours{adjacency: d.adjacency, train: train, random: random, kept: new(*Node)}
}

// input is the phase's features in computation g.
func (d *phaseData) input(g *Graph, train bool) Input {
	if d.sparse != nil {
		return sparseInput{sparseFeatures: d.sparse, graph: g, train: train}
	}
	x := dense{node: d.dense.NodeValue(g), positions: d.positions}
	if d.denseT != nil && train {
		x.transposed = d.denseT.NodeValue(g)
	}
	return x
}

// replace puts another graph and its features, of the same shapes, in the place of these; the kernel must be
// [ScatterKernel], and the data not for training.
func (d *phaseData) replace(edges *csr.Graph, x datasets.Features) error {
	if err := d.adjacency.replace(adjacencyOf(edges)); err != nil {
		return err
	}
	if d.sparse == nil {
		return d.dense.SetValue(tensors.FromFlatDataAndDimensions(x.Dense, x.Rows, x.Width))
	}
	if err := d.sparse.values.SetValue(tensors.FromFlatDataAndDimensions(x.Values, len(x.Values), 1)); err != nil {
		return err
	}
	return d.sparse.forward.(*scatterProduct).replace(sparse{rows: x.Rows, columns: x.Width, offsets: x.Offsets, targets: x.Columns})
}
