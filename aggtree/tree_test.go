package aggtree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/aggtree/internal/testgraph"
	"nodemask/csr"
)

func TestTheTwoHopTreeOfATriangleNode(t *testing.T) {
	g := testgraph.Triangle(t)
	tree := built(t, g, 0, 2, nil)
	// 0 has neighbours 1 and 2; 1 has 0 and 2; 2 has 0, 1 and 3.
	assert.Equal(t, &Tree{
		Graph:      g,
		Hops:       2,
		Base:       []int32{0, 1, 2, 0, 2, 0, 1, 3},
		Parent:     []int32{-1, 0, 0, 1, 1, 2, 2, 2},
		FirstChild: []int32{1, 3, 5, 8, 8, 8, 8, 8, 8},
		Level:      []int32{0, 1, 3, 8},
	}, tree)
	assert.Equal(t, []int32{0, 2, 3}, tree.Walk(7))
	first, end := tree.Children(2)
	assert.Equal(t, [2]int32{5, 8}, [2]int32{first, end})
	first, end = tree.AtDepth(1)
	assert.Equal(t, [2]int32{1, 3}, [2]int32{first, end})
	first, end = tree.AtDepth(3)
	assert.Equal(t, first, end)
	assert.Equal(t, [][2]int32{{2, 3}, {5, 8}}, tree.Descendants(2, 9))
}

func TestMaskedNodesAreInNoChildSetButMayBeTheRoot(t *testing.T) {
	g, mask := testgraph.Triangle(t), []bool{true, false, false, true, false}
	tree := built(t, g, 0, 2, mask)
	// Without 0 and 3 below the root: 0's children are 1 and 2; 1's is 2 (0 hidden), 2's is 1 (0 and 3 hidden).
	assert.Equal(t, &Tree{
		Graph:      g,
		Mask:       mask,
		Hops:       2,
		Base:       []int32{0, 1, 2, 2, 1},
		Parent:     []int32{-1, 0, 0, 1, 2},
		FirstChild: []int32{1, 3, 4, 5, 5, 5},
		Level:      []int32{0, 1, 3, 5},
		Hidden:     []int32{0, 1, 2, 0, 0},
		RootMasked: true,
	}, tree)
}

func TestAnIsolatedRootAndNoHopsGiveASingleNode(t *testing.T) {
	for _, c := range []struct {
		root int32
		hops int
	}{{4, 3}, {2, 0}} {
		tree := built(t, testgraph.Triangle(t), c.root, c.hops, nil)
		assert.Equal(t, []int32{c.root}, tree.Base)
		assert.Equal(t, 0, tree.Depth(0))
		assert.True(t, tree.IsLeaf(0))
		assert.Equal(t, []int64{0, 0}, tree.AsGraph().Offsets)
		require.NoError(t, Check(ctx, testgraph.Triangle(t), c.root, c.hops, tree.Arborescence(), nil))
	}
}

func TestAWalkThatCannotGoOnEndsInALeafAboveTheLastLevel(t *testing.T) {
	// 0 aggregates from 1 and 2, 2 from 1, 1 from no node.
	g, _, err := csr.FromEdges(3, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 0, Neighbour: 2}, {Node: 2, Neighbour: 1}},
		csr.Options{Directed: true})
	require.NoError(t, err)
	tree := built(t, g, 0, 2, nil)
	assert.Equal(t, []int32{0, 1, 2, 1}, tree.Base)
	assert.True(t, tree.IsLeaf(1))
	assert.Equal(t, 1, tree.Depth(1))
	assert.Equal(t, []int32{1, 3, 3, 4, 4}, tree.FirstChild)
}

func TestBuiltTreesHoldExactlyTheWalksOfTheGraphOnceEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		mask, root, hops := testgraph.AnyMask(t, g), testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 4).Draw(t, "hops")
		want := maximalWalks(g, []int32{root}, hops, mask)
		tree := built(t, g, root, hops, mask)

		nodes, leaves := map[string]int{}, [][]int32{}
		for i := range int32(tree.NumNodes()) {
			walk := tree.Walk(i)
			nodes[fmt.Sprint(walk)] = tree.Depth(i)
			require.Equal(t, len(walk)-1, tree.Depth(i))
			first, end := tree.AtDepth(tree.Depth(i))
			require.True(t, first <= i && i < end)
			first, end = tree.Children(i)
			require.Equal(t, first == end, tree.IsLeaf(i))
			for j := first; j < end; j++ {
				require.Equal(t, i, tree.Parent[j])
				require.True(t, j == first || tree.Base[j-1] < tree.Base[j])
			}
			if tree.IsLeaf(i) {
				leaves = append(leaves, walk)
			}
			if mask != nil && tree.Depth(i) < hops {
				require.Equal(t, g.Degree(tree.Base[i])-int(end-first), int(tree.Hidden[i]))
			}
		}
		require.Equal(t, prefixes(want), nodes)
		require.Len(t, nodes, tree.NumNodes())
		require.ElementsMatch(t, want, leaves)
		require.Equal(t, mask != nil && mask[root], tree.RootMasked)
	})
}

func TestCountsAreThoseOfTheWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		mask, hops := testgraph.AnyMask(t, g), rapid.IntRange(0, 4).Draw(t, "hops")
		for root := range int32(g.NumNodes()) {
			want := Counts{Depth: make([]uint64, hops+1)}
			for _, depth := range prefixes(maximalWalks(g, []int32{root}, hops, mask)) {
				want.Depth[depth]++
				want.Total++
			}
			one, err := Count(ctx, g, root, hops, mask)
			require.NoError(t, err)
			require.Equal(t, want, one)
		}
	})
}

func TestTheorem1HoldsForEveryRepresentationItSpeaksOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		mask, root, hops := testgraph.AnyMask(t, g), testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 4).Draw(t, "hops")
		features := rapid.SliceOfN(rapid.Uint64(), g.NumNodes(), g.NumNodes()).Draw(t, "features")
		tree := built(t, g, root, hops, mask)
		onGraph := network(g, features, hops, mask)
		onTree := network(tree.AsGraph(), pick(features, tree.Base), hops, nil)
		for i, base := range tree.Base {
			for layer := 0; layer <= hops-tree.Depth(int32(i)); layer++ {
				require.Equal(t, onGraph[layer][base], onTree[layer][i], "tree node %d after %d layers", i, layer)
			}
		}
	})
}

func TestATreeAsAGraphIsAProperGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		tree, err := Build(ctx, g, testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 4).Draw(t, "hops"),
			Options{Mask: testgraph.AnyMask(t, g)})
		require.NoError(t, err)
		as := tree.AsGraph()
		_, err = csr.New(as.Offsets, as.Indices)
		require.NoError(t, err)
		require.Equal(t, tree.NumNodes(), as.NumNodes())
		for parent, child := range as.All() {
			require.Equal(t, parent, tree.Parent[child])
		}
	})
}

func TestASubtreeIsTheTreeThatIsBuiltForItsBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		mask, root, hops := testgraph.AnyMask(t, g), testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 4).Draw(t, "hops")
		tree := built(t, g, root, hops, mask)
		for i := range int32(tree.NumNodes()) {
			left := hops - tree.Depth(i)
			for depth := 0; depth <= left; depth++ {
				want := built(t, g, tree.Base[i], depth, mask)
				require.Equal(t, want, subtree(tree, i, depth))
			}
			require.Equal(t, subtree(tree, i, left), subtree(tree, i, left+5))
		}
	})
}

// citations is a random graph of PubMed's size (19,717 nodes, 44,338 edges), with a few hubs.
func citations() *csr.Graph {
	const nodes, pairs = 19_717, 44_338
	r := rand.New(rand.NewPCG(1, 2))
	edges := make([]csr.Edge, pairs)
	for i := range edges {
		x := r.Float64()
		edges[i] = csr.Edge{Node: r.Int32N(nodes), Neighbour: int32(x * x * x * nodes)}
	}
	g, _, err := csr.FromEdges(nodes, edges, csr.Options{})
	if err != nil {
		panic(err)
	}
	return g
}

func BenchmarkBuildAMillionNodes(b *testing.B) {
	// In a ring with 10 neighbours per node, the tree for 6 hops has 1 + 10 + ... + 10⁶ = 1,111,111 nodes.
	const nodes = 5_000
	var edges [][2]int32
	for v := range int32(nodes) {
		for step := int32(1); step <= 5; step++ {
			edges = append(edges, [2]int32{v, (v + step) % nodes})
		}
	}
	g := testgraph.Undirected(b, nodes, edges)
	b.ReportAllocs()
	for b.Loop() {
		tree, err := Build(ctx, g, 0, 6, Options{Limit: 2_000_000})
		if err != nil || tree.NumNodes() != 1_111_111 {
			b.Fatal(tree.NumNodes(), err)
		}
	}
}

func BenchmarkCheckAMillionNodes(b *testing.B) {
	g := testgraph.Complete(b, 101) // the tree for 3 hops has 1 + 100 + 100² + 100³ = 1,010,101 nodes
	tree, err := Build(ctx, g, 0, 3, Options{Limit: 2_000_000})
	if err != nil {
		b.Fatal(err)
	}
	candidate := tree.Arborescence()
	b.ReportAllocs()
	for b.Loop() {
		if err := Check(ctx, g, 0, 3, candidate, nil); err != nil {
			b.Fatal(err)
		}
	}
}
