package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"nodemask/aggtree"
	"nodemask/internal/svg"
)

var palette = svg.Palette

const rootRing = 3.5

// look says how to draw the tree nodes that stand for one graph node. fill and ring are colour numbers, or -1 for none.
type look struct {
	fill, ring int
	root       bool
}

type looks struct {
	labels []int32
	ring   map[int32]int
	root   int32
}

// newLooks gives a coloured ring to the root's graph node, then to graph nodes that repeat in the tree, most frequent
// first, until colours run out.
func newLooks(t *aggtree.Tree, o Options) looks {
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
	slices.SortFunc(bases, func(a, b int32) int { return cmp.Or(times[b]-times[a], int(a-b)) })
	l := looks{labels: o.Labels, ring: map[int32]int{t.Base[0]: 0}, root: t.Base[0]}
	for i, base := range bases[:min(len(bases), len(palette)-1)] {
		l.ring[base] = i + 1
	}
	return l
}

func (l looks) of(base int32) look {
	one := look{fill: -1, ring: -1, root: base == l.root}
	if ring, ok := l.ring[base]; ok {
		one.ring = ring
	}
	if int(base) < len(l.labels) && l.labels[base] >= 0 {
		one.fill = int(l.labels[base]) % len(palette)
	} else if len(l.labels) == 0 && one.ring >= 0 {
		one.fill = one.ring
	}
	return one
}

// columns returns a text's width in letters; wide letters, as in Chinese, count twice.
func columns(s string) float64 {
	n := 0.0
	for _, r := range s {
		if n++; r >= 0x1100 {
			n++
		}
	}
	return n
}

func cut(label string) string {
	label = svg.Plain(label)
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

func xmlText(s string) string { return svg.Escape(svg.Plain(s)) }

func px(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10+0, 'f', -1, 64)
}

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
		drawn[v.node] = true
		ghost = ghost || v.masked
	}
	for class, name := range s.o.Classes {
		for base, of := range s.o.Labels {
			if int(of) == class && drawn[int32(base)] {
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
