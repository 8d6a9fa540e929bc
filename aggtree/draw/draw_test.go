package draw

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/aggtree"
	"nodemask/aggtree/internal/testgraph"
)

type drawing struct {
	name    string
	tree    *aggtree.Tree
	options Options
}

// paperDrawings returns the paper's trees of a: T_a^2, the masked ones of figure 7, and a cached one.
func paperDrawings(t require.TestingT) []drawing {
	g, names := PaperGraph()
	all := []drawing{}
	for _, c := range []struct {
		name string
		mask string
	}{{"plain", ""}, {"d-masked", "d"}, {"a-masked", "a"}, {"a-f-masked", "af"}} {
		mask := maskOf(c.mask)
		if c.mask == "" {
			mask = nil
		}
		tree := built(g, 0, 2, mask)
		all = append(all, drawing{c.name, tree, Options{Names: names, ID: c.name}})
	}
	// v, node 6, arrives next to a and e.
	edges := [][2]int32{{6, 0}, {6, 4}}
	for v, u := range g.All() {
		if v < u {
			edges = append(edges, [2]int32{v, u})
		}
	}
	tree, err := aggtree.BuildCached(context.Background(), testgraph.Undirected(t, 7, edges), []int32{0, 1, 2, 3, 4, 5}, 6,
		3, aggtree.Options{})
	require.NoError(t, err)
	return append(all, drawing{"cached", tree, Options{Names: append(slices.Clone(names), "v"), ID: "cached",
		Labels: []int32{0, 1, 2, 0, 1, 2, 0}, Classes: []string{"red", "green", "blue"}}})
}

func svgOf(t require.TestingT, tree *aggtree.Tree, o Options) string {
	var b bytes.Buffer
	require.NoError(t, WriteSVG(&b, tree, o))
	return b.String()
}

func textOf(t require.TestingT, tree *aggtree.Tree, o Options) string {
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, tree, o))
	return b.String()
}

// shapes returns a drawing's texts from left to right without the legend, and counts its nodes, dashed nodes and dotted
// boxes.
func shapes(text string) (labels string, nodes, dashed, boxes int) {
	text, _, _ = strings.Cut(text, `<g class="legend">`)
	for _, m := range regexp.MustCompile(`<text [^>]*>([^<]*)`).FindAllStringSubmatch(text, -1) {
		labels += " " + m[1]
	}
	for _, rect := range regexp.MustCompile(`<rect [^>]*/>`).FindAllString(text, -1) {
		switch {
		case strings.Contains(rect, `stroke-dasharray="0.1 4.5"`):
			boxes++
		case strings.Contains(rect, `height="24"`) && strings.Contains(rect, "stroke="):
			nodes++
			if strings.Contains(rect, `stroke-dasharray="4 3"`) {
				dashed++
			}
		}
	}
	return strings.TrimSpace(labels), nodes, dashed, boxes
}

func TestDrawingsShowTheGraphTheTreeItsMaskAndItsCache(t *testing.T) {
	for i, want := range []struct {
		labels, text         string
		nodes, dashed, boxes int
	}{
		{"2-aggregation tree of a a b d a c f a e Graph, 2 hops round a a b d c f e",
			"a\n├─ b\n│  ├─ a\n│  ├─ c\n│  └─ f\n└─ d\n   ├─ a\n   └─ e\n", 14, 0, 0},
		{"2-aggregation tree of a a b d a c f Graph, 2 hops round a a b d c f e",
			"a\n├─ b\n│  ├─ a\n│  ├─ c\n│  └─ f\n└╌ d (masked)\n", 12, 2, 0},
		{"2-aggregation tree of a a b d a c f a e Graph, 2 hops round a a b d c f e",
			"a (masked, but the root)\n├─ b\n│  ├╌ a (masked)\n│  ├─ c\n│  └─ f\n└─ d\n   ├╌ a (masked)\n   └─ e\n", 14, 4, 0},
		{"2-aggregation tree of a a b d a c f a e Graph, 2 hops round a a b d c f e",
			"a (masked, but the root)\n├─ b\n│  ├╌ a (masked)\n│  ├─ c\n│  └╌ f (masked)\n└─ d\n   ├╌ a (masked)\n   └─ e\n",
			14, 6, 0},
		{"3-aggregation tree of v v a e b d d f a c f a e a e b e Graph, 3 hops round v v a e b d f c",
			"v\n├─ a (cached)\n│  ├─ b\n│  │  ├─ a\n│  │  ├─ c\n│  │  └─ f\n│  └─ d\n│     ├─ a\n│     └─ e\n└─ e (cached)\n   ├─ d\n" +
				"   │  ├─ a\n   │  └─ e\n   └─ f\n      ├─ b\n      └─ e\n", 23, 0, 4},
	} {
		d := paperDrawings(t)[i]
		svg := svgOf(t, d.tree, d.options)
		assert.Equal(t, svg, svgOf(t, d.tree, d.options), "drawn twice, the tree differs")
		labels, nodes, dashed, boxes := shapes(svg)
		assert.Equal(t, want.labels, labels, d.name)
		assert.Equal(t, []int{want.nodes, want.dashed, want.boxes}, []int{nodes, dashed, boxes}, d.name)
		assert.Equal(t, want.text, textOf(t, d.tree, d.options), d.name)
	}
}

