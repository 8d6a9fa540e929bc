// Package draw draws aggregation trees: [Write] writes one as lines of text, SVG or JSON. Of a large tree it draws
// a part and says how much it leaves out. [PaperFigures] returns the paper's figures 1 to 7, drawn anew.
package draw

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"nodemask/aggtree"
	"nodemask/aggtree/internal/labels"
	"nodemask/csr"
)

// Format names a way to write a tree.
type Format string

// The formats of [Write].
const (
	Text Format = "text" // lines for a terminal
	SVG  Format = "svg"  // a drawing for a page
	JSON Format = "json" // for programs
)

// Formats returns the formats of [Write].
func Formats() []Format {
	return []Format{Text, SVG, JSON}
}

// Options says how a tree is drawn. The zero value draws the tree alone and calls its nodes by number.
type Options struct {
	// Names has a name for each node of the graph and its replicas; a node without one goes by its number.
	Names []string
	// Colours has a number for each node of the graph, for instance its class. Nodes with the same number have the same
	// fill; a negative number means none. nil: fills show replicas, as rings always do. Text and JSON ignore it.
	Colours []int
	// Classes says for the legend what the numbers in Colours mean.
	Classes []string
	// Graph and Mask are those that the tree was built from. Ghosts needs both, BaseGraph the first.
	Graph *csr.Graph
	Mask  []bool
	// Ghosts also draws the neighbours that the mask hides, dashed. JSON ignores it.
	Ghosts bool
	// BaseGraph draws the graph round the root beside the tree (SVG only).
	BaseGraph bool
	// Flow weighs the edge from each tree node to its parent [nodes of the tree]: its colour is the sign and its width the
	// size. Of children that do not all fit, those with the most below them are drawn. nil: all edges are alike. JSON
	// ignores it.
	Flow []float64
	// FlowNames says for the legend what edges above 0 and below 0 do.
	FlowNames [2]string
	// ID is the id of the SVG element, and the ids inside it begin with it, so each drawing on a page needs its own.
	// Characters other than letters, digits, - and _ become _. "": aggtree.
	ID string

	// Limits of what is drawn, but for JSON, which has all; for tests.
	children int // of a node, including one that stands for the rest; 0: 12, and at least 2
	nodes    int // of the tree; 0: 150, and at least 2
}

// ByClass returns o with each node coloured by its label, the number of one of the classes. Without a label for each
// node of Graph it returns o as it is.
func (o Options) ByClass(labels []int32, classes []string) Options {
	if o.Graph == nil || len(labels) != o.Graph.NumNodes() {
		return o
	}
	o.Classes, o.Colours = classes, make([]int, len(labels))
	for v, label := range labels {
		o.Colours[v] = int(label)
	}
	return o
}

// Write writes a tree in a format. The same tree and options give the same bytes. It returns an error for an unknown
// format or an empty tree, or the writer's error.
func Write(w io.Writer, t *aggtree.Tree, format Format, o Options) error {
	if t == nil || t.NumNodes() == 0 {
		return errors.New("the tree is empty: every tree has a root, see aggtree.Build")
	}
	out := bufio.NewWriter(w) // it keeps its first error
	switch format {
	case Text:
		writeText(out, t, o)
	case SVG:
		writeSVG(out, t, o)
	case JSON:
		if err := writeJSON(out, t, o); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown format %q: expected one of %v", format, Formats())
	}
	return out.Flush()
}

// title is what a screen reader calls the drawing.
func (o Options) title(t *aggtree.Tree) string {
	from := ""
	if t.Group != nil {
		from = ", from a cache"
	}
	return fmt.Sprintf("The %d-aggregation tree of node %s%s", t.Hops, labels.Of(t.Base[0], o.Names), from)
}
