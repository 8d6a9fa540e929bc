package explorer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/aggtree/internal/testgraph"
	"nodemask/csr"
)

var explorerProgram = sync.OnceValues(func() (*goja.Program, error) {
	return goja.Compile("explorer.js", bundle,
		true)
})

// script runs the bundle as it is embedded, where there is no page, and then code of the test's.
func script(t require.TestingT, d *embedded, code string, result any) {
	program, err := explorerProgram()
	require.NoError(t, err)
	vm := goja.New()
	_, err = vm.RunProgram(program)
	require.NoError(t, err)
	data, err := json.Marshal(d)
	require.NoError(t, err)
	require.NoError(t, vm.Set("text", string(data)))
	value, err := vm.RunString(`const {State, build, count, sizes, toggle, walk} = nodemaskExplorer
const s = new State(JSON.parse(text))
JSON.stringify((() => {` + code + `})(), (_, v) => ArrayBuffer.isView(v) ? Array.from(v) : v)`)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(value.String()), result))
}

// plainTree is a tree as the script has it.
type plainTree struct {
	Base, Parent, FirstChild, Level, Hidden []int32
	RootMasked                              bool
}

func plain(t *aggtree.Tree) *plainTree {
	hidden := t.Hidden
	if hidden == nil {
		hidden = make([]int32, t.NumNodes())
	}
	return &plainTree{t.Base, t.Parent, t.FirstChild, t.Level, hidden, t.RootMasked}
}

// whole is the data that a fragment embeds.
func whole(t require.TestingT, g *csr.Graph, root int32, hops int, o Options) *embedded {
	data, err := Data(g, root, hops, o)
	require.NoError(t, err)
	d := new(embedded)
	require.NoError(t, json.Unmarshal(data, d))
	return d
}

func TestTheScriptBuildsAndCountsTheTreesOfBuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 9)
		mask, root, hops := testgraph.AnyMask(t, g), testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 4).Draw(t, "hops")
		var got struct {
			Tree   *plainTree
			Counts struct {
				Depth           []uint64
				Total, Distinct uint64
				Replicas        uint64
			}
			Sizes [][]uint64
		}
		script(t, whole(t, g, root, hops, Options{Mask: mask}), `return {tree: s.built(), counts: s.counts, sizes: s.sizes}`,
			&got)

		tree, err := aggtree.Build(context.Background(), g, root, hops, aggtree.Options{Mask: mask})
		require.NoError(t, err)
		assert.Equal(t, plain(tree), got.Tree)
		counts, err := aggtree.Count(context.Background(), g, root, hops, mask)
		require.NoError(t, err)
		assert.Equal(t, counts.Depth, got.Counts.Depth)
		assert.Equal(t, counts.Total, got.Counts.Total)
		distinct := map[int32]uint64{}
		for _, base := range tree.Base {
			distinct[base]++
		}
		assert.EqualValues(t, len(distinct), got.Counts.Distinct)
		assert.Equal(t, distinct[root], got.Counts.Replicas)
		for v := range int32(g.NumNodes()) {
			counts, err := aggtree.Count(context.Background(), g, v, hops, mask)
			require.NoError(t, err)
			assert.Equal(t, counts.Total, got.Sizes[hops][v], "nodes of the tree of %d", v)
		}
	})
}

func TestAnEpochDrawsTheMaskOfGosGenerator(t *testing.T) {
	g := testgraph.Undirected(t, 40, nil)
	const seed, rate = 1<<63 + 12345, 0.7
	for _, epoch := range []int{1, 2, 900} {
		var got []int
		script(t, whole(t, g, 0, 1, Options{Seed: seed, KeepRate: rate}), fmt.Sprintf(`s.setEpoch(%d); return s.mask`, epoch),
			&got)
		r := rand.New(rand.NewPCG(seed, uint64(epoch)))
		want := make([]int, 40)
		for v := range want {
			if r.Float64() >= rate {
				want[v] = 1
			}
		}
		assert.Equal(t, want, got, "epoch %d", epoch)

		// As hyper.KeepRate: a number for each node that may be masked.
		script(t, whole(t, g, 0, 1, Options{Seed: seed, KeepRate: rate, Train: []int32{3, 4, 20}}),
			fmt.Sprintf(`s.setEpoch(%d); return s.mask`, epoch), &got)
		alone := make([]int, 40)
		alone[3], alone[4], alone[20] = want[0], want[1], want[2]
		assert.Equal(t, alone, got, "epoch %d of three train nodes", epoch)
	}
}