func TestSVGTakesItsColoursFromThePageAndDescribesItself(t *testing.T) {
	d := paperDrawings(t)[2]
	text := svgOf(t, d.tree, d.options)
	for _, part := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg" id="a-masked" role="img" aria-labelledby="a-masked-title ` +
			`a-masked-desc" width="`,
		`<title id="a-masked-title">The 2-aggregation tree of node a</title>`,
		`<desc id="a-masked-desc">6 tree nodes: 1 at depth 0, 2 at depth 1, 3 at depth 2. The root is masked.</desc>`,
		"viewBox=", "max-width:100%", "@media (prefers-color-scheme:dark)", "currentColor",
	} {
		assert.Contains(t, text, part)
	}
	for id, want := range map[string]string{"": `id="aggtree"`, "5": `id="x5"`, `"><script>`: `id="x---script-"`} {
		d.options.ID = id
		assert.Contains(t, svgOf(t, d.tree, d.options), want)
	}
}

func TestErrorsOfWritingSayWhatToDo(t *testing.T) {
	d := paperDrawings(t)[0]
	for _, write := range []func(io.Writer, *aggtree.Tree, Options) error{WriteText, WriteSVG} {
		assert.EqualError(t, write(io.Discard, &aggtree.Tree{}, d.options),
			"the tree is empty: every tree has a root, see aggtree.Build")
		assert.ErrorIs(t, write(full{}, d.tree, d.options), errFull)
	}
	_, _, err := PaperFigure("8")
	assert.EqualError(t, err,
		`no figure "8": expected transductive, inductive, trees, invalid, new-node, cached or masked`)
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAnyTreeWithAnyNamesIsDrawnInEveryFormatsGrammar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		mask := testgraph.AnyMask(t, g)
		tree := built(g, testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 4).Draw(t, "hops"), mask)
		n := g.NumNodes()
		o := Options{
			Names: rapid.SliceOfN(rapid.String(), 0, n).Draw(t, "names"), ID: rapid.String().Draw(t, "id"),
			children: rapid.IntRange(0, 4).Draw(t, "children"), nodes: rapid.IntRange(0, 40).Draw(t, "nodes"),
		}
		if rapid.Bool().Draw(t, "coloured") {
			o.Labels = rapid.SliceOfN(rapid.Int32Range(-1, 20), 0, n).Draw(t, "labels")
			o.Classes = rapid.SliceOf(rapid.String()).Draw(t, "classes")
		}
		drawing := svgOf(t, tree, o)
		require.NoError(t, xml.Unmarshal([]byte(drawing), new(struct{})))
		apart(t, drawing)
		f := o.fold(tree)
		assert.Equal(t, f.Tree.NumNodes(), strings.Count(textOf(t, tree, o), "\n"))
		for _, r := range textOf(t, tree, o) {
			assert.False(t, r != '\n' && (r < ' ' || r == 0x7f || r == 0x202e || r == 0x9b), "text has %U", r)
		}
	})
}

func pills(t require.TestingT, text string) (all [][4]float64) {
	text = regexp.MustCompile(`(?s)<mask .*?</mask>`).ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(
		`<rect x="([^"]+)" y="([^"]+)" width="([^"]+)" height="24" rx="(?:12" [^/]*fill="none"|3")`).FindAllStringSubmatch(
		text, -1) {
		var r [4]float64
		for k, number := range m[1:] {
			var err error
			r[k], err = strconv.ParseFloat(number, 64)
			require.NoError(t, err)
		}
		r[3] = boxHeight
		all = append(all, r)
	}
	return all
}

func apart(t require.TestingT, text string) {
	all := pills(t, text)
	for i, a := range all {
		for _, b := range all[:i] {
			assert.False(t, a[0] < b[0]+b[2] && b[0] < a[0]+a[2] && a[1] < b[1]+b[3] && b[1] < a[1]+a[3],
				"nodes at %v and %v overlap", a, b)
		}
	}
}

