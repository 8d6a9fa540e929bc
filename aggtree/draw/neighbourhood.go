package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nodemask/internal/svg"
)

const mostNear = 60

// neighbourhood is what a tree's walks can reach: a circle around the root per distance, each node in the middle of its
// sector.
type neighbourhood struct {
	nodes         []int32
	points        []point
	edges         [][2]int32
	more          int // number of nodes left out
	width, height float64
	heading       string
}

// near finds the nodes breadth first, masked or not. The tree's labels must have set the node width.
func (s *picture) near() neighbourhood {
	g, t := s.full.Graph, s.full
	if s.flow != nil {
		return neighbourhood{}
	}
	root := t.Base[0]
	n := neighbourhood{nodes: []int32{root}, heading: fmt.Sprintf("Graph, %d hops round %s", t.Hops,
		cut(svg.Name(root, s.o.Names)))}
	place, parent, level := map[int32]int{root: 0}, []int{-1}, []int{0}
	left := map[int32]bool{}
	for i := 0; i < len(n.nodes); i++ {
		if level[i] == t.Hops {
			break
		}
		for _, u := range g.Neighbours(n.nodes[i]) {
			if _, ok := place[u]; ok || left[u] {
				continue
			}
			if len(n.nodes) == mostNear {
				left[u] = true
				continue
			}
			place[u] = len(n.nodes)
			n.nodes, parent, level = append(n.nodes, u), append(parent, i), append(level, level[i]+1)
		}
	}
	n.more = len(left)
	for i, v := range n.nodes {
		for _, u := range g.Neighbours(v) {
			if j, ok := place[u]; ok && (i < j || !slices.Contains(g.Neighbours(u), v)) {
				n.edges = append(n.edges, [2]int32{v, u})
			}
		}
	}
	for _, v := range n.nodes {
		s.widen(svg.Name(v, s.o.Names))
	}
	n.arrange(parent, level, s.width)
	return n
}

func (n *neighbourhood) arrange(parent, level []int, width float64) {
	count := len(n.nodes)
	leaves := make([]float64, count)
	for i := count - 1; i > 0; i-- {
		leaves[i] = max(leaves[i], 1)
		leaves[parent[i]] += leaves[i]
	}
	begin, angle := make([]float64, count), make([]float64, count)
	next := make([]float64, count)
	for i := 1; i < count; i++ {
		p := parent[i]
		share := 2 * math.Pi * leaves[i] / leaves[0]
		begin[i] = begin[p] + next[p]
		next[p] += share
		angle[i] = begin[i] + share/2
	}
	// Nodes must touch neither each other nor inner circles.
	radius := 0.0
	n.points = make([]point, count)
	for first := 1; first < count; {
		end := first
		for end < count && level[end] == level[first] {
			end++
		}
		for radius += boxHeight + 34; ; radius += 6 {
			for i := first; i < end; i++ {
				n.points[i] = point{radius * math.Sin(angle[i]), -radius * math.Cos(angle[i])}
			}
			if radius > 4000 || n.clear(first, end, width) {
				break
			}
		}
		first = end
	}
	low, high := point{}, point{}
	for _, p := range n.points {
		low = point{min(low.X, p.X), min(low.Y, p.Y)}
		high = point{max(high.X, p.X), max(high.Y, p.Y)}
	}
	for i := range n.points {
		n.points[i].X += width/2 + 2 - low.X
		n.points[i].Y += boxHeight/2 + 2 - low.Y
	}
	n.width, n.height = high.X-low.X+width+4, high.Y-low.Y+boxHeight+4
}

func (n *neighbourhood) clear(first, end int, width float64) bool {
	for i := first; i < end; i++ {
		for j := range i {
			if math.Abs(n.points[i].X-n.points[j].X) < width+8 && math.Abs(n.points[i].Y-n.points[j].Y) < boxHeight+8 {
				return false
			}
		}
	}
	return true
}

func (s *picture) base(n neighbourhood, x, y float64) {
	s.b.WriteString("<g class=\"graph\">\n")
	s.heading(x, y, n.heading)
	y += headingHeight
	place := make(map[int32]point, len(n.nodes))
	area := fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s"`, px(x), px(y), px(n.width), px(n.height))
	s.printf(`<mask id="%s-nodes" maskUnits="userSpaceOnUse" %s><rect %[2]s fill="#fff"/>`,
		svg.ElementID(s.id), area)
	for i, v := range n.nodes {
		place[v] = point{x + n.points[i].X, y + n.points[i].Y}
		s.rect(place[v].X-s.width/2, place[v].Y-boxHeight/2, s.width, boxHeight, boxHeight/2, "")
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
	s.lines(plain.String(), dashed.String(), fmt.Sprintf(` mask="url(#%s-nodes)"`, svg.ElementID(s.id)))
	for _, v := range n.nodes {
		l := s.looks.of(v)
		if s.masked(v) && !l.root {
			l = look{fill: -1, ring: -1}
		}
		s.pill(place[v], svg.Name(v, s.o.Names), l, s.masked(v))
	}
	s.b.WriteString("</g>\n")
}

func (s *picture) masked(v int32) bool { return int(v) < len(s.full.Mask) && s.full.Mask[v] }
