package nb

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/datasets"
	"nodemask/nb/internal/notebook"
)

// Tree draws the aggregation tree T_root^hops next to the graph around the root, and returns the tree. Masked nodes are
// dashed.
func Tree(g *datasets.Graph, root int32, hops int, masked ...int32) *aggtree.Tree {
	mask := maskOf(g, masked)
	t := Must1(aggtree.Build(context.Background(), g.Edges, root, hops, aggtree.Options{Mask: mask}))
	drawTree(t, drawing(g))
	return t
}

func drawTree(t *aggtree.Tree, o draw.Options) {
	var svg, text bytes.Buffer
	Must(draw.WriteSVG(&svg, t, o))
	Must(draw.WriteText(&text, t, o))
	alt := fmt.Sprintf("The %d-aggregation tree of node %d: %d tree nodes", t.Hops, t.Base[0], t.NumNodes())
	showHTML(notebook.Image(svg.Bytes(), alt), text.String())
}

// Figure draws one of the paper's figures: transductive, inductive, trees, invalid, new-node, cached or masked.
func Figure(id string) {
	svg, words, err := draw.PaperFigure(id)
	Must(err)
	SVG(svg, words)
}

func maskOf(g *datasets.Graph, masked []int32) []bool {
	if len(masked) == 0 {
		return nil
	}
	mask := make([]bool, g.Edges.NumNodes())
	for _, v := range masked {
		if v < 0 || int(v) >= len(mask) {
			Must(fmt.Errorf("node %d cannot be masked: %s has nodes 0 to %d", v, g.Name, len(mask)-1))
		}
		mask[v] = true
	}
	return mask
}

// If all node ids are numbers, the options leave the ids out, as readers would take ids for node numbers.
func drawing(g *datasets.Graph) draw.Options {
	o := draw.Options{Labels: g.Labels, Classes: g.Classes}
	if slices.ContainsFunc(g.NodeIDs, func(id string) bool { _, err := strconv.Atoi(id); return err != nil }) {
		o.Names = g.NodeIDs
	}
	return o
}
