package aggtree

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"

	"nodemask/csr"
)

// explorer is what explorer/src is built into: 'npm ci && npm run build' there makes it anew. Its first lines are the
// licence of the parts of d3 that it contains.
//
//go:embed explorer/explorer.js
var explorer string

// MaxHTMLHops is the largest number of hops of an interactive drawing.
const MaxHTMLHops = 10

// offeredHops is how many hops the reader may choose if the drawing begins with no more.
const offeredHops = 5

// HTMLOptions says how an interactive drawing begins. The zero value draws by numbers, with nothing masked.
type HTMLOptions struct {
	// Names are those of the nodes; one without a name is called by its number.
	Names []string
	// Colours has a number for each node, for instance its class, and Classes say what the numbers mean, as in
	// [DrawOptions]. Each number has a colour and a shape.
	Colours []int
	Classes []string
	// Mask is true for each node that is masked at first. nil: none.
	Mask []bool
	// KeepRate is the probability with which an epoch keeps a node, the paper's p, and can be changed on the page; 0: 0.5.
	KeepRate float64
	// Seed fixes the epochs' draws. Epoch e, from 1, draws as nmgnn.Mask does with rand.New(rand.NewPCG(Seed, e)).
	Seed uint64
	// Title stands above the drawing; "": nothing does, and a page is called after its first tree.
	Title string
	// ID is the id of the element, for scripts and style sheets. Letters, digits, - and _ are kept, others become _. "":
	// it has none.
	ID string
}

// WriteHTML writes the interactive drawing of the aggregation trees of a graph, which begins with T_root^hops, as a piece
// of HTML for a notebook's output or a page of one's own. It needs no network and nothing but itself, and any number can
// stand on one page. The same arguments give the same bytes.
//
// The graph stands at the left, the tree at the right. A click on a node of the graph makes it the root, with Shift masks
// it; a click in the tree folds or unfolds. Epochs are drawn one by one or played. All can be done with keys, too. Trees
// are those of [Build] with the same root, hops and mask; of a large one a part is drawn, but all of it counted.
//
// A graph of at most 200,000 entries and 50,000 nodes is embedded whole. Of a larger one, the piece has the nodes within
// hops+1 of the root, up to that size, and says so; where a tree needs more, it says that too. Epochs then draw for the
// nodes that it has, in ascending order.
//
// Where scripts are not run, as in a notebook that is not trusted, an image of the first tree is seen instead.
//
// For scripts on the page, the element of class nodemask-explorer has a property nodemask: the functions root, hops,
// epoch, masked (the nodes), counts, tree (all of the tree, with fields as in [Tree] but small initials; null if it has
// over 1,000,000 nodes or the page lacks some), shown (what is drawn), svg, setRoot, setHops and setEpoch. It sends the
// event nodemask:change after each change.
//
// Errors are those of the writer, or say what is wrong with the graph, root, hops or options.
func WriteHTML(w io.Writer, g *csr.Graph, root int32, hops int, o HTMLOptions) error {
	data, err := o.data(g, root, hops)
	if err != nil {
		return err
	}
	return writeFragment(w, g, data, o)
}

