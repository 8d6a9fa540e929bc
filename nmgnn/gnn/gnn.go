// Package gnn has masked graph layers for model functions of GoMLX: with its trainers, optimizers, metrics, checkpoints
// and other layers, for nodes, links and whole graphs.
//
//	mask := gnn.DrawMask(scope, g, x, 0.5) // nil outside training
//	x = activation.Relu(gnn.GIN(scope.In("gin"), g, x, 64, 64).Mask(mask).Done())
//	x = gnn.GAT(scope.In("gat"), g, x, 4, 8).AttentionDropout(0.3).Mask(mask).Done()
//
// x is [nodes, width]. Layers drop and mask where the scope is training; what they draw comes from the scope, as with
// GoMLX's dropout. On a backend that GoMLX opened, backend.Adopt makes them fast. Functions that build computations
// panic with an error, as GoMLX's do.
package gnn

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"sync"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	graph "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/kernels/fused"
	"nodemask/nmgnn/internal/variables"
)

// Hyperparameters that layers read from their scope where no number is given.
const (
	paramKeepRate         = "node_keep_rate"    // probability that a node is kept; 1
	paramAttentionDropout = "attention_dropout" // probability that an attention weight is dropped; 0
)

// Graph is the edges that layers add up over. It may be used with any number of stores and backends.
type Graph struct {
	edges  *csr.Graph
	path   string // of its variables in a store: it names the edges by a hash, so that no other graph is met there
	mu     sync.Mutex
	loaded map[place]*nmgnn.Loaded
}

// place is where a graph is stored, and for which kernel.
type place struct {
	store  *model.Store
	kernel kernels.Kernel
}

// New returns a graph of these edges: row v has N_v.
func New(edges *csr.Graph) *Graph {
	hash := fnv.New128a()
	for _, numbers := range []any{edges.Offsets, edges.Indices} {
		if err := binary.Write(hash, binary.LittleEndian, numbers); err != nil {
			panic(err) // a hash takes everything
		}
	}
	return &Graph{edges: edges, path: fmt.Sprintf("/gnn/%x", hash.Sum(nil)), loaded: map[place]*nmgnn.Loaded{}}
}

// NumNodes returns the number of nodes.
func (g *Graph) NumNodes() int { return g.edges.NumNodes() }

// Variables lists what the graph keeps in a store, for checkpoint.ExcludeVars: it is made anew from the edges.
func (g *Graph) Variables(store *model.Store) (all []*model.Variable) {
	for v := range store.Scope(g.path).IterVariables() {
		all = append(all, v)
	}
	return all
}

// kernelOf is how a computation's backend adds up neighbours.
func kernelOf(x *graph.Node) kernels.Kernel {
	if fused.Available(x.Graph()) {
		return kernels.FusedKernel
	}
	return kernels.ScatterKernel
}

// near returns the neighbours in x's computation, and a generator if something draws in training; else nil.
func (g *Graph) near(scope *model.Scope, x *graph.Node, draws bool) (nmgnn.Neighbours, *kernels.Random) {
	kernel := kernelOf(x)
	g.mu.Lock()
	defer g.mu.Unlock()
	at := place{scope.Store(), kernel}
	if g.loaded[at] == nil {
		loaded, err := nmgnn.Load(at.store, g.path+"/"+string(kernel), g.edges,
			datasets.Features{Rows: g.NumNodes()}, nmgnn.LoadOptions{Plan: kernels.Plan{Kernel: kernel}, Gradients: true})
		if err != nil {
			panic(err)
		}
		g.loaded[at] = loaded
	}
	variables.LeaveToOthers(x.Graph())
	if train := scope.IsTraining(x.Graph()); !train || !draws {
		return g.loaded[at].Neighbours(train, nil), nil
	}
	key := scope.RandomIntN(x.Graph(), uint32(math.MaxUint32), shapes.Make(dtypes.Uint32, 2))
	random := kernels.NewRandom(key, kernel)
	return g.loaded[at].Neighbours(true, random), random
}

