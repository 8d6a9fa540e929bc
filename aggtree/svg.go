package aggtree

import (
	"bufio"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Sizes in CSS pixels. Letters are taken to be as wide as those of wide fonts are.
const (
	fontSize, letterWidth = 12, 7.7
	boxHeight             = 24.0
	leastWidth            = 30.0
	longestLabel          = 14  // letters; longer ones are cut, and whole as a tooltip
	widestDown            = 900 // wider trees are drawn across
	margin                = 14.0
	headingHeight         = 24.0
	legendRow             = 20.0
	mostBoxes             = 4 // dotted ones round one cached subtree, the outermost
)

// svg is a drawing in the making: places first, then the elements.
type svg struct {
	*Folded
	o     DrawOptions
	full  *Tree
	id    string
	looks looks
	width float64 // of a node
	b     strings.Builder
}

func writeSVG(w *bufio.Writer, t *Tree, o DrawOptions) error {
	s := &svg{Folded: o.fold(t), o: o, full: t, id: identifier(o.ID), looks: newLooks(t, o), width: leastWidth}
	near := s.near()
	for i := range s.Tree.Base {
		s.widen(s.Label(int32(i), o.Names))
	}
	for _, v := range near.nodes {
		s.widen(nameOf(v, o.Names))
	}
	points, across, width, height := s.places()

	s.b.WriteString("<g class=\"tree\">\n")
	heading := fmt.Sprintf("%d-aggregation tree of %s", t.Hops, cut(nameOf(t.Base[0], o.Names)))
	left, top := margin, margin
	if len(near.nodes) > 0 {
		left = margin + max(near.width, columns(near.heading)*letterWidth) + 3*margin
	}
	s.heading(left, top, heading)
	for i := range points {
		points[i].X += left
		points[i].Y += top + headingHeight
	}
	s.boxes(points)
	s.edges(points, across)
	for i, at := range points {
		s.node(int32(i), at)
	}
	s.b.WriteString("</g>\n")
	right := left + max(width, columns(heading)*letterWidth)
	bottom := top + headingHeight + height
	if len(near.nodes) > 0 {
		s.base(near, margin, top)
		bottom = max(bottom, top+headingHeight+near.height)
	}
	bottom = s.legend(near, margin, bottom+margin, max(right, 420)) + margin
	right = max(right, 420) + margin

	s.write(w, right, bottom, o.title(t), s.description())
	return nil
}

// write writes the file once everything is drawn.
func (s *svg) write(w *bufio.Writer, width, height float64, title, description string) {
	s.open(w, width, height, title, description)
	w.WriteString(s.b.String())
	w.WriteString("</svg>\n")
}

// identifier makes of any text one that can be an element's id and stand in a style sheet.
func identifier(id string) string {
	if id == "" {
		return "aggtree"
	}
	id = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
	if c := id[0] | 0x20; c < 'a' || c > 'z' {
		id = "t" + id
	}
	return id
}

// columns is how many letters wide a text is; those of some scripts take the room of two.
func columns(s string) float64 {
	n := 0.0
	for _, r := range s {
		if n++; r >= 0x1100 {
			n++
		}
	}
	return n
}

// cut shortens a label to what fits into a node.
func cut(label string) string {
	label = printable(label)
	if columns(label) <= longestLabel {
		return label
	}
	n := 0.0
	for i, r := range label {
		if n += columns(string(r)); n > longestLabel-1 {
			return label[:i] + "…"
		}
	}
	return label
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func xmlText(s string) string { return xmlEscapes.Replace(printable(s)) }

// px is a coordinate to a tenth of a pixel.
func px(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10+0, 'f', -1, 64)
}

func (s *svg) printf(format string, arguments ...any) { fmt.Fprintf(&s.b, format, arguments...) }

func (s *svg) widen(label string) { s.width = max(s.width, columns(cut(label))*letterWidth+14) }

// places lays the tree out: centres of nodes, whether from left to right, and how much room it takes.
func (s *svg) places() (points []Point, across bool, width, height float64) {
	pad := s.pad(s.full.Hops - 1)
	level := 64 + 2*max(pad-8, 0)
	down := LayoutOptions{Sibling: s.width + 10, Cousin: s.width + 20, Level: level}
	side := LayoutOptions{Sibling: boxHeight + 6, Cousin: boxHeight + 12, Level: s.width + level, Across: true}
	if pad > 0 {
		down.Apart, side.Apart = s.width+2*pad+12, boxHeight+2*pad+10
	}
	o := down
	if s.o.Direction == Across {
		o = side
	}
	points = Layout(s.Tree, o)
	if s.o.Direction == Automatic && extent(points).X > widestDown {
		o = side
		points = Layout(s.Tree, o)
	}
	size := extent(points)
	for i := range points {
		points[i].X += s.width/2 + pad
		points[i].Y += boxHeight/2 + pad + 2
	}
	return points, o.Across, size.X + s.width + 2*pad, size.Y + boxHeight + 2*pad + 4
}

// extent is the largest coordinates.
func extent(points []Point) (size Point) {
	for _, p := range points {
		size.X, size.Y = max(size.X, p.X), max(size.Y, p.Y)
	}
	return size
}

// pad is how far the dotted box round a cached subtree of a depth is from its nodes; 0: there is none.
func (s *svg) pad(depth int) float64 {
	if s.Tree.Group == nil || depth < 1 || depth < s.full.Hops-mostBoxes {
		return 0
	}
	return 8 + 6*float64(depth-max(1, s.full.Hops-mostBoxes))
}

func (s *svg) heading(x, y float64, text string) {
	s.printf("<text x=\"%s\" y=\"%s\" font-weight=\"bold\">%s</text>\n", px(x), px(y+fontSize), xmlText(text))
}

// boxes draws what cached representations captured, as the paper does: the subtrees of each depth, from 1 up.
func (s *svg) boxes(points []Point) {
	first, end := s.Tree.Children(0)
	for u := first; u < end; u++ {
		if !s.isCached(u) {
			continue
		}
		for depth := s.full.Hops - 1; depth > 0 && s.pad(depth) > 0; depth-- {
			low, high := points[u], points[u]
			for _, i := range s.members(u, depth) {
				low = Point{min(low.X, points[i].X), min(low.Y, points[i].Y)}
				high = Point{max(high.X, points[i].X), max(high.Y, points[i].Y)}
			}
			x, y := s.width/2+s.pad(depth), boxHeight/2+s.pad(depth)
			s.printf("<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"10\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.75\" stroke-width=\"1.5\" stroke-dasharray=\"0.1 4.5\" stroke-linecap=\"round\"/>\n",
				px(low.X-x), px(low.Y-y), px(high.X-low.X+2*x), px(high.Y-low.Y+2*y))
		}
	}
}

func (s *svg) edges(points []Point, across bool) {
	var plain, dashed strings.Builder
	for i, parent := range s.Tree.Parent {
		if parent < 0 {
			continue
		}
		b := &plain
		if s.Ghost[i] {
			b = &dashed
		}
		from, to := points[parent], points[i]
		if across {
			x, y := from.X+s.width/2, to.X-s.width/2
			fmt.Fprintf(b, "M%s,%sC%s,%s %[3]s,%[5]s %[6]s,%[5]s", px(x), px(from.Y), px((x+y)/2), px(from.Y), px(to.Y), px(y))
		} else {
			fmt.Fprintf(b, "M%s,%sL%s,%s", px(from.X), px(from.Y+boxHeight/2), px(to.X), px(to.Y-boxHeight/2))
		}
	}
	s.lines(plain.String(), dashed.String(), "")
}

func (s *svg) lines(plain, dashed, attributes string) {
	for _, l := range []struct{ path, dash string }{{plain, ""}, {dashed, ` stroke-dasharray="4 3"`}} {
		if l.path != "" {
			s.printf("<path d=\"%s\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.55\"%s%s/>\n", l.path, l.dash, attributes)
		}
	}
}

func (s *svg) node(i int32, at Point) {
	base := s.Tree.Base[i]
	label := s.Label(i, s.o.Names)
	switch {
	case base < 0:
		s.more(at, label, s.Ghost[i])
	case s.Ghost[i]:
		s.pill(at, label, look{fill: -1, ring: -1}, true)
	default:
		s.pill(at, label, s.looks.of(base), i == 0 && s.Tree.RootMasked)
	}
}

// more draws what stands for nodes that are not drawn.
func (s *svg) more(at Point, label string, ghost bool) {
	dash := ""
	if ghost {
		dash = ` stroke="currentColor" stroke-opacity="0.7" stroke-dasharray="4 3"`
	}
	s.printf("<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"3\" fill=\"currentColor\" fill-opacity=\"0.1\"%s/>", px(at.X-s.width/2), px(at.Y-boxHeight/2), px(s.width), px(boxHeight), dash)
	s.label(at, label, ` font-style="italic"`)
}

func (s *svg) label(at Point, label, attributes string) {
	short, tooltip := cut(label), ""
	if short != printable(label) {
		tooltip = "<title>" + xmlText(label) + "</title>"
	}
	s.printf("<text x=\"%s\" y=\"%s\" text-anchor=\"middle\"%s>%s%s</text>\n", px(at.X), px(at.Y+0.35*fontSize), attributes, tooltip, xmlEscapes.Replace(short))
}

// pill draws a node of the graph or a replica: its fill a little inside its ring, so that neither is taken for the other.
func (s *svg) pill(at Point, label string, l look, dashed bool) {
	rect := func(inset float64, attributes string) {
		s.printf("<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"%s\" %s/>", px(at.X-s.width/2+inset), px(at.Y-boxHeight/2+inset), px(s.width-2*inset), px(boxHeight-2*inset), px(boxHeight/2-inset), attributes)
	}
	if l.fill >= 0 {
		inset := 0.0
		if s.o.Colours != nil {
			inset = 3
		}
		rect(inset, fmt.Sprintf(`class="f%d" fill="%s" fill-opacity="0.28"`, l.fill, palette[l.fill].light))
	}
	ring := `fill="none" stroke="currentColor" stroke-opacity="0.7"`
	dash := ""
	if l.ring >= 0 {
		width := 2.0
		if l.root {
			width = 3.5
		}
		k := l.ring % len(palette)
		ring = fmt.Sprintf(`class="s%d" fill="none" stroke="%s" stroke-width="%s"`, k, palette[k].light, px(width))
		dash = []string{"", "8 3", "2 3"}[l.ring/len(palette)%ringStyles]
	}
	if dashed {
		dash = "4 3"
	}
	if dash != "" {
		ring += fmt.Sprintf(` stroke-dasharray="%s"`, dash)
	}
	rect(0, ring)
	attributes := ""
	switch {
	case l.root:
		attributes = ` font-weight="bold"`
	case dashed:
		attributes = ` fill-opacity="0.75"`
	}
	s.label(at, label, attributes)
}

// base draws the graph round the root, with its left top corner at x, y.
func (s *svg) base(n neighbourhood, x, y float64) {
	s.b.WriteString("<g class=\"graph\">\n")
	s.heading(x, y, n.heading)
	y += headingHeight
	place := make(map[int32]Point, len(n.nodes))
	s.printf("<mask id=\"%s-nodes\" maskUnits=\"userSpaceOnUse\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><rect x=\"%[2]s\" y=\"%[3]s\" width=\"%[4]s\" height=\"%[5]s\" fill=\"#fff\"/>",
		s.id, px(x), px(y), px(n.width), px(n.height))
	for i, v := range n.nodes {
		place[v] = Point{x + n.points[i].X, y + n.points[i].Y}
		s.printf("<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"%s\"/>", px(place[v].X-s.width/2), px(place[v].Y-boxHeight/2), px(s.width), px(boxHeight), px(boxHeight/2))
	}
	s.b.WriteString("</mask>\n")
	var plain, dashed strings.Builder
	for _, e := range n.edges {
		b := &plain
		if s.masked(e[0]) || s.masked(e[1]) {
			b = &dashed
		}
		fmt.Fprintf(b, "M%s,%sL%s,%s", px(place[e[0]].X), px(place[e[0]].Y), px(place[e[1]].X), px(place[e[1]].Y))
	}
	s.lines(plain.String(), dashed.String(), fmt.Sprintf(` mask="url(#%s-nodes)"`, s.id))
	for _, v := range n.nodes {
		l := s.looks.of(v)
		if s.masked(v) && !l.root {
			l = look{fill: -1, ring: -1}
		}
		s.pill(place[v], nameOf(v, s.o.Names), l, s.masked(v))
	}
	s.b.WriteString("</g>\n")
}

func (s *svg) masked(v int32) bool { return int(v) < len(s.o.Mask) && s.o.Mask[v] }

// legend explains what there is, in rows, and returns how far down it goes.
func (s *svg) legend(n neighbourhood, x, y, right float64) float64 {
	var samples []struct {
		text string
		draw func(x, y float64)
	}
	add := func(text string, draw func(x, y float64)) {
		samples = append(samples, struct {
			text string
			draw func(x, y float64)
		}{text, draw})
	}
	small := func(attributes string) func(x, y float64) {
		return func(x, y float64) {
			s.printf("<rect x=\"%s\" y=\"%s\" width=\"20\" height=\"12\" %s/>", px(x), px(y-6), attributes)
		}
	}
	drawn := map[int32]int{}
	more, ghost, cached := false, s.Tree.RootMasked, false
	for i, base := range s.Tree.Base {
		if base < 0 {
			more = true
		} else {
			drawn[base]++
		}
		ghost = ghost || s.Ghost[i]
		cached = cached || s.isCached(int32(i)) && s.full.Hops > 1
	}
	inGraph := map[int32]bool{}
	for _, v := range n.nodes {
		inGraph[v] = true
		ghost = ghost || s.masked(v)
	}
	for class, name := range s.o.Classes {
		used := false
		for base, of := range s.o.Colours {
			if of == class && (drawn[int32(base)] > 0 || inGraph[int32(base)]) {
				used = true
				break
			}
		}
		if used {
			k := class % len(palette)
			add(name, small(fmt.Sprintf(`rx="6" class="f%d" fill="%s" fill-opacity="0.28"`, k, palette[k].light)))
		}
	}
	add("root", small(fmt.Sprintf(`rx="6" class="s0" fill="none" stroke="%s" stroke-width="3.5"`, palette[0].light)))
	if len(s.looks.ring) > 1 {
		add("same ring: replicas of one node", small(fmt.Sprintf(`rx="6" class="s1" fill="none" stroke="%s" stroke-width="2"`, palette[1].light)))
	}
	if ghost {
		add("masked", small(`rx="6" fill="none" stroke="currentColor" stroke-opacity="0.7" stroke-dasharray="4 3"`))
	}
	if cached {
		add("captured by a cached representation", small(`rx="4" fill="none" stroke="currentColor" stroke-opacity="0.75" stroke-width="1.5" stroke-dasharray="0.1 4.5" stroke-linecap="round"`))
	}
	if more {
		add("nodes not drawn", small(`rx="3" fill="currentColor" fill-opacity="0.1"`))
	}
	if n.more > 0 {
		add(fmt.Sprintf("%d nodes of the graph not drawn", n.more), func(float64, float64) {})
	}
	s.b.WriteString("<g class=\"legend\">\n")
	at := Point{x, y + legendRow/2}
	for _, sample := range samples {
		text := printable(sample.text)
		room := 28 + columns(text)*7 + 14
		if at.X > x && at.X+room > right {
			at = Point{x, at.Y + legendRow}
		}
		sample.draw(at.X, at.Y)
		s.printf("<text x=\"%s\" y=\"%s\" font-size=\"11\">%s</text>\n", px(at.X+28), px(at.Y+4), xmlText(text))
		at.X += room
	}
	s.b.WriteString("</g>\n")
	return at.Y + legendRow/2
}

// open writes the beginning of the file: it takes its colour from the page, or if it is the page, from the reader.
func (s *svg) open(w *bufio.Writer, width, height float64, title, description string) {
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"%s\" role=\"img\" aria-labelledby=\"%[1]s-title %[1]s-desc\" width=\"%s\" height=\"%s\" viewBox=\"0 0 %[2]s %[3]s\" style=\"max-width:100%%;height:auto\" fill=\"currentColor\" font-size=\"%d\" font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif\">\n",
		s.id, px(math.Ceil(width)), px(math.Ceil(height)), fontSize)
	fmt.Fprintf(w, "<title id=\"%s-title\">%s</title>\n<desc id=\"%[1]s-desc\">%[3]s</desc>\n", s.id, xmlText(title), xmlText(description))
	fmt.Fprintf(w, "<style>\n#%s:root{color:#1a1a1a;color-scheme:light dark}\n@media (prefers-color-scheme:dark){\n#%[1]s:root{color:#e6e6e6;background:#121212}\n", s.id)
	for k, colour := range palette {
		fmt.Fprintf(w, "#%s .s%d{stroke:%s}#%[1]s .f%[2]d{fill:%[3]s}\n", s.id, k, colour.dark)
	}
	fmt.Fprintf(w, "}\n@media print{#%s:root{color:#1a1a1a;background:none}}\n</style>\n", s.id)
}

// description is the drawing for those who cannot see it.
func (s *svg) description() string {
	var parts []string
	for depth := range s.full.Hops + 1 {
		first, end := s.full.AtDepth(depth)
		if depth > 12 && depth < s.full.Hops {
			continue
		}
		parts = append(parts, fmt.Sprintf("%d at depth %d", end-first, depth))
	}
	text := fmt.Sprintf("%d tree nodes: %s.", s.full.NumNodes(), strings.Join(parts, ", "))
	replicas := 0
	for _, base := range s.full.Base {
		if base == s.full.Base[0] {
			replicas++
		}
	}
	if replicas > 1 {
		text += fmt.Sprintf(" %d of them stand for the root's node %s.", replicas, nameOf(s.full.Base[0], s.o.Names))
	}
	if s.full.RootMasked {
		text += " The root is masked."
	}
	shown := 0
	for _, node := range s.Node {
		if node >= 0 {
			shown++
		}
	}
	if shown < s.full.NumNodes() {
		text += fmt.Sprintf(" %d are drawn.", shown)
	}
	return text
}
