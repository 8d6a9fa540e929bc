// Package gnn provides masked graph layers for GoMLX model functions, for tasks on nodes, links and whole graphs.
//
//	mask := gnn.DrawMask(scope, g, x, 0.5) // nil outside training
//	x = activation.Relu(gnn.GIN(scope.In("gin"), g, x, 64, 64).Mask(mask).Done())
//	x = gnn.GAT(scope.In("gat"), g, x, 4, 8).AttentionDropout(0.3).Mask(mask).Done()
//
// x is [nodes, width]. Dropout and [DrawMask] act only while the scope is training. backend.Adopt makes layers fast on
// a backend that GoMLX opened. Functions that build computations panic with an error, as GoMLX's do.
package gnn

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	graph "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

const (
	paramKeepRate         = "node_keep_rate"    // probability of keeping a node; default 1
	paramAttentionDropout = "attention_dropout" // probability of dropping an attention weight; default 0
)

// Graph holds one or several graphs for layers to run on, with any number of variable stores and backends.
type Graph struct {
	mu       sync.Mutex
	edges    *csr.Graph
	ends     []int64 // graph i has nodes ends[i] … ends[i+1]-1
	x        datasets.Features
	reserved bool
	nodes    int // number of nodes, including spare nodes that Reserve added
	room     int // how many neighbours, summed over all nodes, the graph can hold
	values   int // capacity for values of sparse features
	err      error
	loaded   map[place]*loaded
}

type place struct {
	store  *model.Store
	kernel kernels.Kernel
}

type loaded struct {
	*nmgnn.Loaded
	path   string
	kernel kernels.Kernel
	graphs *kernels.Product // matrix [graphs, nodes] for pooling; nil until first used
}

// New returns a graph in which row v lists the neighbours of node v. Nodes of several graphs are numbered
// consecutively.
func New(graphs ...*csr.Graph) *Graph {
	g := &Graph{loaded: map[place]*loaded{}}
	g.edges, g.ends, g.err = join(graphs)
	if g.err == nil {
		g.nodes, g.room = g.edges.NumNodes(), len(g.edges.Indices)
	}
	return g
}

// WithFeatures adds features, a row per node, for [Layer.Features]. Sparse features stay sparse. Call WithFeatures
// before the first layer is built.
func (g *Graph) WithFeatures(x datasets.Features) *Graph {
	if g.err == nil {
		g.x, g.values, g.err = x, len(x.Values), g.check(g.edges, x)
	}
	return g
}

// Reserve makes room for graphs that [Graph.Replace] will put in. The parameters are the largest numbers of nodes, of
// neighbours in total, and of values of sparse features. A number below the graph's present number has no effect. Spare
// nodes are the last rows of a layer's input; they have no neighbours and are never pooled. Call Reserve before the
// first layer is built.
func (g *Graph) Reserve(nodes, neighbours, values int) *Graph {
	g.reserved, g.nodes = true, max(g.nodes, nodes)
	g.room, g.values = max(g.room, neighbours), max(g.values, values)
	return g
}

func (g *Graph) check(edges *csr.Graph, x datasets.Features) error {
	if err := x.Check(); err != nil {
		return err
	}
	if x.Rows != edges.NumNodes() {
		return fmt.Errorf("%d rows of features for %d nodes", x.Rows, edges.NumNodes())
	}
	return nil
}

func join(graphs []*csr.Graph) (edges *csr.Graph, ends []int64, err error) {
	offsets, indices, ends := []int64{0}, []int32{}, []int64{0}
	for i, g := range graphs {
		if g == nil {
			return nil, nil, fmt.Errorf("graph %d is nil: build one with csr.FromEdges", i)
		}
		first, before := len(offsets)-1, int64(len(indices))
		for _, offset := range g.Offsets[1:] {
			offsets = append(offsets, before+offset)
		}
		for _, u := range g.Indices {
			indices = append(indices, int32(first)+u)
		}
		ends = append(ends, int64(len(offsets)-1))
	}
	if len(graphs) == 1 {
		return graphs[0], ends, nil
	}
	edges, err = csr.New(offsets, indices)
	return edges, ends, err
}

