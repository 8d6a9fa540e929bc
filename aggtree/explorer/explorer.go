// Package explorer writes interactive drawings of a graph's aggregation trees, as an HTML file ([WritePage]) or a part
// of a page ([WriteFragment]).
package explorer

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/csr"
	"nodemask/internal/svg"
)

// bundle is the script that 'npm ci && npm run build' makes from src. The script contains parts of d3 and begins with
// their licence.
//
//go:embed explorer.js
var bundle string

// MaxHops is the largest number of hops of an interactive drawing.
const MaxHops = 10

const offeredHops = 5

// Options are an interactive drawing's initial state.
type Options struct {
	// Names[v] is node v's name; if the name is "", the index v is drawn.
	Names []string
	// Labels[v] is node v's class, an index into the names in Classes, and sets the node's colour; negative means no
	// colour.
	Labels  []int32
	Classes []string
	Mask    []bool
	// Train lists the nodes that the random masks may mask, ascending; nil means all nodes.
	Train []int32
	// KeepRate is the probability that an epoch keeps a node, the paper's p; 0 means 1.
	KeepRate float64
	// Seed is the seed of the random masks. Epoch e (counted from 1) draws its mask from rand.New(rand.NewPCG(Seed,
	// e)), as hyper.KeepRate does.
	Seed uint64
	// Title is written above the drawing.
	Title string
}

// WriteFragment writes an interactive drawing of a graph's aggregation trees, as HTML for a notebook or page. The first
// tree is that of root with depth hops. A drawing needs no network or other files. Where scripts do not run, the
// drawing is an image of the first tree.
//
// A graph of more than 200,000 adjacency entries or 50,000 nodes is cut to nodes within hops+1 of the root.
//
// For scripts, the element of class nodemask-explorer has a property nodemask with these functions. Each change sends
// the event nodemask:change.
//
//   - root, hops, epoch, masked (the nodes), counts, shown (the drawn nodes) and svg return the present state;
//   - tree returns fields of [aggtree.Tree], such as firstChild, or null if the tree has more than 1,000,000 nodes or
//     needs nodes that the page does not have;
//   - setRoot, setHops and setEpoch change the state.
func WriteFragment(w io.Writer, g *csr.Graph, root int32, hops int, o Options) error {
	text, err := o.fragment(g, root, hops)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// Data returns the JSON input of a drawing's script, for a page that already has the script.
func Data(g *csr.Graph, root int32, hops int, o Options) ([]byte, error) {
	switch {
	case hops > MaxHops:
		return nil, fmt.Errorf("%d hops: expected at most %d", hops, MaxHops)
	case !(o.KeepRate >= 0 && o.KeepRate <= 1):
		return nil, fmt.Errorf("Options.KeepRate is %v: expected a probability above 0 and up to 1, or 0 for 1",
			o.KeepRate)
	}
	if _, err := aggtree.Count(context.Background(), g, root, hops, o.Mask); err != nil { // checks the arguments
		return nil, err
	}
	// Marshal escapes <, > and &, so no name can end the <script> element.
	return json.Marshal(o.embed(g, root, hops, newExcerpt(g, root, hops, mostEmbeddedNodes, mostEmbeddedEntries)))
}

// WritePage writes [WriteFragment]'s drawing as an HTML file.
func WritePage(w io.Writer, g *csr.Graph, root int32, hops int, o Options) error {
	title := o.Title
	o.Title = ""
	text, err := o.fragment(g, root, hops)
	if err != nil {
		return err
	}
	title = cmp.Or(title, "Aggregation trees round node "+svg.Name(root, o.Names))
	_, err = fmt.Fprintf(w, `<!DOCTYPE html>
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
%[3]s</main>
</body>
</html>
`, html.EscapeString(svg.Plain(title)), svg.FontFamily, text)
	return err
}

func (o Options) fragment(g *csr.Graph, root int32, hops int) (string, error) {
	data, err := Data(g, root, hops, o)
	if err != nil {
		return "", err
	}
	tree, err := firstTree(g, root, hops, o.Mask)
	if err != nil {
		return "", err
	}
	var image bytes.Buffer // shown where scripts do not run
	err = draw.WriteSVG(&image, tree, draw.Options{Names: o.Names, Labels: o.Labels, Classes: o.Classes})
	alt := svg.Plain(fmt.Sprintf("The %d-aggregation tree of node %s: %d nodes", tree.Hops,
		svg.Name(tree.Base[0], o.Names), tree.NumNodes()))
	return fmt.Sprintf("<div class=\"nodemask-explorer\">\n<img src=\"data:image/svg+xml;base64,%s\" alt=\"%s\" "+
		"style=\"max-width:100%%;height:auto;background:#fff\">\n<script type=\"application/json\">%s</script>\n"+
		"<script>\n%s</script>\n</div>\n", base64.StdEncoding.EncodeToString(image.Bytes()),
		html.EscapeString(alt), data, bundle), err
}

const fallbackLimit = 100_000

func firstTree(g *csr.Graph, root int32, hops int, mask []bool) (*aggtree.Tree, error) {
	for {
		tree, err := aggtree.Build(context.Background(), g, root, hops, aggtree.Options{Mask: mask, Limit: fallbackLimit})
		var large *aggtree.TooLargeError
		if !errors.As(err, &large) {
			return tree, err
		}
		hops--
	}
}
