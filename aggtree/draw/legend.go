package draw

import (
	"fmt"

	"nodemask/internal/svg"
)

func (s *picture) legend(n neighbourhood, x, y, right float64) float64 {
	type sample struct {
		text, attributes string
		radius           float64
		line             bool
	}
	var samples []sample
	drawn := map[int32]bool{}
	more, ghost, cached := false, s.Tree.RootMasked, false
	for i, base := range s.Tree.Base {
		if base < 0 {
			more = true
		} else {
			drawn[base] = true
		}
		ghost = ghost || s.Ghost[i]
		cached = cached || s.isCached(int32(i)) && s.full.Hops > 1
	}
	for _, v := range n.nodes {
		drawn[v] = true
		ghost = ghost || s.masked(v)
	}
	for class, name := range s.o.Classes {
		for base, of := range s.o.Colours {
			if of == class && drawn[int32(base)] {
				samples = append(samples, sample{name, filling(class % len(palette)), 6, false})
				break
			}
		}
	}
	samples = append(samples, sample{"root", svg.Stroke(0, rootRing), 6, false})
	if len(s.looks.ring) > 1 {
		samples = append(samples, sample{"same ring: replicas of one node", svg.Stroke(1, 2), 6, false})
	}
	if s.flow != nil {
		for k, name := range s.o.FlowNames {
			samples = append(samples, sample{text: name, attributes: svg.Stroke(k, 5), line: true})
		}
	}
	if ghost {
		samples = append(samples, sample{"masked", `fill="none" ` + masked, 6, false})
	}
	if cached {
		samples = append(samples, sample{"captured by a cached representation", captured, 4, false})
	}
	if more {
		samples = append(samples, sample{"nodes not drawn", folding, 3, false})
	}
	if n.more > 0 {
		samples = append(samples, sample{text: fmt.Sprintf("%d nodes of the graph not drawn", n.more)})
	}
	s.b.WriteString("<g class=\"legend\">\n")
	at := point{x, y + legendRow/2}
	for _, sample := range samples {
		text := svg.Plain(sample.text)
		room := 28 + columns(text)*7 + 14
		if at.X > x && at.X+room > right {
			at = point{x, at.Y + legendRow}
		}
		switch {
		case sample.line:
			s.printf(`<path d="M%s,%sh20" %s/>`, px(at.X), px(at.Y), sample.attributes)
		case sample.attributes != "":
			s.rect(at.X, at.Y-6, 20, 12, sample.radius, sample.attributes)
		}
		s.printf("<text x=\"%s\" y=\"%s\" font-size=\"11\">%s</text>\n", px(at.X+28), px(at.Y+4), xmlText(text))
		at.X += room
	}
	s.b.WriteString("</g>\n")
	return at.Y + legendRow/2
}
