package aggtree

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/aggtree/internal/testgraph"
	"nodemask/csr"
)

// candidate is the 2-aggregation tree of node 0 of the triangle with a tail, to be mutated:
//
//	0: base 0
//	1: base 1 below 0, with 3: base 0 and 4: base 2
//	2: base 2 below 0, with 5: base 0, 6: base 1 and 7: base 3
func candidate() Arborescence {
	return Arborescence{
		Base:  []int32{0, 1, 2, 0, 2, 0, 1, 3},
		Edges: [][2]int32{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}, {2, 7}},
	}
}

func TestEachFaultIsNamedWithItsPlace(t *testing.T) {
	require.NoError(t, Check(ctx, testgraph.Triangle(t), 0, 2, candidate(), nil))
	for name, c := range map[string]struct {
		mutate func(*Arborescence)
		mask   []bool
		kind   string
		text   string
	}{
		"a root that is no node": {func(a *Arborescence) { a.Root = 8 }, nil, notArborescence,
			"not an arborescence: the root is node 8, but there are 8 nodes, numbered from 0"},
		"an edge to no node": {func(a *Arborescence) { a.Edges[1][1] = -1 }, nil, notArborescence,
			"edge 1 runs from node 0 to node -1, but there are 8 nodes"},
		"a node with two parents": {func(a *Arborescence) { a.Edges = append(a.Edges, [2]int32{1, 6}) }, nil, notArborescence,
			"node 6 has two edges from parents: from node 2 and from node 1"},
		"an edge listed twice": {func(a *Arborescence) { a.Edges = append(a.Edges, a.Edges[3]) }, nil, notArborescence,
			"node 4 has two edges from parents: from node 1 and from node 1"},
		"a root with a parent": {func(a *Arborescence) { a.Edges = append(a.Edges, [2]int32{7, 0}) }, nil, notArborescence,
			"the root, node 0, has a parent: node 7"},
		"a node without a parent": {func(a *Arborescence) { a.Edges = slices.Delete(a.Edges, 1, 2) }, nil, notArborescence,
			"no path leads from the root to node 2"},
		"a cycle": {func(a *Arborescence) { a.Edges[0][0] = 3 }, nil, notArborescence,
			"no path leads from the root to node 1"},
		"another root": {func(a *Arborescence) { a.Base[0] = 3 }, nil, wrongRoot,
			"wrong root: the root stands for node 3 of the graph; expected 0"},
		"two leaves for one": {func(a *Arborescence) { a.Base, a.Edges = append(a.Base, 2), append(a.Edges, [2]int32{1, 8}) },
			nil, notSmallest,
			"not the smallest: tree nodes 4 and 8 are siblings and both stand for node 2: one would do; their walk is 0-1-2"},
		"two inner nodes that share one's children": {func(a *Arborescence) {
			// The paper's figure 4 (b): the right paths, but node 1 of the tree comes twice.
			a.Base, a.Edges = append(a.Base, 1), append(a.Edges, [2]int32{0, 8})
			a.Edges[3][0] = 8
		}, nil, notSmallest, "tree nodes 1 and 8 are siblings and both stand for node 1"},
		"a missing leaf": {func(a *Arborescence) { a.Base, a.Edges = a.Base[:7], a.Edges[:6] }, nil, missingWalk,
			"missing walk: tree node 2 has no child that stands for node 3, a neighbour of node 2; the walk 0-2-3 is missing"},
		"a leaf for another": {func(a *Arborescence) { a.Base[7] = 1 }, nil, missingWalk,
			"the walk 0-2-3 is missing"},
		"a leaf that is no neighbour": {func(a *Arborescence) { a.Base[4] = 3 }, nil, extraWalk,
			"extra walk: tree node 4 stands for node 3, which is no unmasked neighbour of node 1; its walk is 0-1-3"},
		"a leaf that is not in the graph": {func(a *Arborescence) { a.Base[4] = 9 }, nil, extraWalk,
			"tree node 4 stands for node 9, which is no unmasked neighbour"},
		"a leaf with a child": {func(a *Arborescence) {
			a.Base, a.Edges = append(a.Base, 2), append(a.Edges, [2]int32{7, 8})
		}, nil, extraWalk, "tree node 8 lies at depth 3, but all leaves lie at depth 2; its walk is 0-2-3-2"},
		"a masked leaf": {func(a *Arborescence) {}, []bool{true, false, false, false, false}, extraWalk,
			"tree node 3 stands for node 0, which is no unmasked neighbour of node 1"},
	} {
		a := candidate()
		c.mutate(&a)
		err := Check(ctx, testgraph.Triangle(t), 0, 2, a, c.mask)
		var fault *Fault
		require.ErrorAs(t, err, &fault, name)
		assert.Equal(t, c.kind, fault.Kind, name)
		assert.ErrorContains(t, err, c.text, name)
	}
}

// shuffled returns a without the lost nodes, its others in any order.
func shuffled(t *rapid.T, a Arborescence, lost map[int32]bool) (out Arborescence) {
	var kept []int32
	for i := range int32(len(a.Base)) {
		if !lost[i] {
			kept = append(kept, i)
		}
	}
	place := make([]int32, len(a.Base))
	for i, old := range rapid.Permutation(kept).Draw(t, "order") {
		place[old] = int32(i)
		out.Base = append(out.Base, a.Base[old])
	}
	out.Root = place[a.Root]
	for _, e := range a.Edges {
		if !lost[e[1]] {
			out.Edges = append(out.Edges, [2]int32{place[e[0]], place[e[1]]})
		}
	}
	return out
}

