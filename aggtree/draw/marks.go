package draw

import (
	"fmt"
	"math"
	"strings"

	"nodemask/internal/svg"
)

const (
	captured = `fill="none" stroke="currentColor" stroke-opacity="0.75" stroke-width="1.5" ` +
		`stroke-dasharray="0.1 4.5" stroke-linecap="round"`
	outline = `stroke="currentColor" stroke-opacity="0.7"`
	masked  = outline + ` stroke-dasharray="4 3"`
	folding = `fill="currentColor" fill-opacity="0.1"`
)

func filling(k int) string { return svg.Fill(k) + ` fill-opacity="0.28"` }

func (s *picture) heading(x, y float64, text string) {
	s.printf("<text x=\"%s\" y=\"%s\" font-weight=\"bold\">%s</text>\n", px(x), px(y+fontSize), xmlText(text))
}

// boxes draws the paper's dotted boxes around each child u of the root that has a cached representation. Boxes around
// the same u are nested: each reaches one level of descendants deeper than the box inside it.
func (s *picture) boxes(points []point) {
	first, end := s.Tree.Children(0)
	for u := first; u < end; u++ {
		if !s.isCached(u) {
			continue
		}
		for depth := s.full.Hops - 1; depth > 0 && s.pad(depth) > 0; depth-- {
			low, high := points[u], points[u]
			for _, level := range s.Tree.Descendants(u, depth) {
				for _, p := range points[level[0]:level[1]] {
					low = point{min(low.X, p.X), min(low.Y, p.Y)}
					high = point{max(high.X, p.X), max(high.Y, p.Y)}
				}
			}
			x, y := s.width/2+s.pad(depth), boxHeight/2+s.pad(depth)
			s.rect(low.X-x, low.Y-y, high.X-low.X+2*x, high.Y-low.Y+2*y, 10, captured)
			s.b.WriteByte('\n')
		}
	}
}

func (s *picture) edges(points []point, across bool) {
	var plain, dashed, coloured strings.Builder
	most := 0.0
	for _, x := range s.flow {
		most = max(most, math.Abs(x))
	}
	for i, parent := range s.Tree.Parent {
		if parent < 0 {
			continue
		}
		from, to := points[parent], points[i]
		node := s.Node[i]
		flows := node >= 0 && s.flow != nil && s.flow[node] != 0
		path := ""
		switch top, bottom := from.Y+boxHeight/2, to.Y-boxHeight/2; {
		case across:
			x, y := from.X+s.width/2, to.X-s.width/2
			path = fmt.Sprintf("M%s,%sC%s,%[2]s %[3]s,%[4]s %[5]s,%[4]s", px(x), px(from.Y), px((x+y)/2), px(to.Y), px(y))
		case flows:
			path = fmt.Sprintf("M%s,%sC%[1]s,%[3]s %[4]s,%[3]s %[4]s,%[5]s", px(from.X), px(top), px((top+bottom)/2), px(to.X),
				px(bottom))
		default:
			path = fmt.Sprintf("M%s,%sL%s,%s", px(from.X), px(top), px(to.X), px(bottom))
		}
		switch {
		case s.Ghost[i]:
			dashed.WriteString(path)
		case flows:
			x, colour := s.flow[node], 0
			if x < 0 {
				colour = 1
			}
			fmt.Fprintf(&coloured, "<path d=\"%s\" %s><title>%+.3g</title></path>\n", path,
				svg.Stroke(colour, 1+widestFlow*math.Abs(x)/most), x)
		default:
			plain.WriteString(path)
		}
	}
	s.lines(plain.String(), dashed.String())
	s.b.WriteString(coloured.String())
}

const widestFlow = 8

func (s *picture) lines(plain, dashed string) {
	for _, l := range []struct{ path, dash string }{{plain, ""}, {dashed, ` stroke-dasharray="4 3"`}} {
		if l.path != "" {
			s.printf("<path d=\"%s\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.55\"%s/>\n", l.path, l.dash)
		}
	}
}

func (s *picture) node(i int32, at point) {
	base := s.Tree.Base[i]
	label := s.text(i, s.o.Names)
	switch {
	case base < 0:
		s.more(at, label, s.Ghost[i])
	case s.Ghost[i]:
		s.pill(at, label, look{fill: -1, ring: -1}, true)
	default:
		s.pill(at, label, s.looks.of(base), i == 0 && s.Tree.RootMasked)
	}
}

func (s *picture) more(at point, label string, ghost bool) {
	attributes := folding
	if ghost {
		attributes += " " + masked
	}
	s.rect(at.X-s.width/2, at.Y-boxHeight/2, s.width, boxHeight, 3, attributes)
	s.label(at, label, ` font-style="italic"`)
}

func (s *picture) pill(at point, label string, l look, dashed bool) {
	rect := func(inset float64, attributes string) {
		s.rect(at.X-s.width/2+inset, at.Y-boxHeight/2+inset, s.width-2*inset, boxHeight-2*inset, boxHeight/2-inset,
			attributes)
	}
	if l.fill >= 0 {
		inset := 0.0
		if len(s.o.Labels) > 0 {
			inset = 3
		}
		rect(inset, filling(l.fill))
	}
	ring := `fill="none" ` + outline
	if l.ring >= 0 {
		width := 2.0
		if l.root {
			width = rootRing
		}
		ring = svg.Stroke(l.ring, width)
	}
	if dashed {
		ring += ` stroke-dasharray="4 3"`
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

func (s *picture) label(at point, label, attributes string) {
	short, tooltip := cut(label), ""
	if short != svg.Plain(label) {
		tooltip = "<title>" + xmlText(label) + "</title>"
	}
	s.printf("<text x=\"%s\" y=\"%s\" text-anchor=\"middle\"%s>%s%s</text>\n",
		px(at.X), px(at.Y+0.35*fontSize), attributes, tooltip, svg.Escape(short))
}
