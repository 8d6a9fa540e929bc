package draw

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	"nodemask/csr"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

type drawing struct {
	name    string
	tree    *aggtree.Tree
	options Options
}

// paperDrawings are the paper's trees of a: T_a^2, the masked ones of figure 7, and one from a cache.
func paperDrawings(t require.TestingT) []drawing {
	g, names := PaperGraph()
	all := []drawing{}
	for _, c := range []struct {
		name string
		mask string
	}{{"plain", ""}, {"d-masked", "d"}, {"a-masked", "a"}, {"a-f-masked", "af"}} {
		mask := make([]bool, 6)
		for v, name := range names {
			mask[v] = strings.Contains(c.mask, name)
		}
		if c.mask == "" {
			mask = nil
		}
		tree, err := aggtree.Build(context.Background(), g, 0, 2, aggtree.Options{Mask: mask})
		require.NoError(t, err)
		all = append(all, drawing{c.name, tree, Options{Names: names, Graph: g, Mask: mask, Ghosts: true, BaseGraph: true,
			ID: c.name}})
	}
	tree, err := aggtree.BuildCached(context.Background(), g, []int32{0, 4}, 3, aggtree.Options{})
	require.NoError(t, err)
	return append(all, drawing{"cached", tree, Options{Names: append(slices.Clone(names), "v"), Graph: g, BaseGraph: true,
		ID:      "cached",
		Colours: []int{0, 1, 2, 0, 1, 2, 0}, Classes: []string{"red", "green", "blue"}}})
}

func write(t require.TestingT, tree *aggtree.Tree, format Format, o Options) string {
	var b bytes.Buffer
	require.NoError(t, Write(&b, tree, format, o))
	return b.String()
}

// wellFormed reads XML to its end.
func wellFormed(t require.TestingT, text string) {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else {
			require.NoError(t, err)
		}
	}
}

// golden compares a text with a file of testdata, which -update writes.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), text)
}

func TestTreesAreTheGoldenFiles(t *testing.T) {
	extension := map[Format]string{Text: "txt", SVG: "svg", JSON: "json"}
	for _, d := range paperDrawings(t) {
		for _, format := range Formats() {
			text := write(t, d.tree, format, d.options)
			assert.Equal(t, text, write(t, d.tree, format, d.options), "drawn twice, the tree differs")
			if !strings.HasSuffix(d.name, "-masked") || d.name == "a-f-masked" { // figure 7 has the others
				golden(t, d.name+"."+extension[format], text)
			}
		}
	}
}

func TestTheInferredGraphHasWhatThePaperSaysOfItsTrees(t *testing.T) {
	g, names := PaperGraph()
	assert.Len(t, names, 6)
	tree, err := aggtree.Build(context.Background(), g, 0, 2, aggtree.Options{})
	require.NoError(t, err)
	first, end := tree.AtDepth(2)
	leaves := tree.Base[first:end]
	assert.Equal(t, 2, len(slices.DeleteFunc(slices.Clone(leaves), func(base int32) bool { return base != 0 })),
		"a is also two of the leaves")
	assert.Contains(t, leaves, int32(5), "masking f makes a difference")
}

func TestSVGTakesItsColoursFromThePageAndDescribesItself(t *testing.T) {
	d := paperDrawings(t)[2]
	text := write(t, d.tree, SVG, d.options)
	for _, part := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg" id="a-masked" role="img" aria-labelledby="a-masked-title ` +
			`a-masked-desc" width="`,
		`<title id="a-masked-title">The 2-aggregation tree of node a</title>`,
		`<desc id="a-masked-desc">6 tree nodes: 1 at depth 0, 2 at depth 1, 3 at depth 2. The root is masked.</desc>`,
		"viewBox=", "max-width:100%", "@media (prefers-color-scheme:dark)", "currentColor",
	} {
		assert.Contains(t, text, part)
	}
	for id, want := range map[string]string{"": `id="aggtree"`, "5": `id="t5"`, `"><script>`: `id="t___script_"`} {
		d.options.ID = id
		assert.Contains(t, write(t, d.tree, SVG, d.options), want)
	}
}

func TestHiddenNeighboursAreDrawnAsGhosts(t *testing.T) {
	d := paperDrawings(t)[3]
	assert.Equal(t, "a (masked, but the root)\n├─ b\n│  ├╌ a (masked)\n│  ├─ c\n│  └╌ f (masked)\n└─ d\n   ├╌ a "+
		"(masked)\n   └─ e\n",
		write(t, d.tree, Text, d.options))
	d.options.Ghosts = false
	assert.Equal(t, "a (masked, but the root)\n├─ b\n│  └─ c\n└─ d\n   └─ e\n",
		write(t, d.tree, Text, d.options))
}

