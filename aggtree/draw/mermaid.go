package draw

import (
	"bufio"
	"fmt"
	"strings"

	"nodemask/aggtree"
	"nodemask/aggtree/internal/labels"
)

// writeMermaid writes a flowchart. A dotted subgraph shows what a cached representation captured.
func writeMermaid(w *bufio.Writer, t *aggtree.Tree, o Options) {
	f, looks := o.fold(t), newLooks(t, o)
	direction := "TD"
	if o.Direction == Across {
		direction = "LR"
	}
	fmt.Fprintf(w, "flowchart %s\n", direction)
	fmt.Fprintf(w, "  accTitle: %s\n", strings.Map(func(r rune) rune {
		if strings.ContainsRune("{};#%<>&", r) {
			return ' '
		}
		return r
	}, labels.Printable(o.title(t))))
	for i := range f.Tree.Base {
		open, closed := "(", ")"
		if f.Tree.Base[i] < 0 {
			open, closed = "[", "]"
		}
		fmt.Fprintf(w, "  n%d%s%s%s\n", i, open, mermaidText(f.text(int32(i), o.Names)), closed)
	}
	for i, parent := range f.Tree.Parent {
		switch {
		case parent < 0:
		case f.Ghost[i]:
			fmt.Fprintf(w, "  n%d -.-> n%d\n", parent, i)
		default:
			fmt.Fprintf(w, "  n%d --> n%d\n", parent, i)
		}
	}
	first, end := f.Tree.Children(0)
	for u := first; u < end; u++ {
		if !f.isCached(u) || t.Hops < 2 {
			continue
		}
		fmt.Fprintf(w, "  subgraph cached%d[\" \"]\n", u)
		for _, i := range f.members(u, t.Hops-1) {
			fmt.Fprintf(w, "    n%d\n", i)
		}
		fmt.Fprintf(w, "  end\n  style cached%d fill:none,stroke-dasharray:2 3\n", u)
	}
	for i, base := range f.Tree.Base {
		if f.Ghost[i] {
			fmt.Fprintf(w, "  style n%d fill:none,stroke-dasharray:4 3\n", i)
			continue
		}
		if base < 0 {
			continue
		}
		var parts []string
		l := looks.of(base)
		if l.fill >= 0 {
			parts = append(parts, "fill:"+palette[l.fill%len(palette)].Light+"40")
		}
		if l.ring >= 0 {
			parts = append(parts, "stroke:"+palette[l.ring%len(palette)].Light, "stroke-width:2px")
		}
		if l.root {
			parts = append(parts, "stroke-width:4px")
		}
		if len(parts) > 0 {
			fmt.Fprintf(w, "  style n%d %s\n", i, strings.Join(parts, ","))
		}
	}
}

// mermaidText returns a text as a string of the Mermaid language, which browsers show as HTML.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range labels.Printable(s) {
		if r == '"' || r == '#' || r == '<' || r == '>' || r == '&' || r == '`' || r == '\\' || r == ';' || r == '*' || r == '_' || r == '$' || r == '[' || r == ']' {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
