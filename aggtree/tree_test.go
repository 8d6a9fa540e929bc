package aggtree

import (
	"fmt"
	"slices"
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
	assert.Equal(t, [][2]int32{{2, 3}, {5, 8}}, tree.Descendants(2, 9))
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
		counts := Counts{Depth: make([]uint64, hops+1), Total: uint64(len(nodes))}
		for _, depth := range nodes {
			counts.Depth[depth]++
		}
		got, err := Count(ctx, g, root, hops, mask)
		require.NoError(t, err)
		require.Equal(t, counts, got)
		require.ElementsMatch(t, want, leaves)
		require.Equal(t, mask != nil && mask[root], tree.RootMasked)
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

// sum is a GNN of layers h'_v = h_v + Σ_{u ∈ N_v} h_u.
func sum(g *csr.Graph, h []uint64, layers int) []uint64 {
	for range layers {
		next := slices.Clone(h)
		for v, u := range g.All() {
			next[v] += h[u]
		}
		h = next
	}
	return h
}

func TestACachedTreeByHand(t *testing.T) {
	// Train nodes are the triangle 0-1-2 with 3 at 2. Node 4 arrives, next to 0 and 3, and 5, next to 4.
	g := testgraph.Undirected(t, 6, [][2]int32{{0, 1}, {1, 2}, {0, 2}, {2, 3}, {4, 0}, {4, 3}, {4, 5}})
	tree, err := BuildCached(ctx, g, []int32{3, 1, 2, 0}, 4, 2, Options{})
	require.NoError(t, err)
	// In the train graph, 0 has 1 and 2 below it and 3 has 2. 4 is below neither.
	assert.Equal(t, &Tree{
		Graph:      tree.Graph,
		Hops:       2,
		Base:       []int32{4, 0, 3, 1, 2, 2},
		Parent:     []int32{-1, 0, 0, 1, 1, 2},
		FirstChild: []int32{1, 3, 5, 6, 6, 6, 6},
		Level:      []int32{0, 1, 3, 6},
		Cached:     true,
	}, tree)

	// Features 1, 2, 4, 8 and 16, and layers that add up: the cache has h̃¹_0 = 1+2+4 = 7 and h̃¹_3 = 8+4 = 12. Then
	// ĥ¹_4 = 16+1+8 = 25 and ĥ²_4 = 25+7+12 = 44.
	features := []uint64{1, 2, 4, 8, 16, 32}
	assert.Equal(t, uint64(44), sum(tree.AsGraph(), pick(features, tree.Base), 2)[0])

	// Without a cache and without 5, 4 is below 0 and 3 too: h¹_0 = 1+2+4+16 = 23, h¹_3 = 8+4+16 = 28, and
	// h²_4 = 25+23+28 = 76.
	full := built(t, g, 4, 2, []bool{5: true})
	assert.Equal(t, []int32{4, 0, 3, 1, 2, 4, 2, 4}, full.Base)
	assert.Equal(t, uint64(76), sum(full.AsGraph(), pick(features, full.Base), 2)[0])

	tree, err = BuildCached(ctx, g, []int32{3, 1, 2, 0}, 4, 2, Options{Mask: []bool{0: true, 4: true, 5: false}})
	require.NoError(t, err)
	assert.Equal(t, []int32{4, 3, 2}, tree.Base)
	assert.True(t, tree.RootMasked)
}

func TestACachedTreeComputesEquation4OverTrainNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 7)
		v, hops := testgraph.AnyNode(t, g, "v"), rapid.IntRange(0, 4).Draw(t, "hops")
		var train, neighbours []int32
		for u := range int32(g.NumNodes()) {
			if u != v && rapid.Bool().Draw(t, "train") {
				train = append(train, u)
			}
		}
		known, place, err := g.Induced(train)
		require.NoError(t, err)
		for _, u := range g.Neighbours(v) {
			if place[u] >= 0 {
				neighbours = append(neighbours, place[u])
			}
		}
		features := rapid.SliceOfN(rapid.Uint64(), g.NumNodes(), g.NumNodes()).Draw(t, "features")
		tree, err := BuildCached(ctx, g, rapid.Permutation(train).Draw(t, "order"), v, hops, Options{})
		require.NoError(t, err)

		cache := network(known, pick(features, train), hops, nil)
		// One layer at a time: the root's own representation so far, and the cached ones of its neighbours.
		n := len(train)
		star := &csr.Graph{Offsets: make([]int64, n+2), Indices: neighbours}
		star.Offsets[n+1] = int64(len(neighbours))
		want := features[v]
		for layer := range hops {
			want = network(star, append(slices.Clone(cache[layer]), want), 1, nil)[1][n]
		}
		require.Equal(t, want, network(tree.AsGraph(), pick(features, tree.Base), hops, nil)[hops][0])

		statements, err := Verify(ctx, tree.Graph, v, hops, tree.Arborescence(), nil)
		require.NoError(t, err)
		for _, s := range statements {
			require.NoError(t, s.Counterexample)
		}
	})
}

func TestNodesThatDoNotArriveAreErrors(t *testing.T) {
	for want, c := range map[string]struct {
		train []int32
		node  int32
	}{
		"node 2 is a train node: expected one that arrives later": {[]int32{0, 2}, 2},
		"root 5: the graph has 5 nodes, numbered from 0":          {[]int32{0, 2}, 5},
		"train nodes: ": {[]int32{0, 0}, 1},
	} {
		_, err := BuildCached(ctx, testgraph.Triangle(t), c.train, c.node, 2, Options{})
		assert.ErrorContains(t, err, want)
	}
}
