package draw

import (
	"context"
	"fmt"
	"strings"

	"nodemask/aggtree"
	"nodemask/csr"
)

// figure is a figure of the paper, drawn from its text because our copy lacks the figures.
type figure struct {
	title  string
	panels []panel
}

type panel struct {
	caption string
	tree    *aggtree.Tree
	draw    func(s *picture, at point) (size point)
}

// PaperFigure returns one of the paper's figures 1 to 7 and its description. id is "transductive", "inductive",
// "trees", "invalid", "new-node", "cached" or "masked".
func PaperFigure(id string) (svg []byte, words string, err error) {
	f := figureOf(id)
	if f.title == "" {
		return nil, "", fmt.Errorf("no figure %q: expected transductive, inductive, trees, invalid, new-node, cached or masked",
			id)
	}
	svg, words = f.svg(id)
	return svg, words, nil
}

func figureOf(id string) figure {
	g, names := PaperGraph()
	grown, letters := lettered("vuwxyz", "vu", "vw", "ux", "wy", "wz")
	switch id {
	case "transductive":
		return figure{"The transductive setting", []panel{
			sketchPanel("Training sees all nodes and edges, and the classes of some (fills)", settingSketch(false)),
		}}
	case "inductive":
		return figure{"The inductive setting", []panel{
			sketchPanel("(a) A model is learned over some graph", settingSketch(true)),
			sketchPanel("(b) It is then applied to new nodes and edges", settingSketch(false)),
		}}
	case "trees":
		f := figure{"A graph and the aggregation trees of its node a",
			[]panel{sketchPanel("(a) An undirected graph", graphSketch(g, names))}}
		for hops := range 3 {
			caption := fmt.Sprintf("(%c) Tₐ%c", 'b'+hops, []rune("⁰¹²")[hops])
			f.panels = append(f.panels, treePanel(caption, built(g, 0, hops, nil), Options{Names: names}))
		}
		return f
	case "invalid":
		split := &aggtree.Tree{Hops: 2, Level: []int32{0, 1, 4, 9}, Base: []int32{0, 1, 1, 3, 0, 2, 5, 0, 4},
			Parent: []int32{-1, 0, 0, 0, 1, 1, 2, 3, 3}, FirstChild: []int32{1, 4, 6, 7, 9, 9, 9, 9, 9, 9}}
		return figure{"Not the 2-aggregation tree of a, although the paths are right", []panel{
			sketchPanel("(a) Not an arborescence: a has two parents", sharedSketch()),
			treePanel("(b) Not the smallest: b twice", split, Options{Names: names}),
		}}
	case "new-node":
		return figure{"A node v arrives after training", []panel{
			sketchPanel("(a) v enters the graph", graphSketch(grown, letters)),
			treePanel("(b) Tᵥ², its aggregation tree", built(grown, 0, 2, nil), Options{Names: letters}),
		}}
	case "cached":
		tree, err := aggtree.BuildCached(context.Background(), grown, []int32{1, 2, 3, 4, 5}, 0, 3, aggtree.Options{})
		must(err)
		return figure{"The tree of v as computed from the cache", []panel{
			treePanel("Each dotted box is what a cached representation of u or w captured", tree, Options{Names: letters}),
		}}
	case "masked":
		f := figure{title: "2-aggregation trees of a, by the nodes that are masked"}
		for i, c := range []struct{ caption, masked string }{{"No nodes masked", ""}, {"Node d is masked", "d"},
			{"Node a is masked", "a"}, {"Nodes a and f are masked", "af"}} {
			tree := built(g, 0, 2, maskOf(c.masked))
			f.panels = append(f.panels, treePanel(fmt.Sprintf("(%c) %s", 'a'+i, c.caption), tree, Options{Names: names}))
		}
		return f
	}
	return figure{}
}

