package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nodemask/internal/svg"
)

const mostNear = 60

type sketch struct {
	nodes []sketched
	edges [][2]int
}

type sketched struct {
	node                 int32
	label                string
	at                   point
	look                 look
	masked, open, hidden bool // open: drawn as a node whose label is to be predicted
}

// neighbourhood holds the graph nodes that can be reached from the root. Nodes at the same distance from the root lie
// on one circle, each in the middle of its own sector.
type neighbourhood struct {
	sketch
	more          int // number of reached nodes that are not drawn
	width, height float64
	heading       string
}

// near finds the nodes around the root breadth first, masked or not. Call it only after the tree's labels have set the
// node width.
func (s *picture) near() neighbourhood {
	g, t := s.full.Graph, s.full
	if s.flow != nil {
		return neighbourhood{}
	}
	root := t.Base[0]
	n := neighbourhood{heading: fmt.Sprintf("Graph, %d hops round %s", t.Hops, cut(svg.Name(root, s.o.Names)))}
	place := map[int32]int{}
	var parent, level []int
	add := func(v int32, below, depth int) {
		masked := int(v) < len(t.Mask) && t.Mask[v]
		l := s.looks.of(v)
		if masked && !l.root {
			l = look{fill: -1, ring: -1}
		}
		name := svg.Name(v, s.o.Names)
		s.widen(name)
		place[v] = len(n.nodes)
		n.nodes = append(n.nodes, sketched{node: v, label: name, look: l, masked: masked})
		parent, level = append(parent, below), append(level, depth)
	}
	add(root, -1, 0)
	left := map[int32]bool{}
	for i := 0; i < len(n.nodes) && level[i] < t.Hops; i++ {
		for _, u := range g.Neighbours(n.nodes[i].node) {
			if _, ok := place[u]; ok {
				continue
			}
			if len(n.nodes) == mostNear {
				left[u] = true
				continue
			}
			add(u, i, level[i]+1)
		}
	}
	n.more = len(left)
	for i, from := range n.nodes {
		for _, u := range g.Neighbours(from.node) {
			if j, ok := place[u]; ok && (i < j || !slices.Contains(g.Neighbours(u), from.node)) {
				n.edges = append(n.edges, [2]int{i, j})
			}
		}
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
	// Nodes must not touch each other or nodes on inner circles.
	radius := 0.0
	for first := 1; first < count; {
		end := first
		for end < count && level[end] == level[first] {
			end++
		}
		for radius += boxHeight + 34; ; radius += 6 {
			for i := first; i < end; i++ {
				n.nodes[i].at = point{radius * math.Sin(angle[i]), -radius * math.Cos(angle[i])}
			}
			if radius > 4000 || n.clear(first, end, width) {
				break
			}
		}
		first = end
	}
	low, high := point{}, point{}
	for _, v := range n.nodes {
		low = point{min(low.X, v.at.X), min(low.Y, v.at.Y)}
		high = point{max(high.X, v.at.X), max(high.Y, v.at.Y)}
	}
	for i := range n.nodes {
		n.nodes[i].at.X += width/2 + 2 - low.X
		n.nodes[i].at.Y += boxHeight/2 + 2 - low.Y
	}
	n.width, n.height = high.X-low.X+width+4, high.Y-low.Y+boxHeight+4
}

func (n *neighbourhood) clear(first, end int, width float64) bool {
	for i := first; i < end; i++ {
		for j := range i {
			a, b := n.nodes[i].at, n.nodes[j].at
			if math.Abs(a.X-b.X) < width+8 && math.Abs(a.Y-b.Y) < boxHeight+8 {
				return false
			}
		}
	}
	return true
}

func (s *picture) sketch(k sketch, at point) (size point) {
	k.nodes = slices.Clone(k.nodes)
	for i := range k.nodes {
		n := &k.nodes[i]
		size.X, size.Y = max(size.X, n.at.X+s.width/2+2), max(size.Y, n.at.Y+boxHeight/2+4)
		n.at = point{at.X + n.at.X, at.Y + n.at.Y}
	}
	// Nodes are translucent; an SVG mask hides the edges below them.
	id := fmt.Sprintf("%s-nodes%d", svg.ElementID(s.id), s.b.Len())
	area := fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s"`, px(at.X), px(at.Y), px(size.X), px(size.Y))
	s.printf(`<mask id="%s" maskUnits="userSpaceOnUse" %s><rect %[2]s fill="#fff"/>`, id, area)
	for _, n := range k.nodes {
		s.rect(n.at.X-s.width/2, n.at.Y-boxHeight/2, s.width, boxHeight, boxHeight/2, "")
	}
	s.printf("</mask>\n<g mask=\"url(#%s)\">\n", id)
	var plain, dashed strings.Builder
	for _, e := range k.edges {
		a, b := k.nodes[e[0]], k.nodes[e[1]]
		path := &plain
		switch {
		case a.hidden || b.hidden:
			continue
		case a.masked || b.masked:
			path = &dashed
		}
		fmt.Fprintf(path, "M%s,%sL%s,%s", px(a.at.X), px(a.at.Y), px(b.at.X), px(b.at.Y))
	}
	s.lines(plain.String(), dashed.String())
	s.b.WriteString("</g>\n")
	for _, n := range k.nodes {
		if !n.hidden {
			s.pill(n.at, n.label, n.look, n.masked || n.open)
		}
	}
	return size
}
