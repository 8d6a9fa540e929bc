package train

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/learn"
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
		results, err := InBatches(t.Context(), gnntest.Go(t), x, Batches{Clusters: 3}, hyper.Seeds(7, 1), RunOptions{})
		require.Regexp(t, `^trial 1 \(seed 7\): epoch \d+: the training loss is (NaN|.Inf): the learning rate 1e\+38 `+
			`may be too high`, err, on)
		require.Nil(t, results[0])
		x.Parameters.MaxEpochs = 1 // only validation reads what the last step made
		results, err = InBatches(t.Context(), gnntest.Go(t), x, Batches{Clusters: 1}, hyper.Seeds(7, 1), RunOptions{})
		require.Regexp(t, `^trial 1 \(seed 7\): (no validation loss in 1 epochs was a number|epoch 1, the best one: `+
			`the validation loss is NaN): the learning rate`, err, on)
		require.Nil(t, results[0])
	}
}

func TestTooLargeBatchesAreRefusedBeforehand(t *testing.T) {
	if _, ok := memory.Get(); !ok {
		t.Skip("skipped: this system does not say how much memory is left")
	}
	x := batchExperiment(t, "gin")
	x.Parameters.Hidden, x.Parameters.MLPLayers, x.Parameters.Layers = 1<<16, 2, 64
	for what, o := range map[string]Batches{"a number of batches": {Clusters: 3},
		"a limit above what there is": {Clusters: 3, Memory: 1 << 60}} {
		_, err := InBatches(t.Context(), gnntest.Go(t), x, o, hyper.Seeds(1, 1), RunOptions{})
		require.ErrorContains(t, err, "ask for more batches, or allow less memory", what)
	}
}

func TestNoNumberOfBatchesThatWouldFitIsPassedOver(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 3000, Classes: 20, MeanDegree: 6, Seed: 1})
	require.NoError(t, err)
	view := gnntest.View(t, g, 10, datasets.Transductive)
	p := smallOf("gin")
	p.Hidden = 4096 // so that batches outweigh programs
	passed := 0
	const now = 1 << 20
	fixed := now + int64(g.NumNodes())*learn.PlaceBytes
	var last Estimate
	for batches := 1; batches <= 64; batches *= 2 {
		o := Batches{Clusters: batches}
		e := estimateFor(gnntest.Go(t), g.Features, view, p, &o)
		e.Bytes += now
		for _, before := range []Estimate{{}, last} {
			least := fixed + leastOf(o, g.Features, view.Train, p, before, fixed)
			require.LessOrEqual(t, least, e.Bytes, "%d batches", batches)
			for _, share := range []int64{1, 10, 50, 90, 99} {
				if least > e.Bytes*share/100 {
					passed++
				}
			}
		}
		last = e
	}
	require.Greater(t, passed, 10)
}

func TestMoreBatchesThanNodesAreRefused(t *testing.T) {
	x := batchExperiment(t, "gin")
	_, err := InBatches(t.Context(), gnntest.Go(t), x, Batches{Clusters: 100_000}, hyper.Seeds(7, 1), RunOptions{})
	n := x.Graph.NumNodes()
	require.ErrorContains(t, err, fmt.Sprintf("100000 batches of a graph of %d nodes to train on: expected at most one a "+
		"node: take fewer", n))
	_, err = InBatches(t.Context(), gnntest.Go(t), x, Batches{Clusters: n}, hyper.Seeds(7, 1), RunOptions{})
	require.NoError(t, err)
}

func TestOptionsThatCannotBeTrainedWithAreRefused(t *testing.T) {
	for want, o := range map[string]Batches{
		"-1 clusters: expected 1 or more":        {Clusters: -1},
		"-1 bytes of memory: expected 1 or more": {Memory: -1},
	} {
		_, err := InBatches(t.Context(), gnntest.Go(t), batchExperiment(t, "gin"), o, hyper.Seeds(1, 1), RunOptions{})
		require.ErrorContains(t, err, want)
	}
	x, view := batchExperiment(t, "gin"), gnntest.View(t, gnntest.TwoCamps(t), 30, datasets.Transductive)
	x.Parameters.Regulariser, x.Parameters.RegulariserRate = hyper.DropEdgeRegulariser, 0.5
	_, err := newBatchTrainer(gnntest.Go(t), nmgnn.Build(x.Parameters, 2), x.Graph, view, batchOptions(t, x.Parameters, 2))
	require.ErrorContains(t, err, "DropEdge drops both directions", "a limit of memory may lead to more clusters than one")
	_, ok := reflect.TypeFor[Batches]().FieldByName("MaxEpochs")
	require.False(t, ok, "how to train is what the experiment's parameters say")
}