func sharedSketch() sketch {
	at := func(column float64, depth int) point {
		return point{leastWidth/2 + 2 + column*(leastWidth+14), boxHeight/2 + 4 + 64*float64(depth)}
	}
	plain := look{fill: -1, ring: -1}
	root := look{fill: 0, ring: 0, root: true}
	return sketch{
		nodes: []sketched{{label: "a", at: at(1.5, 0), look: root}, {label: "b", at: at(0.5, 1), look: plain},
			{label: "d", at: at(2.5, 1), look: plain},
			{label: "c", at: at(0, 2), look: plain}, {label: "f", at: at(1, 2), look: plain},
			{label: "a", at: at(2, 2), look: root}, {label: "e", at: at(3, 2), look: plain}},
		edges: [][2]int{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {1, 5}, {2, 5}, {2, 6}},
	}
}

// PaperGraph returns the graph of the paper's figure 3 (a) and its nodes' names, a to f.
//
// It is inferred from what the paper's text says of its figures, as our copy lacks the figures. We added the edge e-f.
func PaperGraph() (g *csr.Graph, names []string) {
	return lettered("abcdef", "ab", "ad", "bc", "bf", "de", "ef")
}

func lettered(nodes string, pairs ...string) (g *csr.Graph, names []string) {
	edges := make([]csr.Edge, len(pairs))
	for i, pair := range pairs {
		edges[i] = csr.Edge{Node: int32(strings.IndexByte(nodes, pair[0])),
			Neighbour: int32(strings.IndexByte(nodes, pair[1]))}
	}
	g, _, err := csr.FromEdges(len(nodes), edges, csr.Options{})
	must(err)
	return g, strings.Split(nodes, "")
}

func maskOf(letters string) []bool {
	mask := make([]bool, 6)
	for v := range mask {
		mask[v] = strings.ContainsRune(letters, 'a'+rune(v))
	}
	return mask
}

func built(g *csr.Graph, root int32, hops int, mask []bool) *aggtree.Tree {
	tree, err := aggtree.Build(context.Background(), g, root, hops, aggtree.Options{Mask: mask})
	must(err)
	return tree
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (f figure) svg(id string) (drawing []byte, words string) {
	s := &picture{id: id, width: leastWidth}
	x, bottom := margin, 0.0
	centres := make([]float64, len(f.panels))
	captions := make([]string, len(f.panels))
	for i, p := range f.panels {
		captions[i] = p.caption
		room := columns(p.caption) * 6.6
		// The first drawing only measures the panel.
		size := p.draw(&picture{id: s.id, width: leastWidth}, point{})
		wide := max(room, size.X)
		p.draw(s, point{x + (wide-size.X)/2, margin})
		bottom = max(bottom, margin+size.Y)
		centres[i] = x + wide/2
		x += wide + 2*margin
	}
	for i, caption := range captions {
		s.printf("<text x=\"%s\" y=\"%s\" text-anchor=\"middle\">%s</text>\n", px(centres[i]), px(bottom+margin+fontSize),
			xmlText(caption))
	}
	words = strings.Join(append([]string{f.title}, captions...), "; ")
	return s.page(x-margin, bottom+2*margin+fontSize, f.title, strings.Join(captions, "; ")+"."), words
}

func graphSketch(g *csr.Graph, names []string) sketch {
	s := picture{folded: &folded{}, o: Options{Names: names}, full: built(g, 0, g.NumNodes(), nil), width: leastWidth,
		looks: looks{ring: map[int32]int{0: 0}}}
	return s.near().sketch
}

func settingSketch(areNew bool) sketch {
	s := graphSketch(PaperGraph())
	for i := range s.nodes {
		n := &s.nodes[i]
		n.look = look{fill: int(n.node) % 2, ring: -1}
		if n.label == "c" || n.label == "e" {
			n.look.fill, n.label, n.open, n.hidden = -1, n.label+" ?", true, areNew
		}
	}
	return s
}

func sketchPanel(caption string, k sketch) panel {
	return panel{caption: caption, draw: func(s *picture, at point) point { return s.sketch(k, at) }}
}

func treePanel(caption string, t *aggtree.Tree, o Options) panel {
	return panel{caption: caption, tree: t, draw: func(s *picture, at point) point {
		part := &picture{folded: o.fold(t), o: o, full: t, id: s.id, looks: looks{ring: map[int32]int{t.Base[0]: 0},
			root: t.Base[0]}, width: leastWidth}
		size := part.tree(at)
		s.b.WriteString(part.b.String())
		return size
	}}
}
