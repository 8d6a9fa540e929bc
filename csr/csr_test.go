package csr

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// path is 0-1-2-3 with a chord 0-2; node 4 is isolated.
func path(t testing.TB) *Graph {
	g, _, err := FromEdges(5, []Edge{{0, 1}, {1, 2}, {2, 3}, {2, 0}}, Options{})
	require.NoError(t, err)
	return g
}

func list(g *Graph) (edges []Edge) {
	for v, u := range g.All() {
		edges = append(edges, Edge{v, u})
	}
	return edges
}

func TestANodeOutsideTheGraphIsAnErrorThatNamesThePair(t *testing.T) {
	for _, bad := range []Edge{{0, 3}, {3, 0}, {-1, 0}, {0, -1}} {
		_, _, err := FromEdges(3, []Edge{{0, 1}, bad}, Options{})
		require.ErrorContains(t, err, "edge 1 names node ")
	}
	_, _, err := FromEdges(3, []Edge{{0, 1}, {7, 0}}, Options{})
	assert.EqualError(t, err, "edge 1 names node 7, but the graph has 3 nodes (0 to 2)")
	_, _, err = FromEdges(-1, nil, Options{})
	assert.EqualError(t, err, "-1 nodes: expected between 0 and 2147483647")
}

func TestPairsThatChangeBetweenTheTwoRunsAreAnError(t *testing.T) {
	for _, second := range [][]Edge{{{0, 1}, {0, 2}}, {{0, 1}, {1, 2}, {1, 2}}, {{0, 1}}, {{0, 1}, {2, 1}}} {
		runs := 0
		_, _, err := FromSeq(3, func(yield func(int32, int32) bool) {
			edges := []Edge{{0, 1}, {1, 2}}
			if runs++; runs == 2 {
				edges = second
			}
			for _, e := range edges {
				if !yield(e.Node, e.Neighbour) {
					return
				}
			}
		}, Options{Directed: true})
		assert.ErrorContains(t, err, "the pairs changed while they were read", "%v", second)
	}
}

func TestDegreesNeighboursAndEdgesOfAPathWithAChord(t *testing.T) {
	g := path(t)
	assert.Equal(t, 5, g.NumNodes())
	assert.Equal(t, int64(8), g.NumEdges())
	assert.Equal(t, []int32{0, 1, 3}, g.Neighbours(2))
	assert.Empty(t, g.Neighbours(4))
	assert.Equal(t, 3, g.Degree(2))
	assert.Equal(t, 3, g.MaxDegree())
	assert.True(t, g.HasEdge(0, 2))
	assert.False(t, g.HasEdge(0, 3))
	assert.False(t, g.HasEdge(4, 4))
	for v, u := range g.All() { // breaking the range stops the iteration
		assert.Equal(t, Edge{0, 1}, Edge{v, u})
		break
	}
}

func TestTheZeroGraphIsEmpty(t *testing.T) {
	var g Graph
	assert.Zero(t, g.NumNodes())
	assert.Zero(t, g.NumEdges())
	assert.Zero(t, g.MaxDegree())
	assert.True(t, g.IsSymmetric())
	assert.Empty(t, list(&g))
	assert.Equal(t, []int64{0}, g.Matrix().Offsets)
	sub, index, err := g.Induced(nil)
	require.NoError(t, err)
	assert.Zero(t, sub.NumNodes())
	assert.Empty(t, index)
}

func TestInducedRefusesUnknownAndRepeatedNodes(t *testing.T) {
	g := path(t)
	_, _, err := g.Induced([]int32{0, 5})
	assert.EqualError(t, err, "node 5 at position 1: the graph has 5 nodes")
	_, _, err = g.InducedWhere([]int32{-1}, nil)
	assert.EqualError(t, err, "node -1 at position 0: the graph has 5 nodes")
	_, _, err = g.Induced([]int32{2, 0, 2})
	assert.EqualError(t, err, "node 2 is listed twice, at positions 0 and 2")
}

func TestNewChecksAllThatAGraphPromises(t *testing.T) {
	g := path(t)
	again, err := New(g.Offsets, g.Indices)
	require.NoError(t, err)
	assert.Equal(t, g, again)
	_, err = New(nil, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		offsets []int64
		indices []int32
		want    string
	}{
		{nil, []int32{0}, "1 indices without offsets"},
		{[]int64{1, 1}, []int32{0}, "offsets run from 1 to 1: expected 0 to 1"},
		{[]int64{0, 2}, []int32{0}, "offsets run from 0 to 2: expected 0 to 1"},
		{[]int64{0, 2, 1}, []int32{1}, "row 0 runs from 0 to 2 of 1 indices"},
		{[]int64{0, 1, -1, 1}, []int32{1}, "row 1 runs from 1 to -1"},
		{[]int64{0, 1, 1}, []int32{2}, "row 0 names node 2, but the graph has 2 nodes"},
		{[]int64{0, 1, 1}, []int32{-1}, "row 0 names node -1"},
		{[]int64{0, 1, 1}, []int32{0}, "row 0 holds a self-loop"},
		{[]int64{0, 2, 2, 2}, []int32{2, 1}, "row 0 is not strictly ascending: 1 after 2"},
		{[]int64{0, 2, 2}, []int32{1, 1}, "row 0 is not strictly ascending: 1 after 1"},
	} {
		g, err := New(c.offsets, c.indices)
		assert.ErrorContains(t, err, c.want)
		assert.Nil(t, g)
	}
}