// Replace puts other graphs and features into compiled computations; they must fit the room made by [Graph.Reserve].
// The zero value of x means no features. If there are fewer graphs than before, the last rows of pooled results are
// zero. After an error, compute nothing until a call of Replace succeeds.
func (g *Graph) Replace(x datasets.Features, graphs ...*csr.Graph) error {
	edges, ends, err := join(graphs)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.x.Width > 0 || x.Width > 0 {
		err = g.check(edges, x)
	}
	switch {
	case cmp.Or(g.err, err) != nil:
		return cmp.Or(g.err, err)
	case !g.reserved:
		return errors.New("replacing a graph without room: call Reserve before the first layer")
	case x.Width != g.x.Width || x.IsSparse() != g.x.IsSparse():
		return fmt.Errorf("features of width %d, sparse: %t: expected as at first, %d, %t", x.Width, x.IsSparse(),
			g.x.Width, g.x.IsSparse())
	case len(graphs) > len(g.ends)-1 || edges.NumNodes() > g.nodes || len(edges.Indices) > g.room ||
		len(x.Values) > g.values:
		return fmt.Errorf("%d graphs of %d nodes, %d neighbours and %d values: there is room for %d, %d, %d and %d",
			len(graphs), edges.NumNodes(), len(edges.Indices), len(x.Values), len(g.ends)-1, g.nodes, g.room, g.values)
	}
	for len(ends) < len(g.ends) {
		ends = append(ends, ends[len(ends)-1])
	}
	g.edges, g.x, g.ends = edges, x, ends
	for _, l := range g.loaded {
		err = l.Replace(g.padded())
		if err == nil && l.graphs != nil {
			err = l.graphs.Replace(g.members(), true)
		}
		if errors.Is(err, kernels.ErrNoFit) {
			return fmt.Errorf("%w: a backend that was not prepared by backend.Adopt, or is a GPU, has no room", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (g *Graph) padded() (*csr.Graph, datasets.Features) {
	x, spare := g.x, g.nodes-g.edges.NumNodes()
	x.Rows = g.nodes
	if spare == 0 {
		return g.edges, x
	}
	edges := &csr.Graph{Indices: g.edges.Indices,
		Offsets: append(slices.Clone(g.edges.Offsets), slices.Repeat([]int64{int64(len(g.edges.Indices))}, spare)...)}
	if x.IsSparse() {
		x.Offsets = append(slices.Clone(x.Offsets), slices.Repeat([]int64{int64(len(x.Values))}, spare)...)
	} else {
		x.Dense = append(slices.Clone(x.Dense), make([]float32, spare*x.Width)...)
	}
	return edges, x
}

// members returns the matrix [graphs, nodes] with entry (i, v) for each node v of graph i.
func (g *Graph) members() csr.Matrix {
	m := csr.Matrix{Rows: len(g.ends) - 1, Columns: g.nodes, Offsets: g.ends}
	for v := range int32(g.ends[len(g.ends)-1]) {
		m.Indices = append(m.Indices, v)
	}
	return m
}

// NumNodes returns the number of nodes, including spare nodes that [Graph.Reserve] added.
func (g *Graph) NumNodes() int { return g.nodes }

// Variables returns the variables in which a store holds this graph. They need not be saved, because layers create them
// again from the graph: pass them to checkpoint.ExcludeVars. A checkpoint handler that is attached to the store before
// the first layer is built excludes these variables automatically.
func (g *Graph) Variables(store *model.Store) (all []*model.Variable) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for at, l := range g.loaded {
		if at.store == store {
			for v := range store.Scope(l.path).IterVariables() {
				all = append(all, v)
			}
		}
	}
	return all
}

// pathIn returns a path that no other graph uses in a store or its checkpoint. The path is a hash of the graph's
// content. After Reserve the content can change: then the path is the first of the paths numbered 1, 2, … that holds no
// variables yet.
func (g *Graph) pathIn(store *model.Store, kernel kernels.Kernel) string {
	if g.reserved {
		for i := 1; ; i++ {
			path := fmt.Sprintf("/gnn/%d-%d-%d-%d/%s", g.nodes, g.room, g.values, i, kernel)
			if store.Scope(path).NumVariables() == 0 {
				return path
			}
		}
	}
	hash := fnv.New128a()
	for _, numbers := range []any{g.edges.Offsets, g.edges.Indices, g.ends, int64(g.x.Width), g.x.Dense, g.x.Offsets,
		g.x.Columns, g.x.Values} {
		if err := binary.Write(hash, binary.LittleEndian, numbers); err != nil {
			panic(err) // writing to a hash never fails
		}
	}
	return fmt.Sprintf("/gnn/%x/%s", hash.Sum(nil), kernel)
}

// g.in returns the graph, loaded for x's computation, and a random generator. The generator is nil outside training or
// if draws is false.
func (g *Graph) in(scope *model.Scope, x *graph.Node, draws bool) (*loaded, *nmgnn.Random) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		panic(g.err)
	}
	backend := x.Graph().Backend()
	at := place{scope.Store(), kernels.PlanFor(backend, 0).Kernel}
	if g.loaded[at] == nil {
		l := &loaded{path: g.pathIn(at.store, at.kernel), kernel: at.kernel}
		edges, features := g.padded()
		var err error
		l.Loaded, err = nmgnn.Load(at.store, l.path, edges, features, nmgnn.LoadOptions{Backend: backend, Gradients: true,
			Room: g.room, FeatureRoom: g.values, Directed: g.reserved})
		if err != nil {
			panic(err)
		}
		g.loaded[at] = l
	}
	gomlx.LeaveToOthers(x.Graph())
	if !draws || !scope.IsTraining(x.Graph()) {
		return g.loaded[at], nil
	}
	key := scope.RandomIntN(x.Graph(), uint32(math.MaxUint32), shapes.Make(dtypes.Uint32, 2))
	return g.loaded[at], g.loaded[at].Random(key)
}

// DrawMask returns a mask [nodes, 1], drawn at each training step; nil outside training or if all nodes are kept.
// keepRate is the probability of keeping a node; 0 means the scope's "node_keep_rate" or, if that is not set, 1. x can
// be any *graph.Node of the computation that will use the mask.
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
	_, random := g.in(scope, x, true)
	return random.Kept(g.nodes, 1-keepRate)
}