func anyTree(t *rapid.T) (*csr.Graph, []bool, *Tree) {
	g := testgraph.Any(t, 6)
	mask, root, hops := testgraph.AnyMask(t, g), testgraph.AnyNode(t, g, "root"), rapid.IntRange(1, 3).Draw(t, "hops")
	tree := built(t, g, root, hops, mask)
	if tree.NumNodes() == 1 {
		t.Skip("no edges")
	}
	return g, mask, tree
}

func TestBuiltTreesPassInAnyOrderOfTheirNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, mask, tree := anyTree(t)
		a := shuffled(t, tree.Arborescence(), nil)
		require.NoError(t, Check(ctx, g, tree.Base[0], tree.Hops, a, mask))
		for _, lemma := range lemmas {
			require.NoError(t, lemma(ctx, g, tree.Hops, a, mask))
		}
	})
}

func TestEveryMutationOfABuiltTreeIsNamedForWhatItIsAndBreaksBothLemmas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, mask, tree := anyTree(t)
		at := rapid.Int32Range(1, int32(tree.NumNodes())-1).Draw(t, "at")
		parent, a, lost := tree.Parent[at], tree.Arborescence(), map[int32]bool{}
		add := func(base, below int32) {
			a.Edges = append(a.Edges, [2]int32{below, int32(len(a.Base))})
			a.Base = append(a.Base, base)
		}
		var want string
		kind := rapid.SampledFrom([]string{"twin", "cut", "rebase", "bud"}).Draw(t, "kind")
		switch kind {
		case "twin":
			add(tree.Base[at], parent)
			want = notSmallest
		case "cut":
			for i := range int32(tree.NumNodes()) {
				lost[i] = i == at || lost[tree.Parent[i]]
			}
			want = missingWalk
		case "rebase":
			base := rapid.Int32Range(-1, int32(g.NumNodes())).Draw(t, "base")
			a.Base[at] = base
			inGraph := base >= 0 && int(base) < g.NumNodes()
			switch {
			case base == tree.Base[at]:
				t.Skip("unchanged")
			case inGraph && g.HasEdge(tree.Base[parent], base) && (mask == nil || !mask[base]):
				want = missingWalk // it is a sibling's base, so that its own is missing
			default:
				want = extraWalk
			}
		case "bud":
			if tree.Depth(at) < tree.Hops && len((&checker{graph: g, mask: mask}).neighbours(tree.Base[at])) > 0 {
				t.Skip("not a leaf")
			}
			add(tree.Base[parent], at)
			want = extraWalk
		}
		a = shuffled(t, a, lost)
		err := Check(ctx, g, tree.Base[0], tree.Hops, a, mask)
		var fault *Fault
		require.ErrorAs(t, err, &fault)
		require.Equal(t, want, fault.Kind, "%v", err)
		for _, lemma := range lemmas {
			if kind != "bud" { // a walk that is too long may obey lemma 2
				require.ErrorAs(t, lemma(ctx, g, tree.Hops, a, mask), new(*Fault))
			}
		}
	})
}

var lemmas = []func(context.Context, *csr.Graph, int, Arborescence, []bool) error{lemma1, lemma2}

func TestLemma1GivesTheSmallestCounterexample(t *testing.T) {
	a := candidate()
	a.Base[7] = 1 // below tree node 2 there is now 0, 1, 1 instead of 0, 1, 3
	// The subtrees of the root down to depths 0 and 1 are right; the whole tree is not.
	require.EqualError(t, lemma1(ctx, testgraph.Triangle(t), 2, a, nil), "lemma 1 fails: at tree node 0: its subtree down "+
		"to depth 2 is not the 2-aggregation tree of node 0: missing walk: "+
		"tree node 2 has no child that stands for node 3, a neighbour of node 2; the walk 0-2-3 is missing")
}

func TestLemma2NamesTheNodeWhoseChildrenAreWrong(t *testing.T) {
	a := candidate()
	a.Base[5] = 4
	require.EqualError(t, lemma2(ctx, testgraph.Triangle(t), 2, a, nil), "lemma 2 fails: at tree node 2: its child set is "+
		"not the neighbour set of node 2: extra walk: tree node 5 stands for node 4, which is no unmasked neighbour of node "+
		"2; its walk is 2-4")
}

func TestVerifyGivesTheThreeStatementsAndWhereEachFails(t *testing.T) {
	wrong, broken := candidate(), candidate()
	wrong.Base[7] = 1 // a second leaf for node 1, and none for node 3
	broken.Edges = broken.Edges[1:]
	for _, c := range []struct {
		candidate Arborescence
		kinds     []string
	}{
		{candidate(), nil},
		{wrong, []string{missingWalk, lemma1Fails, lemma2Fails}},
		{broken, []string{notArborescence, notArborescence, notArborescence}},
	} {
		statements, err := Verify(ctx, testgraph.Triangle(t), 0, 2, c.candidate, nil)
		require.NoError(t, err)
		require.Len(t, statements, 3)
		for i, s := range statements {
			assert.Equal(t, []string{"definition", "lemma 1", "lemma 2"}[i], s.Name)
			require.Equal(t, c.kinds == nil, s.Holds())
			if c.kinds != nil {
				var fault *Fault
				require.ErrorAs(t, s.Counterexample, &fault)
				assert.Equal(t, c.kinds[i], fault.Kind)
			}
		}
	}
}
