// Package explorer writes pages on which a reader plays with the aggregation trees of a graph: [WritePage] a file for a
// browser, [WriteFragment] a piece for a notebook or a page of one's own. The script in them is built from src, beside
// this package's Go files.
package explorer

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"

	"nodemask/aggtree/draw"
	"nodemask/csr"
	"nodemask/internal/svg"
)

// bundle is the script, which 'npm ci && npm run build' makes of src. It begins with the licence of the parts of d3
// that it contains.
//
//go:embed explorer.js
var bundle string

// MaxHops is the largest number of hops of an interactive drawing.
const MaxHops = 10

// offeredHops is the number of hops that the reader can choose at least.
const offeredHops = 5

// Options says how an interactive drawing begins. The zero value calls nodes by number and masks nothing.
type Options struct {
	// Names has a name for each node of the graph; one without is called by its number.
	Names []string
	// Colours has a number for each node, for instance its class. Each number has a colour and a shape, but a negative one
	// has neither. Classes says what the numbers mean.
	Colours []int
	Classes []string
	// Mask is true for each node that is masked at first. nil: none is.
	Mask []bool
	// Train are the nodes that epochs may mask, ascending: those that a model is trained on. nil: all.
	Train []int32
	// KeepRate is the probability with which an epoch keeps a node, the paper's p, before the reader changes it on the
	// page; 0: 1, so that epochs mask nothing.
	KeepRate float64
	// Seed fixes the epochs' draws. Epoch e, from 1, draws as nmgnn.Mask does with rand.New(rand.NewPCG(Seed, e)).
	Seed uint64
	// Title stands above the drawing. "": nothing does, and a page is called after its first tree.
	Title string
}

// ByClass returns o with each node coloured by its label, the number of one of the classes; without labels, as it is.
func (o Options) ByClass(labels []int32, classes []string) Options {
	drawn := draw.Options{Colours: o.Colours, Classes: o.Classes}.ByClass(labels, classes)
	o.Colours, o.Classes = drawn.Colours, drawn.Classes
	return o
}

// WriteFragment writes the interactive drawing of the aggregation trees of a graph as a piece of HTML, for a notebook's
// output or a page of one's own. It begins with T_root^hops. It needs no network and no other files, and any number of
// pieces can stand on one page. The same arguments give the same bytes.
//
// The graph stands at the left, the tree at the right. A click on a node of the graph makes it the root; with Shift, it
// masks the node. A click in the tree folds or unfolds. Epochs draw new masks, one by one or played. Keys do all of
// this, too. Trees are those of [aggtree.Build] with the same root, hops and mask. Of a large tree the page draws a
// part, but counts all of it.
//
// A graph of at most 200,000 entries and 50,000 nodes is embedded whole. Of a larger one, the piece has the nodes
// within hops+1 of the root, up to that size, and says so. Where a tree needs more, it says that too. Epochs then draw
// for the nodes that it has, in ascending order.
//
// Where scripts do not run, as in a notebook that is not trusted, the reader sees an image of the first tree.
//
// For scripts on the page, the element of class nodemask-explorer has a property nodemask: the functions root, hops,
// epoch, masked (the nodes), counts, tree (all of the tree, with the fields of [aggtree.Tree] but lower-case initials;
// null if it has over 1,000,000 nodes or the page lacks some), shown (what is drawn), svg, setRoot, setHops and
// setEpoch. It sends the event nodemask:change after each change.
//
// It returns an error for a graph, root, hops or options that it cannot draw, or the writer's error.
func WriteFragment(w io.Writer, g *csr.Graph, root int32, hops int, o Options) error {
	p, err := o.piece(g, root, hops)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	p.write(out)
	return out.Flush()
}

// Data returns what the script of a drawing reads, as JSON: for a page that has the script already and draws graphs as
// they come. It returns an error for a graph, root, hops or options that cannot be drawn.
func Data(g *csr.Graph, root int32, hops int, o Options) ([]byte, error) {
	p, err := o.piece(g, root, hops)
	if err != nil {
		return nil, err
	}
	return p.data, nil
}

// WritePage writes what [WriteFragment] does, as a whole file for a browser.
func WritePage(w io.Writer, g *csr.Graph, root int32, hops int, o Options) error {
	title := o.Title
	o.Title = "" // the page's heading says it
	p, err := o.piece(g, root, hops)
	if err != nil {
		return err
	}
	title = cmp.Or(title, "Aggregation trees round node "+svg.Name(root, o.Names))
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
:root{color-scheme:light dark;background:#fff;color:#1a1a1a}
body{margin:0 auto;padding:16px;max-width:1500px;font-family:%s}
h1{font-size:20px;margin:0 0 12px;overflow-wrap:anywhere}
@media (max-width:600px){body{padding:8px}}
@media (prefers-color-scheme:dark){:root{background:#121212;color:#e8e8e8}}
</style>
</head>
<body>
<main>
<h1>%[1]s</h1>
`, html.EscapeString(svg.Plain(title)), svg.FontFamily)
	p.write(out)
	out.WriteString("</main>\n</body>\n</html>\n")
	return out.Flush()
}

// piece is what a fragment is written from.
type piece struct {
	image []byte // an SVG, for pages without scripts
	alt   string
	data  []byte // an embedded, as JSON
}

// piece checks the arguments and makes the piece.
func (o Options) piece(g *csr.Graph, root int32, hops int) (*piece, error) {
	switch {
	case hops > MaxHops:
		return nil, fmt.Errorf("%d hops: expected at most %d", hops, MaxHops)
	case !(o.KeepRate >= 0 && o.KeepRate <= 1):
		return nil, fmt.Errorf("Options.KeepRate is %v: expected a probability above 0 and up to 1, or 0 for 1",
			o.KeepRate)
	case o.KeepRate == 0:
		o.KeepRate = 1
	}
	tree, err := firstTree(g, root, hops, o.Mask) // which also checks the arguments
	if err != nil {
		return nil, err
	}
	p := &piece{alt: altText(tree, o.Names)}
	if p.image, err = o.image(tree); err != nil {
		return nil, err
	}
	// Marshal escapes <, > and &, so that no name can end the element.
	part := newExcerpt(g, root, hops, mostEmbeddedNodes, mostEmbeddedEntries)
	if p.data, err = json.Marshal(o.embed(g, root, hops, part)); err != nil {
		return nil, err
	}
	return p, nil
}

// write writes the piece; the writer keeps its first error.
func (p *piece) write(w *bufio.Writer) {
	w.WriteString("<div class=\"nodemask-explorer\">\n")
	fmt.Fprintf(w, "<img src=\"data:image/svg+xml;base64,%s\" alt=\"%s\" "+
		"style=\"max-width:100%%;height:auto;background:#fff\">\n", base64.StdEncoding.EncodeToString(p.image),
		html.EscapeString(p.alt))
	fmt.Fprintf(w, "<script type=\"application/json\">%s</script>\n<script>\n%s</script>\n</div>\n", p.data, bundle)
}
