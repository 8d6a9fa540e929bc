package nb

import (
	"fmt"
	"html"
	"strings"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/datasets"
	"nodemask/plots"
)

const shownText = 2000

// Show shows graphs, splits, trees, tables, charts and models as views, other values as text. A cell's last line, if
// an expression, is shown too. An error ends the cell.
func Show(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case nil:
		case error:
			Must(v)
		case *datasets.Graph:
			facts(v, graphFacts(v))
		case *aggtree.Tree:
			drawTree(v, draw.Options{})
		case plots.Table:
			Table(v)
		case plots.Chart:
			Chart(v)
		case interface{ Show() }:
			v.Show()
		case interface{ Facts() [][2]string }:
			facts(v, v.Facts())
		default:
			text := fmt.Sprint(v)
			if len(text) > shownText {
				text = strings.ToValidUTF8(text[:shownText], "") + fmt.Sprintf(" … (%d bytes more)", len(text)-shownText)
			}
			preformatted(text)
		}
	}
}

func preformatted(text string) {
	showHTML(`<pre style="white-space:pre-wrap">`+html.EscapeString(text)+"</pre>", text)
}

func graphFacts(g *datasets.Graph) [][2]string {
	d := datasets.Describe(g)
	list := d.Facts()
	classes, _ := largest(d)
	var sizes []string
	for _, c := range classes {
		sizes = append(sizes, fmt.Sprintf("%s %d", c.Name, c.Nodes))
	}
	if len(sizes) > 0 {
		list = append(list, [2]string{"largest classes", strings.Join(sizes[:min(len(sizes), 7)], ", ")})
	}
	return list
}

func facts(v any, list [][2]string) {
	t := plots.Table{ID: "facts", Title: fmt.Sprint(v), Header: []string{"", ""}, TextColumns: 2}
	for _, fact := range list {
		t.Rows = append(t.Rows, plots.Fields(fact[0], fact[1]))
	}
	Table(t)
}