// WritePage is [WriteHTML] as a whole file for a browser.
func WritePage(w io.Writer, g *csr.Graph, root int32, hops int, o HTMLOptions) error {
	data, err := o.data(g, root, hops)
	if err != nil {
		return err
	}
	title := data.Title
	if title == "" {
		title = fmt.Sprintf("Aggregation trees round node %s", printable(nameOf(root, o.Names)))
	}
	data.Title = "" // the page's heading says it
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
`, html.EscapeString(title))
	if err := writeFragment(out, g, data, o); err != nil {
		return err
	}
	out.WriteString("</main>\n</body>\n</html>\n")
	return out.Flush()
}

// embedded is what the script reads; explorer/src/state.js is the other side.
type embedded struct {
	Graph    embeddedGraph `json:"graph"`
	AllNodes int           `json:"allNodes"`
	Complete int           `json:"complete"` // nodes whose neighbours are all there
	Root     int32         `json:"root"`
	Hops     int           `json:"hops"`
	MostHops int           `json:"mostHops"`
	KeepRate float64       `json:"keepRate"`
	Seed     string        `json:"seed"` // JavaScript's numbers end at 53 bits
	Names    []string      `json:"names,omitempty"`
	Colours  []int         `json:"colours,omitempty"`
	Classes  []string      `json:"classes,omitempty"`
	Mask     []int32       `json:"mask,omitempty"`
	Title    string        `json:"title,omitempty"`
}

func (o HTMLOptions) data(g *csr.Graph, root int32, hops int) (*embedded, error) {
	if _, err := walksFrom(g, root, hops, o.Mask); err != nil {
		return nil, err
	}
	switch {
	case hops > MaxHTMLHops:
		return nil, fmt.Errorf("aggtree: %d hops: expected at most %d for an interactive drawing", hops, MaxHTMLHops)
	case !(o.KeepRate >= 0 && o.KeepRate <= 1):
		return nil, fmt.Errorf("aggtree: HTMLOptions.KeepRate is %v: expected a probability, up to 1, or 0 for 0.5", o.KeepRate)
	case o.KeepRate == 0:
		o.KeepRate = 0.5
	}
	return o.embed(g, root, hops, newExcerpt(g, root, hops, mostEmbeddedNodes, mostEmbeddedEntries)), nil
}

func (o HTMLOptions) embed(g *csr.Graph, root int32, hops int, part excerpt) *embedded {
	d := &embedded{
		Graph: part.encode(g), AllNodes: g.NumNodes(), Complete: part.complete(), Root: part.place(root), Hops: hops, MostHops: max(offeredHops, hops),
		KeepRate: o.KeepRate, Seed: fmt.Sprint(o.Seed), Title: printable(o.Title),
	}
	for v := range part.nodes() {
		if int(v) < len(o.Names) && o.Names[v] != "" {
			d.Names = make([]string, part.size)
			break
		}
	}
	if o.Colours != nil {
		d.Colours = make([]int, part.size)
		for _, class := range o.Classes {
			d.Classes = append(d.Classes, printable(class))
		}
	}
	i := int32(0)
	for v := range part.nodes() {
		if d.Names != nil && int(v) < len(o.Names) {
			d.Names[i] = printable(o.Names[v])
		}
		if d.Colours != nil {
			if d.Colours[i] = -1; int(v) < len(o.Colours) {
				d.Colours[i] = max(o.Colours[v], -1)
			}
		}
		if o.Mask != nil && o.Mask[v] {
			d.Mask = append(d.Mask, i)
		}
		i++
	}
	return d
}

func writeFragment(w io.Writer, g *csr.Graph, d *embedded, o HTMLOptions) error {
	image, alt, err := fallback(g, d, o)
	if err != nil {
		return err
	}
	// Marshal escapes <, > and &, so that no name can end the element.
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	id := ""
	if o.ID != "" {
		id = fmt.Sprintf(" id=\"%s\"", identifier(o.ID))
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "<div class=\"nodemask-explorer\"%s>\n", id)
	fmt.Fprintf(out, "<img src=\"data:image/svg+xml;base64,%s\" alt=\"%s\" style=\"max-width:100%%;height:auto;background:#fff\">\n", base64.StdEncoding.EncodeToString(image), html.EscapeString(alt))
	fmt.Fprintf(out, "<script type=\"application/json\">%s</script>\n<script>\n%s</script>\n</div>\n", data, explorer)
	return out.Flush()
}

// fallbackLimit is the largest tree that is built for the image: more than it can show.
const fallbackLimit = 100_000

// fallback is the image for pages without scripts: the first tree, or one of fewer hops if it is too large. The root
// alone always fits.
func fallback(g *csr.Graph, d *embedded, o HTMLOptions) (image []byte, alt string, err error) {
	root, tree := d.root(), (*Tree)(nil)
	for hops := d.Hops; tree == nil; hops-- {
		tree, err = Build(context.Background(), g, root, hops, Options{Mask: o.Mask, Limit: fallbackLimit})
		var large *TooLargeError
		if err != nil && !errors.As(err, &large) {
			return nil, "", err
		}
	}
	draw := DrawOptions{Names: o.Names, Colours: o.Colours, Classes: o.Classes, Graph: g, Mask: o.Mask, Ghosts: o.Mask != nil, BaseGraph: true}
	var b bytes.Buffer
	if err := Write(&b, tree, FormatSVG, draw); err != nil {
		return nil, "", err
	}
	alt = fmt.Sprintf("%s: %d nodes", draw.title(tree), tree.NumNodes())
	for depth := range tree.Hops + 1 {
		first, end := tree.AtDepth(depth)
		alt += fmt.Sprintf(", %d at depth %d", end-first, depth)
	}
	return b.Bytes(), strings.TrimSpace(printable(alt)), nil
}
