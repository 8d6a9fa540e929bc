// Package draw draws aggregation trees: [WriteText] as lines of text, [WriteSVG] as a picture. Of a large tree they
// draw a part and say how much they leave out. [PaperFigure] draws the paper's figures 1 to 7 anew.
package draw

import (
	"fmt"

	"nodemask/aggtree"
	"nodemask/internal/svg"
)

// Options says how a tree is drawn. The zero value draws the tree alone and calls its nodes by number.
type Options struct {
	// Names has a name for each node of the graph and its replicas; a node without one goes by its number.
	Names []string
	// Colours has a number for each node of the graph, for instance its class. Nodes with the same number have the same
	// fill; a negative number means none. nil: fills show replicas, as rings always do. Text ignores it.
	Colours []int
	// Classes says for the legend what the numbers in Colours mean.
	Classes []string
	// Ghosts also draws the neighbours that the mask hides, dashed.
	Ghosts bool
	// BaseGraph draws the graph round the root beside the tree (SVG only).
	BaseGraph bool
	// Flow weighs the edge from each tree node to its parent [nodes of the tree]: its colour is the sign and its width the
	// size. Of children that do not all fit, those with the most below them are drawn. nil: all edges are alike.
	Flow []float64
	// FlowNames says for the legend what edges above 0 and below 0 do.
	FlowNames [2]string
	// ID is the id of the SVG element, and the ids inside it begin with it, so each drawing on a page needs its own.
	// Characters other than letters, digits, - and _ become -. "": aggtree.
	ID string

	// Limits of what is drawn, for tests.
	children int // of a node, including one that stands for the rest; 0: 12, and at least 2
	nodes    int // of the tree; 0: 150, and at least 2
}

// ByClass returns o with each node coloured by its label, the number of one of the classes; without labels, as it is.
func (o Options) ByClass(labels []int32, classes []string) Options {
	if len(labels) == 0 {
		return o
	}
	o.Classes, o.Colours = classes, make([]int, len(labels))
	for v, label := range labels {
		o.Colours[v] = int(label)
	}
	return o
}

// title is what a screen reader calls the drawing.
func (o Options) title(t *aggtree.Tree) string {
	from := ""
	if t.Group != nil {
		from = ", from a cache"
	}
	return fmt.Sprintf("The %d-aggregation tree of node %s%s", t.Hops, svg.Name(t.Base[0], o.Names), from)
}
