package explorer

import (
	"bufio"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"

	"nodemask/aggtree/internal/labels"
	"nodemask/csr"
)

// explorer is what explorer/src is built into: 'npm ci && npm run build' there makes it anew. Its first lines are the
// licence of the parts of d3 that it contains.
//
//go:embed explorer.js
var bundle string

// MaxHTMLHops is the largest number of hops of an interactive drawing.
const MaxHops = 10

// offeredHops is how many hops the reader may choose if the drawing begins with no more.
const offeredHops = 5

// HTMLOptions says how an interactive drawing begins. The zero value draws by numbers, with nothing masked.
type Options struct {
	// Names are those of the nodes; one without a name is called by its number.
	Names []string
	// Colours has a number for each node, for instance its class, and Classes say what the numbers mean, as in
	// [DrawOptions]. Each number has a colour and a shape.
	Colours []int
	Classes []string
	// Mask is true for each node that is masked at first. nil: none.
	Mask []bool
	// KeepRate is the probability with which an epoch keeps a node, the paper's p, and can be changed on the page; 0:
	// 0.5.
	KeepRate float64
	// Seed fixes the epochs' draws. Epoch e, from 1, draws as nmgnn.Mask does with rand.New(rand.NewPCG(Seed, e)).
	Seed uint64
	// Title stands above the drawing; "": nothing does, and a page is called after its first tree.
	Title string
	// ID is the id of the element, for scripts and style sheets. Letters, digits, - and _ are kept, others become _.
	// "": it has none.
	ID string
}

// WriteHTML writes the interactive drawing of the aggregation trees of a graph as a piece of HTML, for a notebook's
// output or a page of one's own. It begins with T_root^hops. It needs no network and no other files, and any number of
// pieces can stand on one page. The same arguments give the same bytes.
//
// The graph stands at the left, the tree at the right. A click on a node of the graph makes it the root, with Shift
// masks it; a click in the tree folds or unfolds. Epochs are drawn one by one or played. All can be done with keys,
// too. Trees are those of [Build] with the same root, hops and mask; of a large one a part is drawn, but all of it
// counted.
//
// A graph of at most 200,000 entries and 50,000 nodes is embedded whole. Of a larger one, the piece has the nodes
// within hops+1 of the root, up to that size, and says so; where a tree needs more, it says that too. Epochs then draw
// for the nodes that it has, in ascending order.
//
// Where scripts do not run, as in a notebook that is not trusted, the reader sees an image of the first tree.
//
// For scripts on the page, the element of class nodemask-explorer has a property nodemask: the functions root, hops,
// epoch, masked (the nodes), counts, tree (all of the tree, with fields as in [Tree] but small initials; null if it has
// over 1,000,000 nodes or the page lacks some), shown (what is drawn), svg, setRoot, setHops and setEpoch. It sends the
// event nodemask:change after each change.
//
// It returns an error for a graph, root, hops or options that it cannot draw, or the writer's.
func WriteFragment(w io.Writer, g *csr.Graph, root int32, hops int, o Options) error {
	p, err := o.piece(g, root, hops)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	p.write(out)
	return out.Flush()
}

// WritePage writes what [WriteHTML] does as a whole file for a browser.
func WritePage(w io.Writer, g *csr.Graph, root int32, hops int, o Options) error {
	title := o.Title
	o.Title = "" // the page's heading says it
	p, err := o.piece(g, root, hops)
	if err != nil {
		return err
	}
	if title == "" {
		title = "Aggregation trees round node " + labels.Of(root, o.Names)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
:root{color-scheme:light dark;background:#fff;color:#1a1a1a}
body{margin:0 auto;padding:16px;max-width:1500px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif}
h1{font-size:20px;margin:0 0 12px;overflow-wrap:anywhere}
@media (max-width:600px){body{padding:8px}}
@media (prefers-color-scheme:dark){:root{background:#121212;color:#e8e8e8}}
</style>
</head>
<body>
<main>
<h1>%[1]s</h1>
`, html.EscapeString(labels.Printable(title)))
	p.write(out)
	out.WriteString("</main>\n</body>\n</html>\n")
	return out.Flush()
}

// piece is what an interactive drawing is written from.
type piece struct {
	id    string // "": none
	image []byte // an SVG, for pages without scripts
	alt   string
	data  []byte // an embedded, as JSON
}

func (o Options) piece(g *csr.Graph, root int32, hops int) (*piece, error) {
	switch {
	case hops > MaxHops:
		return nil, fmt.Errorf("aggtree: %d hops: expected at most %d", hops, MaxHops)
	case !(o.KeepRate >= 0 && o.KeepRate <= 1):
		return nil, fmt.Errorf("aggtree: HTMLOptions.KeepRate is %v: expected a probability, up to 1, or 0 for 0.5", o.KeepRate)
	case o.KeepRate == 0:
		o.KeepRate = 0.5
	}
	tree, err := firstTree(g, root, hops, o.Mask) // which also checks the arguments
	if err != nil {
		return nil, fmt.Errorf("aggtree: %w", err)
	}
	p := &piece{alt: altText(tree, o.Names)}
	if o.ID != "" {
		p.id = labels.ID(o.ID)
	}
	if p.image, err = o.image(g, tree); err != nil {
		return nil, fmt.Errorf("aggtree: %w", err)
	}
	// Marshal escapes <, > and &, so that no name can end the element.
	if p.data, err = json.Marshal(o.embed(g, root, hops, newExcerpt(g, root, hops, mostEmbeddedNodes, mostEmbeddedEntries))); err != nil {
		return nil, fmt.Errorf("aggtree: %w", err)
	}
	return p, nil
}

// write writes the piece; the writer keeps its first error.
func (p *piece) write(w *bufio.Writer) {
	id := ""
	if p.id != "" {
		id = fmt.Sprintf(" id=\"%s\"", p.id)
	}
	fmt.Fprintf(w, "<div class=\"nodemask-explorer\"%s>\n", id)
	fmt.Fprintf(w, "<img src=\"data:image/svg+xml;base64,%s\" alt=\"%s\" style=\"max-width:100%%;height:auto;background:#fff\">\n", base64.StdEncoding.EncodeToString(p.image), html.EscapeString(p.alt))
	fmt.Fprintf(w, "<script type=\"application/json\">%s</script>\n<script>\n%s</script>\n</div>\n", p.data, bundle)
}
