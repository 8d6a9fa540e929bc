package nb

import (
	"bytes"
	"fmt"
	"html"
	"os/exec"
	"strings"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/datasets"
	"nodemask/internal/checkout"
	"nodemask/plots"
)

const shownText = 2000

// Show draws or tabulates graphs, splits, trees, tables, charts and models, and prints other values as text. If a
// notebook cell's last line is an expression, its value is shown too. If a value is an error or cannot be shown, Show
// ends the cell.
func Show(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case nil:
		case error:
			Must(v)
		case *datasets.Graph:
			facts(v, datasets.Describe(v).Facts())
		case *aggtree.Tree:
			drawTree(v, draw.Options{})
		case plots.Table:
			Table(v)
		case plots.Chart:
			Chart(v)
		case interface{ Show() }:
			v.Show()
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
	showHTML(`<pre style="overflow-x:auto">`+html.EscapeString(text)+"</pre>", text)
}

func facts(v any, list [][2]string) {
	t := plots.Table{ID: "facts", Title: fmt.Sprint(v), Header: []string{"", ""}, TextColumns: 2}
	for _, fact := range list {
		t.Rows = append(t.Rows, plots.Fields(fact[0], fact[1]))
	}
	Table(t)
}

// Describe shows the output of 'nodemask data describe' for a graph from [Data].
func Describe(g *datasets.Graph) { preformatted(string(command("data", "describe", nameOf(g)))) }

// Source shows the source of functions, types or methods of a package, as 'go doc -src' does: Source("nmgnn", "GIN",
// "GIN.Forward").
func Source(pkg string, names ...string) {
	for _, name := range names {
		c := exec.Command("go", "doc", "-src", "./"+pkg, name)
		c.Dir = Must1(checkout.Root())
		text, err := c.Output()
		Must(err)
		_, source, _ := bytes.Cut(text, []byte("\n\n"))
		Markdown(fmt.Sprintf("Package `%s`:\n\n```go\n%s\n```\n", pkg, bytes.TrimSpace(source)))
	}
}
