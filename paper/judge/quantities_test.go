package judge

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
)

func TestQuantitiesByHand(t *testing.T) {
	// 0-1, 1-2, 2-3, 3-4, 1-3; classes a a b b b; 0 and 1 train, 2 validates, 3 and 4 test.
	edges, _, err := csr.FromEdges(5, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 2}, {Node: 2, Neighbour: 3},
		{Node: 3, Neighbour: 4}, {Node: 1, Neighbour: 3}}, csr.Options{})
	require.NoError(t, err)
	g := &datasets.Graph{Edges: edges, Labels: []int32{0, 0, 1, 1, 1}, Classes: []string{"a", "b"},
		Features: datasets.Features{Rows: 5, Width: 1, Dense: make([]float32, 5)}}
	s := &datasets.Split{Train: []int32{0, 1}, Validation: []int32{2}, Test: []int32{3, 4}}

	// 3 of 5 edges stay within a class; a has 4 of 10 ends: (0.6 - 0.52) / 0.48.
	homophily := (0.6 - 0.52) / 0.48
	v, err := datasets.NewView(g, s, datasets.Transductive, "")
	require.NoError(t, err)
	q := QuantitiesOf(g, v)
	require.InDelta(t, homophily, q.AdjustedHomophily, 1e-12)
	// 3 has degree 3 and the train neighbour 1, 4 degree 1; train nodes have degrees 1 and 3.
	q.AdjustedHomophily = 0
	require.Equal(t, Quantities{TrainNeighbours: 0.5, Degree: 2, TrainShare: 0.4}, q)

	v, err = datasets.NewView(g, s, datasets.Inductive, datasets.TrainEdges)
	require.NoError(t, err)
	q = QuantitiesOf(g, v)
	require.InDelta(t, 0.5, q.TrainNeighbours, 1e-12)
	// Trained on 0-1, so both have degree 1; tested with 1-3 alone: 1 and 0.
	require.InDelta(t, math.Log2(0.5), q.DegreeShift, 1e-12)
}
