package aggtree

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/aggtree/internal/testgraph"
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