func TestNodesAreColouredByTheirLabelsIfEachHasOne(t *testing.T) {
	g, _ := PaperGraph()
	o := Options{Graph: g}
	classes := []string{"red", "green"}
	coloured := o.ByClass([]int32{0, 1, -1, 0, 1, 0}, classes)
	assert.Equal(t, []int{0, 1, -1, 0, 1, 0}, coloured.Colours)
	assert.Equal(t, classes, coloured.Classes)
	assert.Equal(t, o, o.ByClass([]int32{0, 1}, classes))
	assert.Equal(t, Options{}, Options{}.ByClass(nil, classes))
}

func TestJSONHasTheWholeTree(t *testing.T) {
	d := paperDrawings(t)[4]
	d.options.nodes = 3
	var got struct {
		Root  int32
		Hops  int
		Nodes []jsonNode
	}
	require.NoError(t, json.Unmarshal([]byte(write(t, d.tree, JSON, d.options)), &got))
	assert.Equal(t, int32(6), got.Root)
	assert.Equal(t, 3, got.Hops)
	require.Len(t, got.Nodes, d.tree.NumNodes())
	for i, n := range got.Nodes {
		assert.Equal(t, jsonNode{ID: int32(i), Base: d.tree.Base[i], Name: d.options.Names[d.tree.Base[i]],
			Parent: d.tree.Parent[i], Depth: d.tree.Depth(int32(i)), Cached: i > 0}, n)
	}
}

func TestErrorsOfWritingSayWhatToDo(t *testing.T) {
	d := paperDrawings(t)[0]
	assert.EqualError(t, Write(io.Discard, d.tree, "png", d.options),
		`unknown format "png": expected one of [text svg json]`)
	assert.EqualError(t, Write(io.Discard, &aggtree.Tree{}, SVG, d.options),
		"the tree is empty: every tree has a root, see aggtree.Build")
	assert.ErrorIs(t, Write(full{}, d.tree, SVG, d.options), errFull)
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAnyTreeWithAnyNamesIsDrawnInEveryFormatsGrammar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		mask := testgraph.AnyMask(t, g)
		tree, err := aggtree.Build(context.Background(), g, testgraph.AnyNode(t, g, "root"),
			rapid.IntRange(0, 4).Draw(t, "hops"), aggtree.Options{Mask: mask})
		require.NoError(t, err)
		n := g.NumNodes()
		o := Options{
			Names: rapid.SliceOfN(rapid.String(), 0, n).Draw(t, "names"), ID: rapid.String().Draw(t, "id"),
			Graph: g, Mask: mask, Ghosts: rapid.Bool().Draw(t, "ghosts"), BaseGraph: rapid.Bool().Draw(t, "graph"),
			children: rapid.IntRange(0, 4).Draw(t, "children"), nodes: rapid.IntRange(0, 40).Draw(t, "nodes"),
		}
		if rapid.Bool().Draw(t, "coloured") {
			o.Colours = rapid.SliceOfN(rapid.IntRange(-1, 20), 0, n).Draw(t, "colours")
			o.Classes = rapid.SliceOf(rapid.String()).Draw(t, "classes")
		}
		drawing := write(t, tree, SVG, o)
		wellFormed(t, drawing)
		apart(t, drawing)
		require.True(t, json.Valid([]byte(write(t, tree, JSON, o))))
		f := o.fold(tree)
		assert.Equal(t, f.Tree.NumNodes(), strings.Count(write(t, tree, Text, o), "\n"))
		for _, r := range write(t, tree, Text, o) {
			assert.False(t, r != '\n' && (r < ' ' || r == 0x7f || r == 0x202e || r == 0x9b), "text has %U", r)
		}
	})
}

// pills returns the rectangles of the nodes that an SVG draws, the graph's and the tree's.
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

// apart asserts that no two nodes of an SVG overlap.
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
	var edges []csr.Edge
	for v := range int32(30) {
		for u := range v {
			edges = append(edges, edge(v, u))
		}
	}
	g := testgraph.Undirected(t, 30, edges...)
	tree, err := aggtree.Build(context.Background(), g, 0, 3, aggtree.Options{})
	require.NoError(t, err)
	text := write(t, tree, SVG, Options{Graph: g, BaseGraph: true})
	require.True(t, strings.Contains(text, ">+15678<"), "18 of the root's 29 children are left out, each with 1 + 29 + "+
		"29·29 nodes")
	require.Greater(t, len(pills(t, text)), 30)
	apart(t, text)
}

func TestATreeOfAThousandHopsIsDrawn(t *testing.T) {
	g := testgraph.Undirected(t, 2, edge(0, 1))
	tree, err := aggtree.Build(context.Background(), g, 0, 1000, aggtree.Options{})
	require.NoError(t, err)
	for _, format := range Formats() {
		assert.NotEmpty(t, write(t, tree, format, Options{Graph: g, BaseGraph: true, nodes: 2000}))
	}
}

