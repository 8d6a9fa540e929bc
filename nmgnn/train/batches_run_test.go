package train

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

func batchExperiment(t *testing.T, model string) Experiment {
	t.Helper()
	return Experiment{Graph: gnntest.TwoCamps(t), Parameters: smallOf(model), Setting: datasets.Transductive,
		TrainPercent: 30, SplitSeed: 1}
}

func TestDivergingBatchesNameSeedEpochAndRemedy(t *testing.T) {
	for _, on := range hyper.StopOns() {
		x := batchExperiment(t, "gin")
		x.Parameters.LearningRate, x.Parameters.StopOn, x.Parameters.Dropout = 1e38, on, 0
		results, err := InBatches(t.Context(), gnntest.Go(t), x, 3, hyper.Seeds(7, 1), RunOptions{})
		require.Regexp(t, `^trial 1 \(seed 7\): epoch \d+: the training loss is (NaN|.Inf): the learning rate 1e\+38 `+
			`may be too high`, err, on)
		require.Nil(t, results[0])
	}
}

func TestMoreBatchesThanNodesAreRefused(t *testing.T) {
	x := batchExperiment(t, "gin")
	_, err := InBatches(t.Context(), gnntest.Go(t), x, 100_000, hyper.Seeds(7, 1), RunOptions{})
	n := x.Graph.NumNodes()
	require.ErrorContains(t, err, fmt.Sprintf("100000 batches of a graph of %d nodes to train on: expected at most one a "+
		"node: take fewer", n))
	_, err = InBatches(t.Context(), gnntest.Go(t), x, n, hyper.Seeds(7, 1), RunOptions{})
	require.NoError(t, err)
}

func TestBatchesRefuseWhatTheWholeGraphRefuses(t *testing.T) {
	x := batchExperiment(t, "gin")
	run := func() error {
		_, err := InBatches(t.Context(), gnntest.Go(t), x, 2, hyper.Seeds(1, 1), RunOptions{})
		return err
	}
	_, err := InBatches(t.Context(), nil, x, 2, hyper.Seeds(1, 1), RunOptions{})
	require.ErrorContains(t, err, "the backend is closed, or was never opened: open one with backend.Open")
	x.Graph.Features.Dense[5] = float32(math.NaN())
	const notFinite = "features: row 1, column 1 is NaN: expected a finite number"
	require.ErrorContains(t, run(), notFinite)
	require.ErrorContains(t, Spill(x.Graph), notFinite)
	x.Graph = nil
	require.ErrorContains(t, run(), "the graph is nil: expected one that datasets.Open reads")
}

func TestWhatATrialInBatchesGivesIsThatOfItsWeights(t *testing.T) {
	b := gnntest.Go(t)
	for _, model := range hyper.Models() {
		x := batchExperiment(t, model)
		x.Setting, x.Arrivals, x.Keep, x.CacheInference = datasets.Inductive, datasets.NoValidation, true, true
		x.Parameters.Layers, x.Parameters.MaxEpochs = 3, 3
		results, err := InBatches(t.Context(), b, x, 3, hyper.Seeds(5, 1), RunOptions{})
		require.NoError(t, err, model)
		r := results[0]
		split, err := x.Split(1)
		require.NoError(t, err)
		view, err := datasets.NewView(x.Graph, split, x.Setting, x.Arrivals)
		require.NoError(t, err)
		of := subject{graph: x.Graph, view: view}
		network := r.Saved(x).Network()
		features := x.Graph.Features
		if x.Parameters.NormalizeFeatures {
			features = features.RowNormalized()
		}
		over := func(edges *csr.Graph, nodes []int32) []infer.Representation {
			all, err := network.Represent(b, edges, features.Select(nodes), infer.Options{})
			require.NoError(t, err)
			return all
		}
		all := over(view.Train.Edges, view.Train.Nodes)
		require.Len(t, r.Cache.Hidden, 2)
		for i, h := range r.Cache.Hidden {
			require.Equal(t, all[i].Width, h.Width)
			require.InDeltaSlice(t, all[i].Values, h.Values, 1e-4, "%s, layer %d", model, i+1)
		}
		require.Equal(t, features.Select(view.Train.Nodes), r.Cache.Features)
		require.Equal(t, of.onGraph(last(over(view.Test.Edges, view.Test.Nodes)).Classes()), r.Predictions)
		for together, got := range map[bool]float64{true: r.Cached.MacroF1, false: r.Apart.MacroF1} {
			edges, err := view.CachedEdges(together)
			require.NoError(t, err)
			want, err := of.score(of.onGraph(last(over(edges, view.Test.Nodes)).Classes()))
			require.NoError(t, err)
			require.InDelta(t, want.MacroF1, got, 1e-9, "%s, together %v", model, together)
		}
	}
}