func anyPairs(t *rapid.T) (nodes int, pairs []Edge) {
	nodes = rapid.IntRange(1, 30).Draw(t, "nodes")
	node := rapid.Int32Range(0, int32(nodes-1))
	return nodes, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Edge {
		return Edge{node.Draw(t, "u"), node.Draw(t, "v")}
	}), 0, 150).Draw(t, "pairs")
}

func sorted(set map[Edge]bool) []Edge {
	return slices.SortedFunc(maps.Keys(set), func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Neighbour, b.Neighbour))
	})
}

func TestAnyPairsBuildTheSetOfTheirEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, pairs := anyPairs(t)
		directed := rapid.Bool().Draw(t, "directed")
		set, want := map[Edge]bool{}, Report{Listed: int64(len(pairs))}
		for _, e := range pairs {
			switch {
			case e.Node == e.Neighbour:
				want.SelfLoops++
			case set[e]:
				want.Duplicates++
			default:
				want.Edges++
				set[e] = true
				if !directed {
					set[Edge{e.Neighbour, e.Node}] = true
				}
			}
		}
		g, report, err := FromEdges(nodes, pairs, Options{Directed: directed})
		require.NoError(t, err)
		require.NoError(t, g.check())
		require.Equal(t, want, report)
		require.Equal(t, sorted(set), list(g))

		symmetric := true
		for e := range set {
			symmetric = symmetric && set[Edge{e.Neighbour, e.Node}]
		}
		require.Equal(t, symmetric, g.IsSymmetric())
		for v := range int32(nodes) {
			for u := range int32(nodes) {
				require.Equal(t, set[Edge{v, u}], g.HasEdge(v, u))
			}
		}
	})
}

func TestInducedHoldsExactlyTheEdgesAmongItsNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, pairs := anyPairs(t)
		g, _, err := FromEdges(nodes, pairs, Options{Directed: rapid.Bool().Draw(t, "directed")})
		require.NoError(t, err)
		chosen := rapid.SliceOfDistinct(rapid.Int32Range(0, int32(nodes-1)), func(v int32) int32 { return v }).Draw(t,
			"chosen")
		keep := func(v, u int32) bool { return true }
		if rapid.Bool().Draw(t, "filtered") {
			keep = func(v, u int32) bool { return (v+u)%3 != 0 }
		}
		sub, index, err := g.InducedWhere(chosen, keep)
		require.NoError(t, err)
		require.NoError(t, sub.check())
		require.Equal(t, len(chosen), sub.NumNodes())
		for v := range int32(nodes) {
			require.Equal(t, int32(slices.Index(chosen, v)), index[v])
		}
		for i, v := range chosen {
			for j, u := range chosen {
				require.Equal(t, g.HasEdge(v, u) && keep(v, u), sub.HasEdge(int32(i), int32(j)))
			}
		}
	})
}

func TestWithDiagonalPutsEachNodeIntoItsRow(t *testing.T) {
	g, _, err := FromEdges(4, []Edge{{0, 2}, {1, 2}}, Options{})
	require.NoError(t, err)
	with := g.Matrix().WithDiagonal()
	assert.Equal(t, []int64{0, 2, 4, 7, 8}, with.Offsets)
	assert.Equal(t, []int32{0, 2, 1, 2, 0, 1, 2, 3}, with.Indices)
}

func TestTransposeMirrorsEveryEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Matrix{Rows: rapid.IntRange(0, 8).Draw(t, "rows"), Columns: rapid.IntRange(1, 8).Draw(t, "columns"),
			Offsets: []int64{0}}
		for range m.Rows {
			row := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(m.Columns-1)), 0, m.Columns, rapid.ID[int32]).Draw(t, "row")
			slices.Sort(row)
			m.Indices = append(m.Indices, row...)
			m.Offsets = append(m.Offsets, int64(len(m.Indices)))
		}
		for i := range m.Indices {
			m.Values = append(m.Values, float32(i))
		}
		transposed, from := m.Transpose()
		rows, columns := m.RowIndices(), transposed.RowIndices()
		require.Len(t, from, m.NumEntries())
		for i, at := range from {
			require.Equal(t, rows[at], transposed.Indices[i])
			require.Equal(t, m.Indices[at], columns[i])
			require.Equal(t, m.Values[at], transposed.Values[i])
		}
		for r := range transposed.Rows {
			require.True(t, slices.IsSorted(transposed.Indices[transposed.Offsets[r]:transposed.Offsets[r+1]]))
		}
		back, _ := transposed.Transpose()
		if m.Values != nil {
			require.Equal(t, m, back)
		}
	})
}
