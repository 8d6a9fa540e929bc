package aggtree

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/aggtree/internal/testgraph"
	"nodemask/csr"
)

func TestNodesRepeatAsOftenAsWalksEndInThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 6)
		mask, hops := testgraph.AnyMask(t, g), rapid.IntRange(0, 4).Draw(t, "hops")
		all, err := Summaries(ctx, g, hops, mask)
		require.NoError(t, err)
		for root := range int32(g.NumNodes()) {
			seen, times := map[string]bool{}, map[int32]uint64{}
			for _, walk := range maximalWalks(g, []int32{root}, hops, mask) {
				for n := range walk {
					if key := fmt.Sprint(walk[:n+1]); !seen[key] {
						seen[key] = true
						times[walk[n]]++
					}
				}
			}
			require.Equal(t, Summary{Nodes: uint64(len(seen)), Distinct: len(times), Root: times[root]}, all[root])
		}
	})
}

// meanOverMasks returns the expected number of nodes, and of replicas of the root, at each depth, over all 2ⁿ masks.
func meanOverMasks(g *csr.Graph, root int32, hops int, rate float64) (nodes, roots []float64) {
	n := g.NumNodes()
	nodes, roots = make([]float64, hops+1), make([]float64, hops+1)
	for bits := range 1 << n {
		mask, probability := make([]bool, n), 1.0
		for v := range n {
			keep := rate
			if mask[v] = bits>>v&1 == 1; mask[v] {
				keep = 1 - keep
			}
			probability *= keep
		}
		if probability == 0 {
			continue
		}
		seen := map[string]bool{}
		for _, walk := range maximalWalks(g, []int32{root}, hops, mask) {
			for depth := range walk {
				if key := fmt.Sprint(walk[:depth+1]); !seen[key] {
					seen[key] = true
					nodes[depth] += probability
					if walk[depth] == root {
						roots[depth] += probability
					}
				}
			}
		}
	}
	return nodes, roots
}

func TestExpectationsAreMeansOverAllMasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 5)
		root, hops := testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 4).Draw(t, "hops")
		rate := rapid.SampledFrom([]float64{0, 0.3, 0.5, 1}).Draw(t, "rate")
		nodes, roots := meanOverMasks(g, root, hops, rate)
		e, err := Expect(ctx, g, root, hops, rate)
		require.NoError(t, err)
		require.InDeltaSlice(t, nodes, e.Depth, 1e-9)
		require.InDeltaSlice(t, roots, e.Root, 1e-9)
	})
}

func TestCountsThatAreTooLargeStopAndSaySo(t *testing.T) {
	// In a complete graph of 40 nodes, 39¹³ walks of 13 hops are more than 2⁶⁴.
	g := testgraph.Complete(t, 40)
	c, err := Count(ctx, g, 3, 13, nil)
	require.NoError(t, err)
	assert.Equal(t, uint64(39*39), c.Depth[2])
	assert.Equal(t, uint64(math.MaxUint64), c.Depth[13])
	assert.Equal(t, uint64(math.MaxUint64), c.Total)

	_, err = Build(ctx, g, 3, 13, Options{})
	assert.ErrorContains(t, err, "the 13-aggregation tree of node 3 has at least 18446744073709551615 nodes, but the "+
		"limit is 1000000")
	all, err := Summaries(ctx, g, 13, nil)
	require.NoError(t, err)
	assert.True(t, math.IsNaN(all[3].RootShare()))
	assert.True(t, math.IsNaN(all[3].Repetition()))
	_, err = Expect(ctx, g, 3, 13, 0.5)
	assert.ErrorContains(t, err, "the 13-aggregation tree of node 3 has at least 18446744073709551615 nodes")
}

// isomorphic compares two trees by matching children one by one, without hashes. Isomorphism being an equivalence, the
// first match for a child is as good as any.
func isomorphic(a *Tree, i int32, b *Tree, j int32, colours []uint64) bool {
	child, end := a.Children(i)
	other, last := b.Children(j)
	if colours[a.Base[i]] != colours[b.Base[j]] || end-child != last-other {
		return false
	}
	taken := make([]bool, last-other)
next:
	for ; child < end; child++ {
		for k := range taken {
			if !taken[k] && isomorphic(a, child, b, other+int32(k), colours) {
				taken[k] = true
				continue next
			}
		}
		return false
	}
	return true
}

func TestHashesAreEqualExactlyForIsomorphicTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testgraph.Any(t, 7)
		mask, hops := testgraph.AnyMask(t, g), rapid.IntRange(0, 3).Draw(t, "hops")
		colours := rapid.SliceOfN(rapid.Uint64Range(0, 1), g.NumNodes(), g.NumNodes()).Draw(t, "colours")
		all, err := HashAll(ctx, g, hops, colours, mask)
		require.NoError(t, err)
		groups, err := GroupAll(ctx, g, hops, colours, mask)
		require.NoError(t, err)
		groupOf := map[int32]int{}
		for number, members := range groups {
			for _, v := range members {
				groupOf[v] = number
			}
		}
		representations := network(g, colours, hops, mask)[hops]
		var trees []*Tree
		for v := range int32(g.NumNodes()) {
			trees = append(trees, built(t, g, v, hops, mask))
		}
		for v, one := range trees {
			for u, other := range trees {
				same := isomorphic(one, 0, other, 0, colours)
				require.Equal(t, same, all[v] == all[u])
				require.Equal(t, same, groupOf[int32(v)] == groupOf[int32(u)])
				// What no GNN can tell apart, and this one tells apart all else.
				require.Equal(t, same, representations[v] == representations[u])
			}
		}
		require.Len(t, groupOf, len(trees), "each node is in a group")
		require.Len(t, slices.Concat(groups...), len(trees), "and in no other")
	})
}