// PoolSum returns the sum of each graph's rows: x [nodes, width] → [graphs, width].
func (g *Graph) PoolSum(scope *model.Scope, x *graph.Node) *graph.Node {
	return g.pool(scope, x, func(p kernels.Product, x *graph.Node) *graph.Node {
		return kernels.Sum(p, x, nil, nil, true)
	})
}

// PoolMean returns the mean of each graph's rows: x [nodes, width] → [graphs, width].
func (g *Graph) PoolMean(scope *model.Scope, x *graph.Node) *graph.Node {
	return g.pool(scope, x, func(p kernels.Product, x *graph.Node) *graph.Node {
		size := p.Total(kernels.Valid(p, x.Graph()))
		return p.Mean(x, nil, graph.Max(size, graph.OnesLike(size)), nil, true)
	})
}

// PoolMax returns each graph's maximum, per column: x [nodes, width] → [graphs, width].
func (g *Graph) PoolMax(scope *model.Scope, x *graph.Node) *graph.Node {
	return g.pool(scope, x, func(p kernels.Product, x *graph.Node) *graph.Node {
		return kernels.RowMax(p, kernels.Sources(p, x, true), nil, true)
	})
}

func (g *Graph) pool(scope *model.Scope, x *graph.Node,
	of func(p kernels.Product, x *graph.Node) *graph.Node) *graph.Node {
	g.mustBeRows(x)
	l, _ := g.in(scope, x, false)
	if l.graphs == nil {
		o := kernels.Options{Kernel: l.kernel, Gradients: true}
		if g.reserved {
			o.Slots = g.nodes
		}
		graphs, err := kernels.New(scope.Store(), l.path+"/graphs", g.members(), o)
		if err != nil {
			panic(err)
		}
		l.graphs = &graphs
	}
	return graph.ConvertDType(of(*l.graphs, graph.ConvertDType(x, dtypes.Float32)), x.DType())
}

func (g *Graph) mustBeRows(x *graph.Node) {
	if shape := x.Shape(); shape.Rank() != 2 || shape.Dimensions[0] != g.nodes || !shape.DType.IsFloat() {
		panic(fmt.Errorf("x is %s: expected floats [%d, width], a row for each node", shape, g.nodes))
	}
}
