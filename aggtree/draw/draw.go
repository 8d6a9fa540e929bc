// Package draw draws aggregation trees as text ([WriteText]) or pictures ([WriteSVG]), large ones in part, with a note.
// [PaperFigure] draws the paper's figures 1 to 7.
package draw

import (
	"fmt"

	"nodemask/aggtree"
	"nodemask/internal/svg"
)

// Options sets how a tree is drawn. The zero value draws only the tree, with node numbers.
type Options struct {
	// Names has a name per graph node, also for replicas; "" shows the number.
	Names []string
	// Colours has a number per graph node, such as its class. Equal numbers have equal fills; negative: none. nil:
	// fills show replicas, as rings always do. Text ignores it.
	Colours []int
	// Classes names the numbers in Colours, for the legend.
	Classes []string
	// Ghosts also draws masked neighbours, dashed.
	Ghosts bool
	// BaseGraph draws the graph round the root next to the tree (SVG only).
	BaseGraph bool
	// Flow weighs each tree node's edge to its parent [tree nodes]: colour shows the sign, width the size. If not all
	// children fit, those with the largest flow are drawn. nil: all alike.
	Flow []float64
	// FlowNames describes edges above 0 and below 0, for the legend.
	FlowNames [2]string
	// ID is the SVG's id and the prefix of the ids inside, so it must be unique on a page. Characters other than
	// letters, digits, - and _ become -. "": aggtree.
	ID string

	// Drawing limits, for tests.
	children int // per node, including one that stands for the rest; 0: 12; at least 2
	nodes    int // of the tree; 0: 150; at least 2
}

// ByClass returns o with nodes coloured by their labels, which index classes; without labels, o.
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

func (o Options) title(t *aggtree.Tree) string {
	from := ""
	if t.Group != nil {
		from = ", from a cache"
	}
	return fmt.Sprintf("The %d-aggregation tree of node %s%s", t.Hops, svg.Name(t.Base[0], o.Names), from)
}