func TestNodesDoNotOverlapBesideWideLabels(t *testing.T) {
	g := testgraph.Complete(t, 30)
	tree := built(g, 0, 3, nil)
	text := svgOf(t, tree, Options{})
	require.True(t, strings.Contains(text, ">+15678<"), "18 of the root's 29 children are left out, each with 1 + 29 + "+
		"29·29 nodes")
	require.Greater(t, len(pills(t, text)), 30)
	apart(t, text)
}

func TestThePapersFiguresShowTheirPanels(t *testing.T) {
	for id, want := range map[string]struct {
		labels               string
		nodes, dashed, boxes int
	}{
		"transductive": {"a b d c ? f e ?", 6, 2, 0},
		"inductive":    {"a b d f a b d c ? f e ?", 10, 2, 0}, // c and e are new
		"trees":        {"a b d c f e a a b d a b d a c f a e", 18, 0, 0},
		"invalid":      {"a b d c f a e a b b d a c f a e", 16, 0, 0},
		"new-node":     {"v u w x y z v u w v x v y z", 14, 0, 0},
		"cached":       {"v u w x y z u w w", 9, 0, 4},
		"masked":       {"a b d a c f a e a b d a c f a b d a c f a e a b d a c f a e", 30, 8, 0},
	} {
		picture, words, err := PaperFigure(id)
		require.NoError(t, err)
		again, _, err := PaperFigure(id)
		require.NoError(t, err)
		assert.Equal(t, picture, again)
		require.NoError(t, xml.Unmarshal(picture, new(struct{})))
		f := figureOf(id)
		labels, nodes, dashed, boxes := shapes(string(picture))
		for _, p := range f.panels {
			assert.Contains(t, words, p.caption)
			assert.Contains(t, labels, xmlText(p.caption))
		}
		assert.True(t, strings.HasPrefix(labels, want.labels+" "), "%s: %s", id, labels)
		assert.Equal(t, []int{want.nodes, want.dashed, want.boxes}, []int{nodes, dashed, boxes}, id)
	}
}

func TestTheTreesOfTheFiguresAreAsTheirCaptionsSay(t *testing.T) {
	g, _ := PaperGraph()
	valid := func(tree *aggtree.Tree, mask []bool) error {
		return aggtree.Check(context.Background(), g, 0, tree.Hops, tree.Arborescence(), mask)
	}
	for _, p := range figureOf("trees").panels[1:] {
		assert.NoError(t, valid(p.tree, nil), p.caption)
	}
	var fault *aggtree.Fault
	require.ErrorAs(t, valid(figureOf("invalid").panels[1].tree, nil), &fault)
	assert.Equal(t, "not the smallest", fault.Kind)
	for i, masked := range []string{"", "d", "a", "af"} {
		assert.NoError(t, valid(figureOf("masked").panels[i].tree, maskOf(masked)), masked)
	}
	cached := figureOf("cached").panels[0].tree
	assert.Equal(t, 1, len(slices.DeleteFunc(slices.Clone(cached.Base),
		func(base int32) bool { return base != cached.Base[0] })), "v appears as the root only")
	again := figureOf("new-node").panels[1].tree
	assert.Equal(t, 3, len(slices.DeleteFunc(slices.Clone(again.Base),
		func(base int32) bool { return base != again.Base[0] })), "and two times more without a cache")
}

func TestOfManyChildrenThoseWithTheMostFlowAreDrawn(t *testing.T) {
	edges := [][2]int32{{17, 21}}
	for v := range int32(20) {
		edges = append(edges, [2]int32{0, v + 1})
	}
	g := testgraph.Undirected(t, 22, edges)
	tree := built(g, 0, 2, nil)
	o := Options{Flow: make([]float64, tree.NumNodes()), FlowNames: [2]string{"for it", "against it"}, children: 3}
	o.Flow[5] = 0.5
	first, end := tree.Children(17)
	require.Equal(t, []int32{0, 21}, tree.Base[first:end])
	o.Flow[end-1] = -2 // 17 weighs nothing, but what is below it does
	text := textOf(t, tree, o)
	assert.Equal(t, "0\n├─ 5\n│  └─ 0\n├─ 17\n│  ├─ 0\n│  └─ 21\n└─ +36\n", text)
	drawing := svgOf(t, tree, o)
	assert.Contains(t, drawing, `class="line0" stroke="#0072B2" stroke-width="3" fill="none"><title>+0.5</title></path>`)
	assert.Contains(t, drawing, `stroke-width="9" fill="none"><title>-2</title></path>`)
	assert.Contains(t, drawing, ">against it</text>")
	o.Flow = o.Flow[1:]
	assert.NotContains(t, svgOf(t, tree, o), "<title>+0.5", "a flow of another tree")
}
