package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
)

// pairs is a graph of joined pairs, or of single nodes, all with the same single feature.
func pairs(t *testing.T, n int, joined bool) *datasets.Graph {
	t.Helper()
	features := datasets.Features{Rows: n, Width: 1, Dense: make([]float32, n)}
	labels := make([]int32, n)
	var edges []csr.Edge
	for v := range n {
		features.Dense[v], labels[v] = 1, int32(v/2%2)
		if joined && v%2 == 1 {
			edges = append(edges, csr.Edge{Node: int32(v - 1), Neighbour: int32(v)})
		}
	}
	g, _, err := csr.FromEdges(n, edges, csr.Options{})
	require.NoError(t, err)
	return &datasets.Graph{Name: "pairs", Edges: g, Features: features, Labels: labels, Classes: []string{"a", "b"}}
}

func TestAggregatesShrinkByWhatIsMasked(t *testing.T) {
	ratio := func(g *datasets.Graph, mean bool, setting datasets.Setting) float64 {
		r, err := aggregateRatio(g, g.Features.Matrix(), mean, setting, 50)
		require.NoError(t, err)
		return r
	}
	alone, joined := pairs(t, 2000, false), pairs(t, 2000, true)
	for _, setting := range datasets.Settings() {
		assert.InDelta(t, 1, ratio(alone, false, setting), 1e-12, "a node without neighbours sums up itself, masked or not")
		assert.InDelta(t, 1, ratio(alone, true, setting), 1e-12)
	}
	// A node's partner is a train node in half of the pairs, and masked in half of those: sums of 2 average 1.75.
	assert.InDelta(t, 2/1.75, ratio(joined, false, datasets.Transductive), 0.01)
	assert.InDelta(t, 1/0.875, ratio(joined, true, datasets.Transductive), 0.01, "a mean keeps its denominator")
	// Inductively only train nodes send messages: 1.5 in testing, 1.25 in training.
	assert.InDelta(t, 1.5/1.25, ratio(joined, false, datasets.Inductive), 0.01)
}