// shownNode is a drawn node: walk is its bases from the root.
type shownNode struct {
	Walk  []int32
	More  uint64
	Ghost bool
}

const shownCode = `return s.shown().map(n => ({walk: n.base < 0 ? null : s.walkOf(n), more: n.more, ghost: n.ghost}))`

func TestDrawnAndFoldedNodesAddUpToTheTreeAndUnfoldedOnesAreItsWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 12)
		mask, root, hops := testgraph.AnyMask(t, g), testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 4).Draw(t, "hops")
		clicks := rapid.SliceOfN(rapid.IntRange(0, 99), 0, 6).Draw(t, "clicks")
		var got struct{ Folded, Unfolded []shownNode }
		script(t, whole(t, g, root, hops, Options{Mask: mask}), fmt.Sprintf(`
for (const c of %s) { const all = s.shown(); s.toggle(all[c %% all.length]) }
const show = () => { %s }, folded = show()
for (let n; n = s.shown().find(n => n.more > 0); ) s.toggle(n)
return {folded, unfolded: show()}`, strings.ReplaceAll(fmt.Sprint(clicks), " ", ","), shownCode), &got)
		total := uint64(0)
		for _, n := range got.Folded {
			switch {
			case n.Ghost:
				assert.True(t, n.Walk == nil || mask[n.Walk[len(n.Walk)-1]], "%v is not masked", n.Walk)
			case n.More > 0:
				total += n.More
			default:
				total++
			}
		}
		walks := walksOf(t, g, root, hops, mask)
		assert.EqualValues(t, len(walks), total)
		var unfolded []string
		for _, n := range got.Unfolded {
			if !n.Ghost {
				unfolded = append(unfolded, fmt.Sprint(n.Walk))
			}
		}
		assert.ElementsMatch(t, walks, unfolded)
	})
}

// walksOf are those that Build's tree nodes stand for.
func walksOf(t require.TestingT, g *csr.Graph, root int32, hops int, mask []bool) (walks []string) {
	tree, err := aggtree.Build(context.Background(), g, root, hops, aggtree.Options{Mask: mask})
	require.NoError(t, err)
	for i := range tree.Base {
		walks = append(walks, fmt.Sprint(tree.Walk(int32(i))))
	}
	return walks
}

func TestExcerptTreesAreWholeOrSaidToBeCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 14)
		root, hops := testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 3).Draw(t, "hops")
		part := newExcerpt(g, root, hops, rapid.IntRange(1, 14).Draw(t, "nodes"), rapid.Int64Range(0, 20).Draw(t, "entries"))
		d := (Options{}).embed(g, root, hops, part)
		var got []struct {
			Root, Hops int32
			Cut        int
			Tree       *plainTree
		}
		script(t, d, `const all = []
for (let v = 0; v < s.g.nodes; v++) for (let hops = 0; hops < 4; hops++) {
  s.setRoot(v); s.setHops(hops)
  all.push({root: s.ids ? s.ids[v] : v, hops, cut: s.counts.cut, tree: s.built()})
}
return all`, &got)
		for _, one := range got {
			if one.Cut > 0 {
				assert.Nil(t, one.Tree, "a cut tree is handed out as whole")
				continue
			}
			tree, err := aggtree.Build(context.Background(), g, one.Root, int(one.Hops), aggtree.Options{})
			require.NoError(t, err)
			assert.Equal(t, plain(tree), one.Tree)
		}
	})
}

func TestAGraphAboveTheLimitIsEmbeddedRoundTheRoot(t *testing.T) {
	var edges [][2]int32
	for v := int32(1); v < 60_000; v++ {
		edges = append(edges, [2]int32{v - 1, v})
	}
	path := testgraph.Undirected(t, 60_000, edges)
	d := whole(t, path, 30_000, 2, Options{Mask: append(make([]bool, 59_999), true)})
	assert.Equal(t, []int32{29_997, 29_998, 29_999, 30_000, 30_001, 30_002, 30_003}, d.Graph.IDs,
		"the nodes within 3 hops of 30000")
	assert.Equal(t, 5, d.Complete, "all but the two ends have their neighbours")
	assert.EqualValues(t, 30_000, d.Graph.IDs[d.Root])
	assert.Empty(t, d.Mask, "the masked node is not there")
}

func TestTheBundleIsBuiltFromTheSourcesBesideIt(t *testing.T) {
	hash := sha256.New()
	files, err := filepath.Glob("src/*")
	require.NoError(t, err)
	slices.Sort(files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		fmt.Fprintf(hash, "%s\x00%s\x00", filepath.Base(file), data)
	}
	assert.Contains(t, bundle, fmt.Sprintf("SHA-256 %x", hash.Sum(nil)),
		"run 'npm ci && npm run build' in aggtree/explorer")
}

