package aggtree

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/aggtree/internal/testgraph"
)

func TestLemma1GivesTheSmallestCounterexample(t *testing.T) {
	a := candidate()
	a.Base[7] = 1 // below tree node 2 there is now 0, 1, 1 instead of 0, 1, 3
	// The subtrees of the root down to depths 0 and 1 are right; the whole tree is not.
	require.EqualError(t, lemma1(ctx, testgraph.Triangle(t), 2, a, nil), "lemma 1 fails at tree node 0: its subtree down "+
		"to depth 2 is not the 2-aggregation tree of node 0: missing walk: "+
		"tree node 2 has no child that stands for node 3, a neighbour of node 2; the walk 0-2-3 is missing")
}

func TestLemma2GivesWhatIsMissingExtraAndRepeated(t *testing.T) {
	a := candidate()
	a.Base[5], a.Base[7] = 4, 1 // below tree node 2 there is now 4, 1, 1 instead of 0, 1, 3
	require.EqualError(t, lemma2(ctx, testgraph.Triangle(t), 2, a, nil), "lemma 2 fails at tree node 2: its child set is "+
		"not the neighbour set of node 2: it lacks [0 3], has besides [4], repeats [1]")
}

func TestBothLemmasFailWhereverACheckOfTheSameRootFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, mask, tree := anyTree(t)
		nodes := grow(tree)
		at := rapid.IntRange(1, tree.NumNodes()-1).Draw(t, "at")
		node, parent := nodes[at], nodes[tree.Parent[at]]
		if rapid.Bool().Draw(t, "cut") {
			parent.children = slices.DeleteFunc(parent.children, func(n *growth) bool { return n == node })
		} else {
			node.base = rapid.Int32Range(-1, int32(g.NumNodes())).Draw(t, "base")
		}
		a := nodes[0].write(t)
		fault := new(Fault)
		bad := errors.As(Check(ctx, g, tree.Base[0], tree.Hops, a, mask), &fault)
		for _, lemma := range lemmas {
			err := lemma(ctx, g, tree.Hops, a, mask)
			if !bad {
				require.NoError(t, err)
				continue
			}
			require.ErrorAs(t, err, new(*counterexample))
		}
	})
}

func TestVerifyGivesTheThreeStatementsAndWhereEachFails(t *testing.T) {
	names := func(statements []Statement) (all []string) {
		for _, s := range statements {
			all = append(all, s.Name)
		}
		return all
	}
	statements, err := Verify(ctx, testgraph.Triangle(t), 0, 2, candidate(), nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"definition", "lemma 1", "lemma 2"}, names(statements))
	for _, s := range statements {
		assert.True(t, s.Holds(), s.Name)
	}

	a := candidate()
	a.Base[7] = 1 // a second leaf for node 1, and none for node 3
	statements, err = Verify(ctx, testgraph.Triangle(t), 0, 2, a, nil)
	require.NoError(t, err)
	var fault *Fault
	require.ErrorAs(t, statements[0].Counterexample, &fault)
	assert.Equal(t, missingWalk, fault.Kind)
	for _, s := range statements[1:] {
		require.ErrorContains(t, s.Counterexample, s.Name+" fails at ")
	}

	a.Edges = a.Edges[1:] // no arborescence any more
	statements, err = Verify(ctx, testgraph.Triangle(t), 0, 2, a, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"definition", "lemma 1", "lemma 2"}, names(statements))
	for _, s := range statements {
		require.ErrorAs(t, s.Counterexample, &fault, s.Name)
		assert.Equal(t, notArborescence, fault.Kind)
	}
}
