package draw

import (
	"bufio"
	"fmt"
	"strings"

	"nodemask/aggtree"
	"nodemask/aggtree/internal/labels"
)

// writeDOT writes a digraph for Graphviz. Dotted clusters, one in another, show what cached representations captured.
func writeDOT(w *bufio.Writer, t *aggtree.Tree, o Options) {
	f, looks := o.fold(t), newLooks(t, o)
	rank := "TB"
	if o.Direction == Across {
		rank = "LR"
	}
	fmt.Fprintf(w, "digraph %s {\n  graph [rankdir=%s, ordering=out, label=%s];\n", dotText(o.title(t)), rank, dotText(o.title(t)))
	w.WriteString("  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontcolor=black, height=0.3, width=0.4];\n  edge [arrowsize=0.6];\n")
	for i, base := range f.Tree.Base {
		i := int32(i)
		fmt.Fprintf(w, "  n%d [label=%s", i, dotText(f.text(i, o.Names)))
		switch {
		case f.Ghost[i]:
			w.WriteString(`, style="rounded,dashed", color=gray50`)
		case base < 0:
			w.WriteString(`, style="", color=gray50`)
		default:
			l := looks.of(base)
			if l.fill >= 0 {
				fmt.Fprintf(w, `, fillcolor="%s40"`, palette[l.fill%len(palette)].Light)
			}
			if l.ring >= 0 {
				fmt.Fprintf(w, `, color="%s"`, palette[l.ring%len(palette)].Light)
			}
			if l.root {
				w.WriteString(", penwidth=3")
			} else if l.ring >= 0 {
				w.WriteString(", penwidth=2")
			}
			if remark := f.remark(i); remark != "" {
				fmt.Fprintf(w, ", tooltip=%s", dotText(remark))
			}
		}
		w.WriteString("];\n")
	}
	for i, parent := range f.Tree.Parent {
		if parent < 0 {
			continue
		}
		style := ""
		if f.Ghost[i] {
			style = " [style=dashed, color=gray50]"
		}
		fmt.Fprintf(w, "  n%d -> n%d%s;\n", parent, i, style)
	}
	first, end := f.Tree.Children(0)
	for u := first; u < end; u++ {
		if !f.isCached(u) {
			continue
		}
		inner := 0
		for depth := t.Hops - 1; depth > 0; depth-- {
			fmt.Fprintf(w, "  subgraph cluster_%d_%d { style=\"rounded,dotted\"; label=\"\";", u, depth)
			inner++
			if depth == 1 {
				for _, i := range f.members(u, depth) {
					fmt.Fprintf(w, " n%d;", i)
				}
			} else {
				for _, i := range f.members(u, depth) {
					if f.Tree.Depth(i) == depth+1 {
						fmt.Fprintf(w, " n%d;", i)
					}
				}
				w.WriteByte('\n')
			}
		}
		w.WriteString(strings.Repeat(" }", inner) + "\n")
	}
	w.WriteString("}\n")
}

// dotText returns a text as a string of the DOT language.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(labels.Printable(s)) + `"`
}
