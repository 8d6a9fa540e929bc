package judge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
)

func TestTheCitedReadingIsWhatTheProtocolsTableSays(t *testing.T) {
	q, err := judge.QuestionOf(judge.Cited, "cora", "gin", datasets.Transductive)
	require.NoError(t, err)
	first := q.Readings[0]
	require.Equal(t, make(judge.Reading, len(q.Axes)), first)
	require.Equal(t, "the cited reading", judge.Departure(q.Axes, first))
	c, err := first.Cell(q.Axes, judge.Masked, "cora", "gin", datasets.Transductive, 10)
	require.NoError(t, err)
	require.NoError(t, c.Parameters.Check())
	require.Equal(t, hyper.Parameters{Preset: "standard", Model: "gin", Layers: 2, Hidden: 64, MLPLayers: 2,
		Norm: hyper.NormBoth, Readout: hyper.ReadoutAll, Dropout: 0.5, DropoutOn: hyper.DropoutOnScores,
		KeepRate: 0.5, MaskOver: hyper.MaskTrain, LearningRate: 0.01, NormalizeFeatures: true, MaxEpochs: 1000, Patience: 50,
		StopOn: hyper.StopOnEither}, c.Parameters)

	q, err = judge.QuestionOf(judge.Cited, "cora", "gat", datasets.Inductive)
	require.NoError(t, err)
	for arm, want := range map[judge.Arm]hyper.Parameters{
		judge.Plain: {KeepRate: 1, MaskOver: hyper.MaskAll, AttentionDropout: 0.6},
		// inductively only train nodes exist
		judge.Masked: {KeepRate: 0.5, MaskOver: hyper.MaskAll, SelfTerm: hyper.SelfKept},
	} {
		want.Preset, want.Model, want.Layers, want.Hidden, want.Heads, want.MLPLayers, want.Dropout = "gat", "gat", 2, 64, 8,
			1, 0.6
		want.LearningRate, want.WeightDecay, want.NormalizeFeatures, want.MaxEpochs, want.Patience, want.StopOn = 0.005, 5e-4,
			true, 1000, 50, hyper.StopOnEither
		c, err := q.Readings[0].Cell(q.Axes, arm, "cora", "gat", datasets.Inductive, 10)
		require.NoError(t, err)
		require.Equal(t, want, c.Parameters)
		require.Equal(t, datasets.TrainEdges, c.Arrivals)
	}
}

func TestEachPartAsksAboutTheReadingsThatTheProtocolLists(t *testing.T) {
	for _, c := range []struct {
		part        judge.Part
		data, model string
		setting     datasets.Setting
		readings    int
		trained     int // of one size, both arms
	}{
		{judge.Cited, "cora", "gin", datasets.Inductive, 2 * 2, 3},                 // arrivals × rescaling
		{judge.Cited, "cora", "gin", datasets.Transductive, 2, 3},                  // rescaling
		{judge.Cited, "pubmed", "gat", datasets.Inductive, 2 * 2 * 2 * 2, 6},       // × own term × attention dropout
		{judge.Departures, "cora", "gin", datasets.Transductive, 1 + 3 + 3 + 1, 9}, // body, stopping, masked nodes
		// body, stopping, arrivals, and raw features, which its half of the stated readings lacks
		{judge.Departures, "pubmed", "gin", datasets.Inductive, 1 + 3 + 3 + 2 + 1, 10},
		// stopping, arrivals, own term and attention dropout
		{judge.Departures, "cora", "sgat", datasets.Inductive, 1 + 3 + 2 + 2, 4},
		{judge.Stated, "citeseer", "gin", datasets.Inductive, 2 * 2 * 2 * 2, 24},
		{judge.Stated, "pubmed", "gin", datasets.Inductive, 4 * 2, 12},
		{judge.Scale, "cora", "gin", datasets.Inductive, 2 * 2, 6},
		{judge.Scale, "cora", "sgat", datasets.Inductive, 2, 3},
		{judge.Stated, "cora", "gat", datasets.Inductive, 2, 3},
	} {
		q, err := judge.QuestionOf(c.part, c.data, c.model, c.setting)
		require.NoError(t, err)
		require.Len(t, q.Readings, c.readings, "%+v", c)
		seen := map[string]bool{}
		for _, r := range q.Readings {
			require.False(t, seen[judge.Departure(q.Axes, r)], "twice: %v", r)
			seen[judge.Departure(q.Axes, r)] = true
		}
		require.Contains(t, seen, "the cited reading")
		q.Sizes = []int{10}
		cells, err := judge.Cells([]judge.Question{q})
		require.NoError(t, err)
		require.Len(t, cells, c.trained, "%+v", c)
	}
	_, err := judge.QuestionOf("luck", "cora", "gin", datasets.Inductive)
	require.ErrorContains(t, err, `no part "luck"`)
	_, err = judge.QuestionOf(judge.Cited, "cora", "gcn", datasets.Inductive)
	require.ErrorContains(t, err, `no cited reading of "gcn"`)
}
