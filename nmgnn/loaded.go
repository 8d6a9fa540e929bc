package nmgnn

import (
	"fmt"

	"nodemask/nmgnn/internal/gomlx"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/internal/kernels"
)

// Loaded is a graph and its features in variables: the input of a [Model].
type Loaded struct {
	near   *adjacency
	sparse *sparseFeatures // nil if the features are stored densely
	dense  *model.Variable
	denseT *model.Variable // transpose of the field dense; nil if the backend is not faster with it
	// If sparse features are stored densely, positions holds, for each nonzero element of the field dense, its index
	// among the sparse entries. By this index, dropout draws the same random numbers as with sparse storage.
	positions *model.Variable
	large     bool // the field dense is too large to be copied
}

// LoadOptions configure [Load].
type LoadOptions struct {
	// Backend will run the computation; Load picks its fastest kernel. nil means GoMLX's scatter operations, which
	// run on any backend.
	Backend   compute.Backend
	Gradients bool // allows computations with gradients
	// Room and FeatureRoom limit the edges (each direction counts) and the sparse feature values of a graph that is
	// later passed to [Loaded.Replace]; 0 means as many as now. With scatter operations, a later graph must have
	// exactly as many as now.
	Room, FeatureRoom int
	// Directed stores the transpose even of a symmetric graph, so that a directed graph can replace the graph.
	Directed bool
	// Share is a backend with which the variables share memory, so that replacing them is faster; nil means none. With
	// Share, dense features may stay zero until [Loaded.FillFeatures] or [Loaded.Replace] sets them.
	Share compute.Backend
}

// Load stores a graph and its features in variables in the scope path. The features have one row per node; their width
// may be 0.
func Load(store *model.Store, path string, edges *csr.Graph, x datasets.Features, o LoadOptions) (*Loaded, error) {
	n, plan, gradients := edges.NumNodes(), kernels.PlanFor(o.Backend, x.Density()), o.Gradients
	if x.Rows != n {
		return nil, fmt.Errorf("%d rows of features for %d nodes", x.Rows, n)
	}
	d := &Loaded{}
	var err error
	k := kernels.Options{Kernel: plan.Kernel, Gradients: gradients, Share: o.Share}
	k.Symmetric, k.Slots = !o.Directed && edges.IsSymmetric(), o.Room
	if d.near, err = newAdjacency(store, path+"/edges", edges.Matrix(), k); err != nil {
		return nil, fmt.Errorf("the graph: %w", err)
	}
	if x.Width == 0 {
		return d, nil
	}
	if x.IsSparse() && !plan.DenseFeatures {
		k.Symmetric, k.Slots = false, o.FeatureRoom
		p, err := kernels.New(store, path+"/features", x.Matrix(), k)
		if err != nil {
			return nil, fmt.Errorf("the features: %w", err)
		}
		d.sparse = &sparseFeatures{product: p, width: x.Width, values: kernels.Values(p)}
		return d, nil
	}
	into := kernels.NewConstants(store, path).Share(o.Share)
	if o.Share != nil && !x.IsSparse() && !plan.Transposed {
		d.dense, d.large = into.Zeros("features", n, x.Width), true
		return d, into.Err()
	}
	values := x.Stored(false).Dense
	d.dense = into.Floats("features", values, n, x.Width)
	if gradients && plan.Transposed {
		d.denseT = into.Floats("features_transposed", transposed(values, n, x.Width), x.Width, n)
	}
	if gradients && x.IsSparse() {
		d.positions = into.Ints("position", densePositions(x), n, x.Width)
	}
	return d, into.Err()
}

// WithEdges returns d's features with another graph that has the same number of nodes, for computations without
// gradients. It stores the graph in variables in the scope path. The parameter room is the number of adjacency entries
// to have space for; if edges has more entries, there is space for these.
func (d *Loaded) WithEdges(path string, edges *csr.Graph, room int) (*Loaded, error) {
	other := *d
	o := kernels.Options{Kernel: d.near.options.Kernel, Slots: room}
	var err error
	if other.near, err = newAdjacency(d.near.store, path, edges.Matrix(), o); err != nil {
		return nil, fmt.Errorf("the graph: %w", err)
	}
	return &other, nil
}

