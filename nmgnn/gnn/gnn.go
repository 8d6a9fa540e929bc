// Package gnn provides masked graph layers for GoMLX model functions, for nodes, links and whole graphs, together with
// GoMLX's trainers, optimizers and other layers.
//
//	mask := gnn.DrawMask(scope, g, x, 0.5) // nil outside training
//	x = activation.Relu(gnn.GIN(scope.In("gin"), g, x, 64, 64).Mask(mask).Done())
//	x = gnn.GAT(scope.In("gat"), g, x, 4, 8).AttentionDropout(0.3).Mask(mask).Done()
//
// x is [nodes, width]. Layers drop and mask while the scope is training, drawing from it. backend.Adopt makes them fast
// on a backend that GoMLX opened. Functions that build computations panic with an error, as GoMLX's do.
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

// The scope's defaults.
const (
	paramKeepRate         = "node_keep_rate"    // probability of keeping a node; 1
	paramAttentionDropout = "attention_dropout" // probability of dropping an attention weight; 0
)

// Graph holds the edges of layers. It works with any number of stores and backends.
type Graph struct {
	edges  *csr.Graph
	path   string // of its variables in a store: a hash of the edges, against collisions
	mu     sync.Mutex
	loaded map[place]*nmgnn.Loaded
}

type place struct {
	store  *model.Store
	kernel kernels.Kernel
}

// New returns a graph of these edges: row v has N_v.
func New(edges *csr.Graph) *Graph {
	hash := fnv.New128a()
	for _, numbers := range []any{edges.Offsets, edges.Indices} {
		if err := binary.Write(hash, binary.LittleEndian, numbers); err != nil {
			panic(err) // a hash never fails
		}
	}
	return &Graph{edges: edges, path: fmt.Sprintf("/gnn/%x", hash.Sum(nil)), loaded: map[place]*nmgnn.Loaded{}}
}

// NumNodes returns the number of nodes.
func (g *Graph) NumNodes() int { return g.edges.NumNodes() }

// Variables returns the graph's variables in a store, for checkpoint.ExcludeVars: New remakes them.
func (g *Graph) Variables(store *model.Store) (all []*model.Variable) {
	for v := range store.Scope(g.path).IterVariables() {
		all = append(all, v)
	}
	return all
}

func kernelOf(x *graph.Node) kernels.Kernel {
	if fused.Available(x.Graph()) {
		return kernels.FusedKernel
	}
	return kernels.ScatterKernel
}

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

// DrawMask returns δ [nodes, 1], drawn in each training step for all its layers; nil outside training or if all nodes
// are kept. keepRate is the probability of keeping a node; 0: the scope's "node_keep_rate", or 1. x is any node of the
// computation.
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

// Layer configures a layer for [Layer.Done].
type Layer struct {
	scope   *model.Scope
	graph   *Graph
	x, mask *graph.Node
	dropout float64
	own     bool // may draw anything
	make    func(dropout float64) nmgnn.Layer
}

func layer(scope *model.Scope, g *Graph, x *graph.Node, make func(dropout float64) nmgnn.Layer) *Layer {
	return &Layer{scope: scope, graph: g, x: x, make: make,
		dropout: model.GetParamOr(scope, paramAttentionDropout, 0.0)}
}

// GIN returns an nmgnn.GIN whose MLP has these widths.
func GIN(scope *model.Scope, g *Graph, x *graph.Node, widths ...int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.GIN{Width: widths} })
}

// GAT returns an nmgnn.GAT: [nodes, heads·width].
func GAT(scope *model.Scope, g *Graph, x *graph.Node, heads, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer {
		return nmgnn.GAT{Heads: heads, Width: width, Dropout: dropout}
	})
}

// GATv2 returns an nmgnn.GATv2: [nodes, heads·width].
func GATv2(scope *model.Scope, g *Graph, x *graph.Node, heads, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer {
		return nmgnn.GATv2{Heads: heads, Width: width, Dropout: dropout}
	})
}

// SGAT returns an nmgnn.SGAT, the simplified GAT.
func SGAT(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer { return nmgnn.SGAT{Width: width, Dropout: dropout} })
}

// GCN returns an nmgnn.GCN.
func GCN(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.GCN{Width: width} })
}

// SAGE returns an nmgnn.SAGE, with GraphSAGE's mean.
func SAGE(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.SAGE{Width: width} })
}

// Of returns a layer for a custom nmgnn.Layer.
func Of(scope *model.Scope, g *Graph, x *graph.Node, l nmgnn.Layer) *Layer {
	of := layer(scope, g, x, func(float64) nmgnn.Layer { return l })
	of.own = true
	return of
}

// Mask sets the nodes that contribute to others: [nodes, 1] or [nodes], of any type; false and 0 are masked. nil masks
// nothing.
func (l *Layer) Mask(mask *graph.Node) *Layer {
	l.mask = mask
	return l
}

// AttentionDropout sets the probability of dropping an attention weight in training; default: the scope's
// "attention_dropout", or 0. Layers without attention ignore it.
func (l *Layer) AttentionDropout(rate float64) *Layer {
	l.dropout = rate
	return l
}

// Done adds the layer to the computation and returns [nodes, outputs], of x's type. Weights are float32.
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