func TestTheBundleIsSmallLicensedAndFreeOfAddresses(t *testing.T) {
	assert.Less(t, len(bundle), 120_000)
	licence, err := os.ReadFile("LICENSE.d3")
	require.NoError(t, err)
	for line := range strings.Lines(string(licence)) {
		assert.Contains(t, bundle, strings.TrimSpace(line))
	}
	assert.NotRegexp(t, `(?i)</script|<!--`, bundle, "the bundle would end its own element")
	for _, address := range regexp.MustCompile(`https?://[^"'`+"`"+`\s]*`).FindAllString(bundle, -1) {
		assert.Regexp(t, `^http://www\.w3\.org/`, address, "names of XML, which are never fetched")
	}
	lock, err := os.ReadFile("package-lock.json")
	require.NoError(t, err)
	assert.NotContains(t, string(lock), `"resolved"`, "the lock file pins by hash, and names no host")
}

func writeHTML(t require.TestingT, g *csr.Graph, root int32, hops int, o Options) string {
	var b bytes.Buffer
	require.NoError(t, WriteFragment(&b, g, root, hops, o))
	return b.String()
}

var hostile = []string{`</script><script>alert(1)</script>`, `<!--<script>`, `"'&`, "line\nbreak \u202e reversed",
	"日本語", "\xff"}

func TestHostileNamesClassesAndTitlesStayTextInTheData(t *testing.T) {
	g, _ := draw.PaperGraph()
	o := Options{Names: hostile, Labels: []int32{0, 1, 2, 3, 4, 5}, Classes: hostile, Title: hostile[0]}
	text := writeHTML(t, g, 0, 2, o)
	assert.Equal(t, 2, strings.Count(text, "<script"), "the data and the bundle")
	assert.Equal(t, 2, strings.Count(text, "</script"))
	assert.NotContains(t, text, "<!--")
	assert.Contains(t, text, "alt=\"The 2-aggregation tree of node &lt;/script&gt;")
	data := regexp.MustCompile(`<script type="application/json">(.*)</script>`).FindStringSubmatch(text)
	require.NotNil(t, data)
	var d embedded
	require.NoError(t, json.Unmarshal([]byte(data[1]), &d))
	assert.Equal(t, []string{hostile[0], hostile[1], hostile[2], "line break reversed", hostile[4], "\ufffd"},
		d.Names)
	assert.Equal(t, d.Names, d.Classes)
	assert.Equal(t, hostile[0], d.Title)

	var page bytes.Buffer
	require.NoError(t, WritePage(&page, g, 0, 2, o))
	assert.Contains(t, page.String(), "<title>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>")
}

func TestATreeTooLargeToBuildIsWrittenAllTheSame(t *testing.T) {
	complete := testgraph.Complete(t, 60)
	assert.Contains(t, writeHTML(t, complete, 0, 9, Options{}), `alt="The 2-aggregation tree of node 0: 3541 nodes"`)
	var got []shownNode
	script(t, whole(t, complete, 0, 9, Options{}), shownCode, &got)
	assert.Less(t, len(got), 200, "only a part is drawn")
}

func TestWhatCannotBeDrawnIsAnErrorThatSaysWhatIsExpected(t *testing.T) {
	g := testgraph.Triangle(t)
	for _, c := range []struct {
		expected   string
		g          *csr.Graph
		root, hops int
		o          Options
	}{
		{"the graph is nil", nil, 0, 2, Options{}},
		{"root 5: the graph has 5 nodes", g, 5, 2, Options{}},
		{"root -1: the graph has 5 nodes", g, -1, 2, Options{Names: []string{"a"}}},
		{"11 hops: expected at most 10", g, 0, 11, Options{}},
		{"Options.KeepRate is 1.5: expected a probability above 0 and up to 1, or 0 for 1", g, 0, 2,
			Options{KeepRate: 1.5}},
		{"the mask has 1 entries, but the graph has 5 nodes", g, 0, 2, Options{Mask: []bool{true}}},
	} {
		assert.ErrorContains(t, WriteFragment(new(bytes.Buffer), c.g, int32(c.root), c.hops, c.o), c.expected)
		assert.ErrorContains(t, WritePage(new(bytes.Buffer), c.g, int32(c.root), c.hops, c.o), c.expected)
	}
}
