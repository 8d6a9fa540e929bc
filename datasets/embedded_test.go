package datasets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
)

func TestEmbeddedCoraHasItsPublishedShape(t *testing.T) {
	g, err := Cora()
	require.NoError(t, err)
	require.NoError(t, g.Check())
	assert.Equal(t, 2708, g.NumNodes())
	assert.Equal(t, csr.Report{Listed: 5429, Duplicates: 151, Edges: 5278}, g.Report)
	assert.Equal(t, int64(2*5278), g.Edges.NumEdges())
	assert.Equal(t, 1433, g.Features.Width)
	assert.Equal(t, int64(49216), g.Features.NonZeros())
	assert.Equal(t, []string{"Case_Based", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods", "Reinforcement_Learning", "Rule_Learning", "Theory"}, g.Classes)
	assert.Equal(t, []int{298, 418, 818, 426, 217, 180, 351}, classSizes(g))
	assert.Equal(t, "31336", g.NodeIDs[0])
	for _, x := range g.Features.Values {
		require.Equal(t, float32(1), x)
	}
}

func classSizes(g *Graph) []int {
	sizes := make([]int, g.NumClasses())
	for _, c := range g.Labels {
		if c != Unlabelled {
			sizes[c]++
		}
	}
	return sizes
}

func BenchmarkCora(b *testing.B) {
	for b.Loop() {
		if _, err := Cora(); err != nil {
			b.Fatal(err)
		}
	}
}