// DrawMask draws δ, which nodes contribute to others, anew in each training step: [nodes, 1], to be given to all layers
// of a step; nil outside training, and where all are kept. keepRate is the probability that a node is kept; 0: the
// scope's parameter "node_keep_rate", or 1. x is any node of the computation.
func DrawMask(scope *model.Scope, g *Graph, x *graph.Node, keepRate float64) *graph.Node {
	if keepRate == 0 {
		keepRate = model.GetParamOr(scope, paramKeepRate, 1.0)
	}
	if _, err := hyper.NewKeepRate(keepRate); err != nil {
		panic(err)
	}
	if keepRate == 1 || !scope.IsTraining(x.Graph()) {
		return nil
	}
	_, random := g.near(scope, x, true)
	return random.Next().Kept(kernels.Positions(x.Graph(), nil, []int{g.NumNodes(), 1}), 1-keepRate)
}

// Layer is a layer that [Layer.Done] adds to a computation.
type Layer struct {
	scope   *model.Scope
	graph   *Graph
	x, mask *graph.Node
	dropout float64
	own     bool // it may draw whatever it likes
	make    func(dropout float64) nmgnn.Layer
}

func layer(scope *model.Scope, g *Graph, x *graph.Node, make func(dropout float64) nmgnn.Layer) *Layer {
	return &Layer{scope: scope, graph: g, x: x, make: make,
		dropout: model.GetParamOr(scope, paramAttentionDropout, 0.0)}
}

// GIN is nmgnn.GIN, with an MLP of these widths.
func GIN(scope *model.Scope, g *Graph, x *graph.Node, widths ...int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.GIN{Width: widths} })
}

// GAT is nmgnn.GAT, with heads of a width each: [nodes, heads·width].
func GAT(scope *model.Scope, g *Graph, x *graph.Node, heads, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer {
		return nmgnn.GAT{Heads: heads, Width: width, Dropout: dropout}
	})
}

// GATv2 is nmgnn.GATv2, with heads of a width each: [nodes, heads·width].
func GATv2(scope *model.Scope, g *Graph, x *graph.Node, heads, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer {
		return nmgnn.GATv2{Heads: heads, Width: width, Dropout: dropout}
	})
}

// SGAT is nmgnn.SGAT, the simplified GAT.
func SGAT(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer { return nmgnn.SGAT{Width: width, Dropout: dropout} })
}

// GCN is nmgnn.GCN.
func GCN(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.GCN{Width: width} })
}

// SAGE is nmgnn.SAGE, GraphSAGE's mean.
func SAGE(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.SAGE{Width: width} })
}

// Of is a layer of one's own.
func Of(scope *model.Scope, g *Graph, x *graph.Node, l nmgnn.Layer) *Layer {
	of := layer(scope, g, x, func(float64) nmgnn.Layer { return l })
	of.own = true
	return of
}

// Mask has the layer leave out what nodes contribute to others: [nodes, 1] or [nodes], of any type; false and 0 are
// masked. nil masks nothing.
func (l *Layer) Mask(mask *graph.Node) *Layer {
	l.mask = mask
	return l
}

// AttentionDropout drops attention weights in training, with this probability; without it that is the scope's parameter
// "attention_dropout", or 0. Layers without attention drop nothing.
func (l *Layer) AttentionDropout(rate float64) *Layer {
	l.dropout = rate
	return l
}

// Done adds the layer to the computation: [nodes, outputs], of x's type. Weights are float32.
func (l *Layer) Done() *graph.Node {
	n, shape := l.graph.NumNodes(), l.x.Shape()
	if shape.Rank() != 2 || shape.Dimensions[0] != n || !shape.DType.IsFloat() {
		panic(fmt.Errorf("x is %s: expected floats [%d, width], a row for each node", shape, n))
	}
	if err := hyper.CheckDropRate("attention dropout", l.dropout); err != nil {
		panic(err)
	}
	mask := l.mask
	if mask != nil {
		if mask.Shape().Size() != n {
			panic(fmt.Errorf("the mask is %s: expected [%d, 1], a number for each node", mask.Shape(), n))
		}
		mask = graph.Reshape(graph.ConvertDType(mask, dtypes.Float32), n, 1)
	}
	near, _ := l.graph.near(l.scope, l.x, l.own || l.dropout > 0)
	x := graph.ConvertDType(l.x, dtypes.Float32)
	return graph.ConvertDType(l.make(l.dropout).Forward(l.scope, near, nmgnn.Dense(x), mask), shape.DType)
}