func TestBatchesRefuseWhatTheWholeGraphRefuses(t *testing.T) {
	x := batchExperiment(t, "gin")
	run := func() error {
		_, err := InBatches(t.Context(), gnntest.Go(t), x, Batches{Clusters: 2}, hyper.Seeds(1, 1), RunOptions{})
		return err
	}
	_, err := InBatches(t.Context(), nil, x, Batches{}, hyper.Seeds(1, 1), RunOptions{})
	require.ErrorContains(t, err, "the backend is closed, or was never opened: open one with backend.Open")
	x.Graph.Features.Dense[5] = float32(math.NaN())
	const notFinite = "features: row 1, column 1 is NaN: expected a finite number"
	require.ErrorContains(t, run(), notFinite)
	_, err = Spill(x.Graph, t.TempDir())
	require.ErrorContains(t, err, notFinite)
	x.Graph = nil
	require.ErrorContains(t, run(), "the graph is nil: expected one that datasets.Open reads")
}

func TestBatchesKeepTheCacheThatTheWholeGraphKeeps(t *testing.T) {
	for _, setting := range datasets.Settings() {
		x := batchExperiment(t, "gin")
		x.Setting, x.Keep = setting, true
		whole, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 1), RunOptions{})
		require.NoError(t, err)
		divided, err := InBatches(t.Context(), gnntest.Go(t), x, Batches{}, hyper.Seeds(1, 1), RunOptions{})
		require.NoError(t, err)
		want, got := whole[0].Cache, divided[0].Cache
		require.Equal(t, whole[0].Weights, divided[0].Weights)
		require.Equal(t, want.IDs, got.IDs)
		require.Equal(t, want.Features, got.Features)
		require.Len(t, got.Hidden, 1)
		require.InDeltaSlice(t, want.Hidden[0].Values, got.Hidden[0].Values, 1e-5)
	}
}

func TestPredictionsOfBatchesAreNumberedAsTheGraphIs(t *testing.T) {
	x := batchExperiment(t, "gin")
	x.Setting, x.Arrivals, x.CacheInference = datasets.Inductive, datasets.NoValidation, true
	whole, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 1), RunOptions{})
	require.NoError(t, err)
	divided, err := InBatches(t.Context(), gnntest.Go(t), x, Batches{}, hyper.Seeds(1, 1), RunOptions{})
	require.NoError(t, err)
	require.Len(t, divided[0].Predictions, x.Graph.NumNodes())
	require.Equal(t, whole[0].Predictions, divided[0].Predictions)
	require.Equal(t, whole[0].Test, divided[0].Test)
	require.Equal(t, whole[0].Cached, divided[0].Cached)
}

func TestTheCacheOfATrialInBatchesIsThatOfItsWeights(t *testing.T) {
	b := gnntest.Go(t)
	for _, model := range hyper.Models() {
		for _, clusters := range []int{1, 3} {
			x := batchExperiment(t, model)
			x.Setting, x.Keep, x.CacheInference = datasets.Inductive, true, true
			x.Parameters.Layers, x.Parameters.MaxEpochs = 3, 3
			results, err := InBatches(t.Context(), b, x, Batches{Clusters: clusters}, hyper.Seeds(5, 1), RunOptions{})
			require.NoError(t, err, model)
			r := results[0]
			split, err := x.Split(1)
			require.NoError(t, err)
			view, err := datasets.NewView(x.Graph, split, x.Setting, x.Arrivals)
			require.NoError(t, err)
			network := r.Saved(x).Network()
			features := x.Graph.Features
			if x.Parameters.NormalizeFeatures {
				features = features.RowNormalized()
			}
			all, err := network.Represent(b, view.Train.Edges, features.Select(view.Train.Nodes), infer.Options{})
			require.NoError(t, err)
			require.Len(t, r.Cache.Hidden, 2)
			for i, h := range r.Cache.Hidden {
				require.Equal(t, all[i].Width, h.Width)
				require.InDeltaSlice(t, all[i].Values, h.Values, 1e-4, "%s in %d clusters, layer %d", model, clusters, i+1)
			}
			require.Equal(t, features.Select(view.Train.Nodes), r.Cache.Features)
			for together, got := range map[bool]float64{true: r.Cached.MacroF1, false: r.Apart.MacroF1} {
				edges, err := learn.CachedEdges(view, together)
				require.NoError(t, err)
				all, err := network.Represent(b, edges, features.Select(view.Test.Nodes), infer.Options{})
				require.NoError(t, err)
				want, err := learn.Evaluate(x.Graph, view.Test, all[len(all)-1].Classes())
				require.NoError(t, err)
				require.InDelta(t, want.MacroF1, got, 1e-9, "%s in %d clusters, together %v", model, clusters, together)
			}
		}
	}
}
