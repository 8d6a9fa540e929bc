package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

func TestTrialsWalkThroughTheSplitsOfAGraph(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 200})
	require.NoError(t, err)
	for first := range int32(3) {
		g.OwnSplits = append(g.OwnSplits, &datasets.Split{Train: []int32{first}})
	}
	g.OwnSplit = g.OwnSplits[0]
	x := Experiment{Graph: g, OwnSplit: true, SplitSeed: 1}
	var train []int32
	for seed := range uint64(4) {
		split, err := x.Split(seed + 1)
		require.NoError(t, err)
		train = append(train, split.Train...)
	}
	require.Equal(t, []int32{1, 2, 0, 1}, train)
	require.True(t, x.Splits())
	g.OwnSplits = g.OwnSplits[:1]
	require.False(t, x.Splits())
}
