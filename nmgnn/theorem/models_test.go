package theorem

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/internal/memory"
)

func TestATheoremThatDoesNotFitIntoMemoryIsNotChecked(t *testing.T) {
	var edges []csr.Edge
	for v := range int32(1000) {
		edges = append(edges, csr.Edge{Node: 0, Neighbour: v + 1})
	}
	star, _, err := csr.FromEdges(1001, edges, csr.Options{})
	require.NoError(t, err)
	g := &datasets.Graph{Edges: star, Features: randomFeatures(1001, 16, 1)}
	require.NoError(t, checkFits(t.Context(), g, 1, 2, memory.Left{Bytes: 1e9, Of: "this machine"}))
	require.ErrorContains(t, checkFits(t.Context(), g, 0, 5, memory.Left{Bytes: 1e9, Of: "this machine"}),
		"and a tree of 1002002001, and this machine leaves 1.0 GB: ask for fewer hops")
}
