package cited_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/cited"
	"nodemask/paper/multiverse"
)

func TestTheCitedReadingIsWhatTheProtocolsTableSays(t *testing.T) {
	q, err := cited.Question(cited.Cited, "cora", "gin", datasets.Transductive)
	require.NoError(t, err)
	first := q.Readings[0]
	require.Equal(t, make(multiverse.Reading, len(q.Axes)), first)
	require.Equal(t, "the cited reading", cited.Departure(q.Axes, first))
	c, err := first.Cell(q.Axes, multiverse.Masked, "cora", "gin", datasets.Transductive, 10)
	require.NoError(t, err)
	require.NoError(t, c.Parameters.Check())
	require.Equal(t, hyper.Parameters{Preset: "standard", Model: "gin", Layers: 2, Hidden: 64, MLPLayers: 2,
		Norm: hyper.NormBoth, Readout: hyper.ReadoutAll, Dropout: 0.5, DropoutOn: hyper.DropoutOnScores,
		KeepRate: 0.5, MaskOver: hyper.MaskTrain, LearningRate: 0.01, NormalizeFeatures: true, MaxEpochs: 1000, Patience: 50,
		StopOn: hyper.StopOnEither}, c.Parameters)

	q, err = cited.Question(cited.Cited, "cora", "gat", datasets.Inductive)
	require.NoError(t, err)
	for arm, want := range map[multiverse.Arm]hyper.Parameters{
		multiverse.Plain: {KeepRate: 1, MaskOver: hyper.MaskAll, AttentionDropout: 0.6},
		// inductively the train nodes are all
		multiverse.Masked: {KeepRate: 0.5, MaskOver: hyper.MaskAll, SelfTerm: hyper.SelfKept},
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
		part        cited.Part
		data, model string
		setting     datasets.Setting
		readings    int
		trained     int // of one size, both arms
	}{
		{cited.Cited, "cora", "gin", datasets.Inductive, 2 * 2, 3},                 // arrivals × rescaling
		{cited.Cited, "cora", "gin", datasets.Transductive, 2, 3},                  // rescaling
		{cited.Cited, "pubmed", "gat", datasets.Inductive, 2 * 2 * 2 * 2, 6},       // × own term × attention dropout
		{cited.Departures, "cora", "gin", datasets.Transductive, 1 + 3 + 3 + 1, 9}, // body, stopping, masked nodes
		// body, stopping, arrivals, and raw features, which the half of the stated readings leaves out
		{cited.Departures, "pubmed", "gin", datasets.Inductive, 1 + 3 + 3 + 2 + 1, 10},
		// stopping, arrivals, own term and attention dropout
		{cited.Departures, "cora", "sgat", datasets.Inductive, 1 + 3 + 2 + 2, 4},
		{cited.Stated, "citeseer", "gin", datasets.Inductive, 2 * 2 * 2 * 2, 24},
		{cited.Stated, "pubmed", "gin", datasets.Inductive, 4 * 2, 12},
		{cited.Scale, "cora", "gin", datasets.Inductive, 2 * 2, 6},
		{cited.Scale, "cora", "sgat", datasets.Inductive, 2, 3},
		{cited.Stated, "cora", "gat", datasets.Inductive, 2, 3},
	} {
		q, err := cited.Question(c.part, c.data, c.model, c.setting)
		require.NoError(t, err)
		require.Len(t, q.Readings, c.readings, "%+v", c)
		seen := map[string]bool{}
		for _, r := range q.Readings {
			require.False(t, seen[cited.Departure(q.Axes, r)], "twice: %v", r)
			seen[cited.Departure(q.Axes, r)] = true
		}
		require.Contains(t, seen, "the cited reading")
		q.Sizes = []int{10}
		cells, err := multiverse.Cells([]multiverse.Question{q})
		require.NoError(t, err)
		require.Len(t, cells, c.trained, "%+v", c)
	}
	_, err := cited.Question("luck", "cora", "gin", datasets.Inductive)
	require.ErrorContains(t, err, `no part "luck"`)
	_, err = cited.Question(cited.Cited, "cora", "gcn", datasets.Inductive)
	require.ErrorContains(t, err, `no cited reading of "gcn"`)
}