// densePositions returns, for each element of the dense matrix, its index, from 0, among the entries of the sparse
// matrix f. An element without an entry gets 0; its index does not matter.
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

// Neighbours returns the graph for one run of a model: with gradients if train is true, with dropout unless random is
// nil.
func (d *Loaded) Neighbours(train bool, random *Random) Neighbours {
	return Neighbours{adjacency: d.near, product: d.near.product, train: train, random: random.generator(),
		kept: new(*Node)}
}

// Features returns the features in computation g.
func (d *Loaded) Features(g *Graph, train bool) Input {
	if d.sparse != nil {
		return sparseInput{sparseFeatures: d.sparse, graph: g, train: train}
	}
	x := dense{node: d.dense.NodeValue(g), positions: d.positions, large: d.large && train}
	if d.denseT != nil && train {
		x.transposed = d.denseT.NodeValue(g)
	}
	return x
}

// SetDegrees sets each node's degree |N_v|, for a subgraph in which some neighbours of nodes are missing.
func (d *Loaded) SetDegrees(degrees []float32) error {
	return d.near.set(&d.near.degrees, "degree", degrees)
}

// SetOwn marks the rows over which batch normalisation runs: own [nodes] is 1 for them, else 0.
func (d *Loaded) SetOwn(own []float32) error { return d.near.set(&d.near.own, "own", own) }

// NeedsMasked reports whether a layer built on d reads representations of masked neighbours, as the softmax of
// attention does.
func (d *Loaded) NeedsMasked() bool {
	return d.near.readsAll || d.near.self != nil && d.near.self.readsAll
}

// Replace gives compiled computations another graph and features of the same shapes. It returns an error if they do not
// fit. After an error, compute nothing until a later Replace succeeds.
func (d *Loaded) Replace(edges *csr.Graph, x datasets.Features) error {
	if x.Rows != edges.NumNodes() {
		return fmt.Errorf("%d rows of features for %d nodes", x.Rows, edges.NumNodes())
	}
	if err := d.ReplaceEdges(edges, true); err != nil {
		return err
	}
	if x.Width == 0 {
		return nil
	}
	return d.ReplaceFeatures(x, true)
}

// ReplaceFeatures replaces only the features. After a call with gradients false, call it again with true before
// computing gradients.
func (d *Loaded) ReplaceFeatures(x datasets.Features, gradients bool) error {
	if d.sparse != nil {
		return d.sparse.product.Replace(x.Matrix(), gradients)
	}
	if d.positions != nil && !x.IsSparse() {
		return kernels.ErrNoFit
	}
	values := x.Stored(false).Dense
	if err := d.dense.SetValue(tensors.FromFlatDataAndDimensions(values, x.Rows, x.Width)); err != nil {
		return gomlx.Error(err)
	}
	if d.denseT != nil {
		turned := tensors.FromFlatDataAndDimensions(transposed(values, x.Rows, x.Width), x.Width, x.Rows)
		if err := d.denseT.SetValue(turned); err != nil {
			return gomlx.Error(err)
		}
	}
	if d.positions != nil {
		return gomlx.Error(d.positions.SetValue(tensors.FromFlatDataAndDimensions(densePositions(x), x.Rows, x.Width)))
	}
	return nil
}

// FillFeatures calls fill once to write the dense features [nodes·width], one row after another. The graph must have
// been loaded with [LoadOptions].Share.
func (d *Loaded) FillFeatures(fill func(rows []float32)) error { return kernels.Fill(d.dense, fill) }

// ReplaceEdges replaces only the graph; [Loaded.ReplaceFeatures] explains gradients.
func (d *Loaded) ReplaceEdges(edges *csr.Graph, gradients bool) error {
	if gradients && d.near.options.Symmetric && !edges.IsSymmetric() {
		return kernels.ErrNoFit
	}
	return d.near.replace(edges.Matrix(), gradients)
}
