// Package draw draws aggregation trees as text ([WriteText]) or pictures ([WriteSVG]), and the paper's figures 1 to 7.
package draw

import (
	"fmt"

	"nodemask/aggtree"
	"nodemask/internal/svg"
)

// Options configure a drawing.
type Options struct {
	// Names has a name per graph node; "" shows the number.
	Names []string
	// Colours has a number per graph node, such as its class; negative means no fill. With nil, fills mark replicas.
	Colours []int
	// Classes names the numbers in Colours.
	Classes []string
	// Ghosts draws masked neighbours too, dashed.
	Ghosts bool
	// BaseGraph draws the graph around the root too (SVG only).
	BaseGraph bool
	// Flow weighs each tree node's edge to its parent [tree nodes]: colour shows the sign, width the size. If children
	// must be left out, those with the largest flow stay.
	Flow []float64
	// FlowNames names positive and negative edges.
	FlowNames [2]string
	// ID is the SVG's id and its ids' prefix, unique on a page; "" means aggtree.
	ID string

	// Drawing limits, for tests.
	children int // per node, including the one that replaces others; 0 means 12; at least 2
	nodes    int // of the tree; 0 means 150; at least 2
}

// ByClass returns o with nodes coloured by their labels, which index classes.
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
