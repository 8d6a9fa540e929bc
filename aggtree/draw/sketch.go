package draw

import (
	"fmt"
	"math"
	"strings"

	"nodemask/aggtree"
	"nodemask/csr"
)

type sketch struct {
	nodes []sketched
	edges [][2]int
}

type sketched struct {
	label  string
	at     point
	look   look
	hidden bool
	open   bool // label to be predicted
}

func graphSketch(g *csr.Graph, names []string) sketch {
	s := picture{o: Options{Names: names, BaseGraph: true}, full: built(g, 0, g.NumNodes(), nil),
		width: leastWidth}
	near := s.near()
	out := sketch{nodes: make([]sketched, g.NumNodes())}
	for i, v := range near.nodes {
		look := look{fill: -1, ring: -1}
		if v == 0 {
			look.ring, look.fill, look.root = 0, 0, true
		}
		out.nodes[v] = sketched{label: names[v], at: near.points[i], look: look}
	}
	for _, e := range near.edges {
		out.edges = append(out.edges, [2]int{int(e[0]), int(e[1])})
	}
	return out
}

// settingSketch draws the paper's graph with c and e to be predicted.
func settingSketch(areNew bool) sketch {
	g, names := PaperGraph()
	s := graphSketch(g, names)
	for v := range s.nodes {
		n := &s.nodes[v]
		n.look = look{fill: v % 2, ring: -1}
		if names[v] == "c" || names[v] == "e" {
			n.look.fill, n.label, n.open, n.hidden = -1, names[v]+" ?", true, areNew
		}
	}
	return s
}

func sketchPanel(caption string, k sketch) panel {
	return panel{caption: caption, draw: func(s *picture, at point) (size point) {
		var path strings.Builder
		for _, e := range k.edges {
			a, b := k.nodes[e[0]], k.nodes[e[1]]
			if a.hidden || b.hidden {
				continue
			}
			from, to := rim(a.at, b.at), rim(b.at, a.at)
			fmt.Fprintf(&path, "M%s,%sL%s,%s", px(at.X+from.X), px(at.Y+from.Y), px(at.X+to.X), px(at.Y+to.Y))
		}
		s.lines(path.String(), "", "")
		for _, n := range k.nodes {
			size.X, size.Y = max(size.X, n.at.X+leastWidth/2+2), max(size.Y, n.at.Y+boxHeight/2+4)
			if !n.hidden {
				s.pill(point{at.X + n.at.X, at.Y + n.at.Y}, n.label, n.look, n.open)
			}
		}
		return size
	}}
}

func rim(from, to point) point {
	dx, dy := to.X-from.X, to.Y-from.Y
	share := 1 / math.Hypot(dx/(leastWidth/2), dy/(boxHeight/2))
	return point{from.X + dx*share, from.Y + dy*share}
}

func treePanel(caption string, t *aggtree.Tree, o Options) panel {
	return panel{caption: caption, tree: t, draw: func(s *picture, at point) point {
		part := &picture{folded: o.fold(t), o: o, full: t, id: s.id, looks: looks{ring: map[int32]int{t.Base[0]: 0},
			root: t.Base[0]}, width: leastWidth}
		points, across, width, height := part.places()
		for i := range points {
			points[i].X += at.X
			points[i].Y += at.Y
		}
		part.boxes(points)
		part.edges(points, across)
		for i, p := range points {
			part.node(int32(i), p)
		}
		s.b.WriteString(part.b.String())
		return point{width, height}
	}}
}
