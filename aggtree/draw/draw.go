package draw

import (
	"bufio"
	"fmt"
	"io"

	"nodemask/aggtree"
	"nodemask/aggtree/internal/labels"
	"nodemask/csr"
)

// Format is a way to write a tree down.
type Format string

// The formats that [Write] knows.
const (
	Text    Format = "text"    // lines for a terminal
	SVG     Format = "svg"     // a drawing for a page
	DOT     Format = "dot"     // for Graphviz
	Mermaid Format = "mermaid" // for Markdown
	JSON    Format = "json"    // for programs
)

// Formats lists the formats that [Write] knows.
func Formats() []Format {
	return []Format{Text, SVG, DOT, Mermaid, JSON}
}

// Direction is where a drawing's root lies.
type Direction int

// The directions of [DrawOptions].
const (
	Automatic Direction = iota // Down, unless that is too wide for a page
	Down                       // the root at the top
	Across                     // the root at the left
)

// DrawOptions says how a tree is drawn. The zero value draws the tree itself, by numbers.
type Options struct {
	// Names are those of the bases; a base without one is called by its number.
	Names []string
	// Colours has a number for each base, for instance its class; bases of one number have one fill, negative ones none.
	// nil: there are no fills. Replicas of one base always share a ring. Not used by text and JSON.
	Colours []int
	// Classes are what the numbers in Colours mean, for the legend.
	Classes []string
	// Graph is the graph that the tree was built from, and Mask the mask. They are needed for Ghosts and BaseGraph.
	Graph *csr.Graph
	Mask  []bool
	// Ghosts asks for neighbours that the mask hides to be drawn too, dashed. Not used by JSON.
	Ghosts bool
	// BaseGraph asks for the graph round the root to be drawn beside the tree (SVG only).
	BaseGraph bool
	// Children and Nodes are how many are drawn, as in [FoldOptions]. JSON has all.
	Children, Nodes int
	// Direction is where the root lies (SVG, DOT and Mermaid).
	Direction Direction
	// ID is the id of the SVG element, and begins those inside it: one for each drawing on a page. Letters, digits, - and
	// _ are kept, others become _. "": aggtree.
	ID string
	// Title is what a screen reader calls the drawing; "": "The 2-aggregation tree of node a", for instance.
	Title string
}

// Write writes a tree in a format. The same tree and options give the same bytes. Errors are those of the writer, or say
// that the format or the tree cannot be.
func Write(w io.Writer, t *aggtree.Tree, format Format, o Options) error {
	if t == nil || t.NumNodes() == 0 {
		return fmt.Errorf("aggtree: an empty tree cannot be drawn: every tree has a root, see Build")
	}
	write := map[Format]func(*bufio.Writer, *aggtree.Tree, Options) error{
		Text: writeText, SVG: writeSVG, DOT: writeDOT, Mermaid: writeMermaid, JSON: writeJSON,
	}[format]
	if write == nil {
		return fmt.Errorf("aggtree: there is no format %q: expected one of %v", format, Formats())
	}
	out := bufio.NewWriter(w)
	if err := write(out, t, o); err != nil {
		return err
	}
	return out.Flush()
}

func (o Options) fold(t *aggtree.Tree) *folded {
	fold := foldOptions{Children: o.Children, Nodes: o.Nodes}
	if o.Ghosts {
		fold.Graph, fold.Mask = o.Graph, o.Mask
	}
	return newFolded(t, fold)
}

func (o Options) title(t *aggtree.Tree) string {
	if o.Title != "" {
		return o.Title
	}
	from := ""
	if t.Group != nil {
		from = ", from a cache"
	}
	return fmt.Sprintf("The %d-aggregation tree of node %s%s", t.Hops, labels.Of(t.Base[0], o.Names), from)
}
