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
	results := Train(2, train.Experiment{Graph: nb.Data("sbm:nodes=90,classes=3"), Parameters: p, Setting: datasets.Transductive, TrainPercent: 20, SplitSeed: 1})
	require.Len(t, results, 2)
	for i, r := range results {
		assert.EqualValues(t, i+1, r.Seed)
		assert.NotEmpty(t, r.Weights)
	}
}
