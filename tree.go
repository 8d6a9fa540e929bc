package nodemask

import (
	"context"
	"fmt"
	"io"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/datasets"
)

// Drawing is an aggregation tree with its graph.
type Drawing struct {
	*aggtree.Tree
	graph *datasets.Graph
}

// TreeOption changes the tree that [Tree] builds.
type TreeOption func(g *datasets.Graph, o *aggtree.Options) error

// Masked masks nodes: they join no child set, but may be the root.
func Masked(nodes ...int32) TreeOption {
	return func(g *datasets.Graph, o *aggtree.Options) error {
		if o.Mask == nil {
			o.Mask = make([]bool, g.NumNodes())
		}
		for _, v := range nodes {
			if v < 0 || int(v) >= len(o.Mask) {
				return fmt.Errorf("node %d cannot be masked: the graph has nodes 0 to %d", v, len(o.Mask)-1)
			}
			o.Mask[v] = true
		}
		return nil
	}
}

// Tree returns a node's aggregation tree over hops layers: all that a model of that depth reads to compute it. Above a
// million nodes it returns an [*aggtree.TooLargeError].
func Tree(g *datasets.Graph, node int32, hops int, options ...TreeOption) (*Drawing, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	var o aggtree.Options
	for _, option := range options {
		if err := option(g, &o); err != nil {
			return nil, err
		}
	}
	tree, err := aggtree.Build(context.Background(), g.Edges, node, hops, o)
	return &Drawing{tree, g}, err
}

// DrawOption changes a picture.
type DrawOption func(d *Drawing, o draw.Options) draw.Options

// ByClass colours nodes by their class.
func ByClass() DrawOption {
	return func(d *Drawing, o draw.Options) draw.Options { return o.ByClass(d.graph.Labels, d.graph.Classes) }
}

// SVG draws the tree next to the graph around its root; masked nodes are dashed.
func (d *Drawing) SVG(w io.Writer, options ...DrawOption) error {
	return draw.WriteSVG(w, d.Tree, d.with(options))
}

// Text writes the tree as text.
func (d *Drawing) Text(w io.Writer, options ...DrawOption) error {
	return draw.WriteText(w, d.Tree, d.with(options))
}

func (d *Drawing) with(options []DrawOption) draw.Options {
	o := draw.Options{Names: d.graph.NodeIDs}
	for _, option := range options {
		o = option(d, o)
	}
	return o
}
