package gnn

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute/dtypes"
	graph "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/regularizer"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
)

// Layer holds a layer's settings until [Layer.Done].
type Layer struct {
	scope          *model.Scope
	graph          *Graph
	x, mask        *graph.Node
	features       bool // whether the layer reads the graph's features instead of x
	featureDropout float64
	dropout        float64
	custom         bool // true if Apply wraps a caller's nmgnn.Layer, which may draw random numbers
	make           func(dropout float64) nmgnn.Layer
}

func layer(scope *model.Scope, g *Graph, x *graph.Node, make func(dropout float64) nmgnn.Layer) *Layer {
	return &Layer{scope: scope, graph: g, x: x, make: make,
		dropout: model.GetParamOr(scope, paramAttentionDropout, 0.0)}
}

// GIN returns an nmgnn.GIN layer whose MLP has these widths.
func GIN(scope *model.Scope, g *Graph, x *graph.Node, widths ...int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.GIN{Width: widths} })
}

// GAT returns an nmgnn.GAT layer, with results [nodes, heads·width].
func GAT(scope *model.Scope, g *Graph, x *graph.Node, heads, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer {
		return nmgnn.GAT{Heads: heads, Width: width, Dropout: dropout}
	})
}

// GATv2 returns an nmgnn.GATv2 layer, with results [nodes, heads·width].
func GATv2(scope *model.Scope, g *Graph, x *graph.Node, heads, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer {
		return nmgnn.GATv2{Heads: heads, Width: width, Dropout: dropout}
	})
}

// SGAT returns an nmgnn.SGAT layer with one head.
func SGAT(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(dropout float64) nmgnn.Layer { return nmgnn.SGAT{Width: width, Dropout: dropout} })
}

// GCN returns an nmgnn.GCN layer.
func GCN(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.GCN{Width: width} })
}

// SAGE returns an nmgnn.SAGE layer.
func SAGE(scope *model.Scope, g *Graph, x *graph.Node, width int) *Layer {
	return layer(scope, g, x, func(float64) nmgnn.Layer { return nmgnn.SAGE{Width: width} })
}

// Apply returns a [Layer] that applies l to x. Use Apply for a custom nmgnn.Layer, or for settings that the functions
// above lack.
func Apply(scope *model.Scope, g *Graph, x *graph.Node, l nmgnn.Layer) *Layer {
	of := layer(scope, g, x, func(float64) nmgnn.Layer { return l })
	of.custom = true
	return of
}

// Features makes the layer read the features given to [Graph.WithFeatures] instead of x, whose value is then ignored.
// dropout is the features' dropout rate in training.
func (l *Layer) Features(dropout float64) *Layer {
	l.features, l.featureDropout = true, dropout
	return l
}

// Mask sets which nodes contribute to others: [nodes, 1] or [nodes], of any type; false and 0 mask a node. nil masks no
// node.
func (l *Layer) Mask(mask *graph.Node) *Layer {
	l.mask = mask
	return l
}

// AttentionDropout sets the probability of dropping an attention weight in training. Default: the scope's
// "attention_dropout", or 0. Layers without attention ignore it.
func (l *Layer) AttentionDropout(rate float64) *Layer {
	l.dropout = rate
	return l
}

// Done adds the layer to the computation and returns its result [nodes, outputs]. The result has the type of the input
// x, or float32 if [Layer.Features] replaces x. Weights are float32; the scope's L1 and L2 regularization applies to
// weights, not to biases.
func (l *Layer) Done() *graph.Node {
	if err := hyper.CheckDropRate("attention dropout", l.dropout); err != nil {
		panic(err)
	}
	if err := hyper.CheckDropRate("dropout of features", l.featureDropout); err != nil {
		panic(err)
	}
	n, mask := l.graph.nodes, l.mask
	if mask != nil {
		if mask.Shape().Size() != n {
			panic(fmt.Errorf("the mask is %s: expected [%d, 1], a number for each node", mask.Shape(), n))
		}
		mask = graph.Reshape(graph.ConvertDType(mask, dtypes.Float32), n, 1)
	}
	loaded, random := l.graph.in(l.scope, l.x, l.custom || l.dropout > 0 || l.featureDropout > 0)
	train, out := l.scope.IsTraining(l.x.Graph()), dtypes.Float32
	var h nmgnn.Input
	switch {
	case !l.features:
		l.graph.mustBeRows(l.x)
		h, out = nmgnn.Dense(graph.ConvertDType(l.x, dtypes.Float32)), l.x.DType()
	case l.graph.x.Width == 0:
		panic(fmt.Errorf("the graph has no features: give it some by WithFeatures"))
	default:
		h = loaded.Features(l.x.Graph(), train).Dropout(random, l.featureDropout)
	}
	y := l.make(l.dropout).Forward(l.scope, loaded.Neighbours(train, random), h, mask)
	l.regularize()
	return graph.ConvertDType(y, out)
}

func (l *Layer) regularize() {
	regularize := regularizer.FromScope(l.scope)
	if regularize == nil {
		return
	}
	g := l.x.Graph()
	for v := range l.scope.IterVariables() {
		switch name := v.Name(); {
		case !v.Trainable || !v.InUseByGraph(g) || strings.Contains(name, "bias"), name == "gamma", name == "beta",
			name == "epsilon":
		default:
			regularize(g, v)
		}
	}
}