func TestCachedSubtreesAreBoxedWithoutTouchingEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		var neighbours []int32
		for v := range int32(g.NumNodes()) {
			if rapid.Bool().Draw(t, fmt.Sprint(v)) {
				neighbours = append(neighbours, v)
			}
		}
		tree, err := aggtree.BuildCached(context.Background(), g, neighbours, 3, aggtree.Options{})
		require.NoError(t, err)
		points := layout(tree, spacing{sibling: 1, cousin: 1, level: 1, apart: 2.5})
		first, end := tree.Children(0)
		right := -10.0
		for u := first; u < end; u++ {
			low, high := points[u].X, points[u].X
			for i := range points {
				if tree.Group[i] == u-1 {
					low, high = min(low, points[i].X), max(high, points[i].X)
				}
			}
			assert.GreaterOrEqual(t, low, right+2.5-1e-9)
			right = high
		}
	})
}

func TestThePapersFiguresAreTheGoldenFiles(t *testing.T) {
	seen := map[int]bool{}
	for _, f := range PaperFigures() {
		var b, again bytes.Buffer
		require.NoError(t, f.WriteSVG(&b, f.ID))
		require.NoError(t, f.WriteSVG(&again, f.ID))
		assert.Equal(t, b.String(), again.String())
		wellFormed(t, b.String())
		for _, p := range f.Panels {
			assert.Contains(t, b.String(), ">"+xmlText(p.Caption)+"</text>", f.ID)
		}
		if slices.Contains([]string{"inductive", "invalid", "cached", "masked"}, f.ID) { // the others have no other shapes
			golden(t, "figure-"+f.ID+".svg", b.String())
		}
		seen[f.Number] = true
	}
	assert.Len(t, seen, 7, "figures 1 to 7")
}

func TestTheTreesOfTheFiguresAreAsTheirCaptionsSay(t *testing.T) {
	g, _ := PaperGraph()
	valid := func(tree *aggtree.Tree, mask []bool) error {
		return aggtree.Check(context.Background(), g, 0, tree.Hops, tree.Arborescence(), mask)
	}
	for _, p := range treesFigure().Panels[1:] {
		assert.NoError(t, valid(p.Tree, nil), p.Caption)
	}
	var fault *aggtree.Fault
	require.ErrorAs(t, valid(invalidFigure().Panels[1].Tree, nil), &fault)
	assert.Equal(t, aggtree.NotSmallest, fault.Kind)
	for i, masked := range []string{"", "d", "a", "af"} {
		mask := make([]bool, 6)
		for v := range mask {
			mask[v] = strings.ContainsRune(masked, rune('a'+v))
		}
		assert.NoError(t, valid(maskedFigure().Panels[i].Tree, mask), masked)
	}
	cached := cachedFigure().Panels[0].Tree
	assert.Equal(t, 1, len(slices.DeleteFunc(slices.Clone(cached.Base),
		func(base int32) bool { return base != cached.Base[0] })), "v appears as the root only")
	again := newNodeFigure().Panels[1].Tree
	assert.Equal(t, 3, len(slices.DeleteFunc(slices.Clone(again.Base),
		func(base int32) bool { return base != again.Base[0] })), "and two times more without a cache")
}

func TestOfManyChildrenThoseWithTheMostFlowAreDrawn(t *testing.T) {
	var edges []csr.Edge
	for v := range int32(20) {
		edges = append(edges, edge(0, v+1))
	}
	edges = append(edges, edge(17, 21))
	g := testgraph.Undirected(t, 22, edges...)
	tree, err := aggtree.Build(context.Background(), g, 0, 2, aggtree.Options{})
	require.NoError(t, err)
	o := Options{Flow: make([]float64, tree.NumNodes()), FlowNames: [2]string{"for it", "against it"}, children: 3}
	o.Flow[5] = 0.5
	first, end := tree.Children(17)
	require.Equal(t, []int32{0, 21}, tree.Base[first:end])
	o.Flow[end-1] = -2 // 17 weighs nothing, but what is below it does
	text := write(t, tree, Text, o)
	assert.Equal(t, "0\n├─ 5\n│  └─ 0\n├─ 17\n│  ├─ 0\n│  └─ 21\n└─ +36\n", text)
	drawing := write(t, tree, SVG, o)
	assert.Contains(t, drawing, `class="s0" fill="none" stroke="#0072B2" stroke-width="3"><title>+0.5</title></path>`)
	assert.Contains(t, drawing, `stroke-width="9"><title>-2</title></path>`)
	assert.Contains(t, drawing, ">against it</text>")
	o.Flow = o.Flow[1:]
	assert.NotContains(t, write(t, tree, SVG, o), "<title>+0.5", "a flow of another tree")
}
