package explain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn/internal/gnntest"
)

func TestWhatDoesNotFitIntoMemoryIsNotExplained(t *testing.T) {
	const neighbours = 1000
	edges := make([][2]int32, neighbours)
	for k := range edges {
		edges[k] = [2]int32{0, int32(k + 1)}
	}
	g := &datasets.Graph{Edges: gnntest.Undirected(t, neighbours+1, edges)}
	o := Options{Masks: defaultMasks, Limit: defaultLimit}
	left := memory.Left{Bytes: 5 << 20, Of: "this machine"}
	require.NoError(t, treeFits(t.Context(), g, 0, 1, o, left))
	o.Masks = 100
	left.Bytes = 1 << 20
	require.EqualError(t, treeFits(t.Context(), g, 0, 1, o, left), "explaining node 0 by 16000 masks of its tree of 1001 "+
		"nodes takes about 1 MB of memory, and this machine leaves 1 MB: ask for fewer masks, of which each branch needs "+
		"16, or for a node with a smaller tree")
	o.Limit = 1000
	require.NoError(t, treeFits(t.Context(), g, 0, 1, o, left), "its limit is said instead")
	require.ErrorContains(t, fits(g, 0, 1001, mostMasks, memory.Left{Bytes: 500 << 20, Of: "this machine"}),
		"takes about 873 MB of memory, and this machine leaves 524 MB")
}
