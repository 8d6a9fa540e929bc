package incell

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nb"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
)

func TestTrialsOfAnExperimentComeBack(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	p, err := hyper.Preset("standard")
	require.NoError(t, err)
	p.Hidden, p.MaxEpochs = 8, 3
	results := Train(2, train.Experiment{Graph: nb.Data("sbm:nodes=90,classes=3"), Parameters: p,
		Setting: datasets.Transductive, TrainPercent: 20, SplitSeed: 1})
	require.Len(t, results, 2)
	for i, r := range results {
		assert.EqualValues(t, i+1, r.Seed)
		assert.NotEmpty(t, r.Weights)
	}
}

func TestAccuracyIsByTheNeighboursInTheTrainSet(t *testing.T) {
	g := nb.Data("sbm:nodes=90,classes=3")
	s, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 20, Seed: 500})
	require.NoError(t, err)
	counts := make([]int, 5)
	for i, class := range classesOf(g, s) {
		counts[class]++
		n := 0
		for _, u := range g.Edges.Neighbours(s.Test[i]) {
			for _, v := range s.Train {
				if u == v {
					n++
				}
			}
		}
		assert.Equal(t, []int{0, 1, 2, 3, 3, 4, 4}[min(n, 6)], class, "%d neighbours", n)
	}
	t.Setenv("GOMLX_BACKEND", "go")
	table, err := byTrainNeighbours(t.Context(), "sbm:nodes=90,classes=3", "gin", datasets.Inductive, 20, 2)
	require.NoError(t, err)
	require.NoError(t, table.Check())
	require.Len(t, table.Rows, 5)
	assert.Equal(t, []string{"0", "1", "2", "3 to 4", "5 and more"},
		[]string{table.Rows[0][0].Text, table.Rows[1][0].Text, table.Rows[2][0].Text, table.Rows[3][0].Text,
			table.Rows[4][0].Text})
	_, err = byTrainNeighbours(t.Context(), "sbm:nodes=90,classes=3", "gcn", datasets.Inductive, 20, 2)
	require.ErrorContains(t, err, "gcn")
}
