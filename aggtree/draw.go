package aggtree

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"nodemask/csr"
)

// Format is a way to write a tree down.
type Format string

// The formats that [Write] knows.
const (
	FormatText    Format = "text"    // lines for a terminal
	FormatSVG     Format = "svg"     // a drawing for a page
	FormatDOT     Format = "dot"     // for Graphviz
	FormatMermaid Format = "mermaid" // for Markdown
	FormatJSON    Format = "json"    // for programs
)

// Formats lists the formats that [Write] knows.
func Formats() []Format {
	return []Format{FormatText, FormatSVG, FormatDOT, FormatMermaid, FormatJSON}
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
type DrawOptions struct {
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

func (o DrawOptions) fold(t *Tree) *Folded {
	fold := FoldOptions{Children: o.Children, Nodes: o.Nodes}
	if o.Ghosts {
		fold.Graph, fold.Mask = o.Graph, o.Mask
	}
	return Fold(t, fold)
}

func (o DrawOptions) title(t *Tree) string {
	if o.Title != "" {
		return o.Title
	}
	from := ""
	if t.Group != nil {
		from = ", from a cache"
	}
	return fmt.Sprintf("The %d-aggregation tree of node %s%s", t.Hops, nameOf(t.Base[0], o.Names), from)
}

// Write writes a tree in a format. The same tree and options give the same bytes. Errors are those of the writer, or say
// that the format or the tree cannot be.
func Write(w io.Writer, t *Tree, format Format, o DrawOptions) error {
	if t == nil || t.NumNodes() == 0 {
		return fmt.Errorf("aggtree: an empty tree cannot be drawn: every tree has a root, see Build")
	}
	write := map[Format]func(*bufio.Writer, *Tree, DrawOptions) error{
		FormatText: writeText, FormatSVG: writeSVG, FormatDOT: writeDOT, FormatMermaid: writeMermaid, FormatJSON: writeJSON,
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

// remark is what sets a node apart, in words; "": nothing.
func (f *Folded) remark(i int32) string {
	switch {
	case f.Ghost[i]:
		return "masked"
	case i == 0 && f.Tree.RootMasked:
		return "masked, but the root"
	case f.isCached(i):
		return "cached"
	}
	return ""
}

// isCached says whether i is the top of a cached subtree.
func (f *Folded) isCached(i int32) bool {
	return f.Tree.Group != nil && f.Tree.Parent[i] == 0 && f.Node[i] >= 0
}

// printable is a label on one line, without anything that a terminal would obey.
func printable(s string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func writeText(w *bufio.Writer, t *Tree, o DrawOptions) error {
	f := o.fold(t)
	tree := f.Tree
	type line struct {
		node   int32
		prefix []byte // of its children
	}
	stack := []line{{node: 0}}
	for len(stack) > 0 {
		l := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		label := printable(f.Label(l.node, o.Names))
		if remark := f.remark(l.node); remark != "" {
			label += " (" + remark + ")"
		}
		prefix, last := l.prefix, true
		if l.node > 0 {
			last = tree.FirstChild[tree.Parent[l.node]+1] == l.node+1
			arm := "├─ "
			switch {
			case f.Ghost[l.node] && last:
				arm = "└╌ "
			case f.Ghost[l.node]:
				arm = "├╌ "
			case last:
				arm = "└─ "
			}
			w.Write(prefix)
			w.WriteString(arm)
			if last {
				prefix = append(slices.Clip(prefix), "   "...)
			} else {
				prefix = append(slices.Clip(prefix), "│  "...)
			}
		}
		w.WriteString(label)
		w.WriteByte('\n')
		first, end := tree.Children(l.node)
		for i := end - 1; i >= first; i-- {
			stack = append(stack, line{i, prefix})
		}
	}
	return nil
}

type jsonNode struct {
	ID     int32  `json:"id"`
	Base   int32  `json:"base"`
	Name   string `json:"name,omitempty"`
	Parent int32  `json:"parent"`
	Depth  int    `json:"depth"`
	Masked bool   `json:"masked"`
	Cached bool   `json:"cached"`
	Hidden int32  `json:"hidden,omitempty"`
}

// writeJSON writes a node a line, so that a large tree is not in memory twice.
func writeJSON(w *bufio.Writer, t *Tree, o DrawOptions) error {
	fmt.Fprintf(w, "{\"root\":%d,\"hops\":%d,\"nodes\":[", t.Base[0], t.Hops)
	for depth := range t.Hops + 1 {
		first, end := t.AtDepth(depth)
		for i := first; i < end; i++ {
			n := jsonNode{ID: i, Base: t.Base[i], Parent: t.Parent[i], Depth: depth, Masked: i == 0 && t.RootMasked, Cached: t.Group != nil && i > 0}
			if int(n.Base) < len(o.Names) {
				n.Name = o.Names[n.Base]
			}
			if t.Hidden != nil {
				n.Hidden = t.Hidden[i]
			}
			line, err := json.Marshal(n)
			if err != nil {
				return err
			}
			if i > 0 {
				w.WriteByte(',')
			}
			w.WriteByte('\n')
			w.Write(line)
		}
	}
	w.WriteString("\n]}\n")
	return nil
}

// dotText is a string of the DOT language.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(s)) + `"`
}

func writeDOT(w *bufio.Writer, t *Tree, o DrawOptions) error {
	f, looks := o.fold(t), newLooks(t, o)
	rank := "TB"
	if o.Direction == Across {
		rank = "LR"
	}
	fmt.Fprintf(w, "digraph %s {\n  graph [rankdir=%s, ordering=out, label=%s];\n", dotText(o.title(t)), rank, dotText(o.title(t)))
	w.WriteString("  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontcolor=black, height=0.3, width=0.4];\n  edge [arrowsize=0.6];\n")
	for i, base := range f.Tree.Base {
		i := int32(i)
		fmt.Fprintf(w, "  n%d [label=%s", i, dotText(f.Label(i, o.Names)))
		switch {
		case f.Ghost[i]:
			w.WriteString(`, style="rounded,dashed", color=gray50`)
		case base < 0:
			w.WriteString(`, style="", color=gray50`)
		default:
			l := looks.of(base)
			if l.fill >= 0 {
				fmt.Fprintf(w, `, fillcolor="%s40"`, palette[l.fill%len(palette)].light)
			}
			if l.ring >= 0 {
				fmt.Fprintf(w, `, color="%s"`, palette[l.ring%len(palette)].light)
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
	return nil
}

// members are u and its descendants, at most depth levels further down.
func (f *Folded) members(u int32, depth int) []int32 {
	var all []int32
	for _, level := range f.Tree.Descendants(u, depth) {
		for i := level[0]; i < level[1]; i++ {
			all = append(all, i)
		}
	}
	return all
}

// mermaidText is a string of the Mermaid language, which is shown as HTML.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range printable(s) {
		if r == '"' || r == '#' || r == '<' || r == '>' || r == '&' || r == '`' || r == '\\' || r == ';' || r == '*' || r == '_' || r == '$' || r == '[' || r == ']' {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

func writeMermaid(w *bufio.Writer, t *Tree, o DrawOptions) error {
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
	}, printable(o.title(t))))
	for i := range f.Tree.Base {
		open, closed := "(", ")"
		if f.Tree.Base[i] < 0 {
			open, closed = "[", "]"
		}
		fmt.Fprintf(w, "  n%d%s%s%s\n", i, open, mermaidText(f.Label(int32(i), o.Names)), closed)
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
			parts = append(parts, "fill:"+palette[l.fill%len(palette)].light+"40")
		}
		if l.ring >= 0 {
			parts = append(parts, "stroke:"+palette[l.ring%len(palette)].light, "stroke-width:2px")
		}
		if l.root {
			parts = append(parts, "stroke-width:4px")
		}
		if len(parts) > 0 {
			fmt.Fprintf(w, "  style n%d %s\n", i, strings.Join(parts, ","))
		}
	}
	return nil
}

// palette has the colours of Okabe and Ito, which differ for the colour-blind too, for white and for a dark page: on
// white, some are darker than theirs, on dark blue is lighter, to stand out at 3:1.
var palette = [...]struct{ light, dark string }{
	{"#0072B2", "#4AA3DF"}, // blue
	{"#D55E00", "#E8742A"}, // vermilion
	{"#009E73", "#1DB88C"}, // bluish green
	{"#B9608F", "#CC79A7"}, // reddish purple
	{"#A87400", "#E69F00"}, // orange
	{"#2F8FBF", "#56B4E9"}, // sky blue
	{"#857C00", "#F0E442"}, // yellow
}

// ringStyles are how often the palette is gone through for rings: solid, dashed, dotted.
const ringStyles = 3

// look is how all replicas of a base are drawn. Fill and ring are -1 for none; a ring of 7 or more is dashed or dotted.
type look struct {
	fill, ring int
	root       bool
}

type looks struct {
	colours []int
	ring    map[int32]int
	root    int32
}

// newLooks gives a ring to each base of the tree that occurs more than once, the root's first, then those that occur
// most; the palette ends after 21.
func newLooks(t *Tree, o DrawOptions) looks {
	times := map[int32]int{}
	for _, base := range t.Base {
		times[base]++
	}
	var bases []int32
	for base, n := range times {
		if n > 1 && base != t.Base[0] {
			bases = append(bases, base)
		}
	}
	slices.SortFunc(bases, func(a, b int32) int {
		if times[a] != times[b] {
			return times[b] - times[a]
		}
		return int(a) - int(b)
	})
	l := looks{colours: o.Colours, ring: map[int32]int{t.Base[0]: 0}, root: t.Base[0]}
	for i, base := range bases[:min(len(bases), ringStyles*len(palette)-1)] {
		l.ring[base] = i + 1
	}
	return l
}

func (l looks) of(base int32) look {
	one := look{fill: -1, ring: -1, root: base == l.root}
	if ring, found := l.ring[base]; found {
		one.ring = ring
	}
	if int(base) < len(l.colours) && l.colours[base] >= 0 {
		one.fill = l.colours[base] % len(palette)
	} else if l.colours == nil && one.ring >= 0 {
		one.fill = one.ring % len(palette)
	}
	return one
}
