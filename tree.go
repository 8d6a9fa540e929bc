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

// Tree returns a node's aggregation tree for a model with as many layers as hops: all that the model reads to compute
// the node's output. Masked nodes are never children, but may be the root. A tree above a million nodes is an
// [*aggtree.TooLargeError].
func Tree(g *datasets.Graph, node int32, hops int, masked ...int32) (*Drawing, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	mask := make([]bool, g.NumNodes())
	for _, v := range masked {
		if v < 0 || int(v) >= len(mask) {
			return nil, fmt.Errorf("node %d cannot be masked: the graph has nodes 0 to %d", v, len(mask)-1)
		}
		mask[v] = true
	}
	tree, err := aggtree.Build(context.Background(), g.Edges, node, hops, aggtree.Options{Mask: mask})
	return &Drawing{tree, g}, err
}

// SVG draws the tree next to the graph around its root. Colours show classes; masked nodes are dashed.
func (d *Drawing) SVG(w io.Writer) error {
	return draw.WriteSVG(w, d.Tree, draw.Options{Names: d.graph.NodeIDs, Labels: d.graph.Labels, Classes: d.graph.Classes})
}

// Text writes the tree as text.
func (d *Drawing) Text(w io.Writer) error {
	return draw.WriteText(w, d.Tree, draw.Options{Names: d.graph.NodeIDs})
}
