package draw

import (
	"fmt"

	"nodemask/aggtree/internal/labels"
)

// legend explains what the drawing has, in rows from x to right, and returns the y below the last.
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
			add(name, small(fmt.Sprintf(`rx="6" class="f%d" fill="%s" fill-opacity="0.28"`, k, palette[k].Light)))
		}
	}
	add("root", small(fmt.Sprintf(`rx="6" class="s0" fill="none" stroke="%s" stroke-width="3.5"`, palette[0].Light)))
	if len(s.looks.ring) > 1 {
		add("same ring: replicas of one node", small(fmt.Sprintf(`rx="6" class="s1" fill="none" stroke="%s" stroke-width="2"`, palette[1].Light)))
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
		text := labels.Printable(sample.text)
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
