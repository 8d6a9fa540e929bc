package batches

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/gnntest"
	"nodemask/internal/memory"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/learn"
	"nodemask/nmgnn/train"
)

func experiment(t *testing.T, model string) train.Experiment {
	t.Helper()
	return train.Experiment{Graph: gnntest.TwoCamps(t), Parameters: small(model), Setting: datasets.Transductive,
		TrainPercent: 30, SplitSeed: 1}
}

func TestDivergingBatchesNameSeedEpochAndRemedy(t *testing.T) {
	for _, on := range hyper.StopOns() {
		x := experiment(t, "gin")
		x.Parameters.LearningRate, x.Parameters.StopOn, x.Parameters.Dropout = 1e38, on, 0
		results, err := Run(t.Context(), gnntest.Go(t), x, Options{Clusters: 3}, train.Seeds(7, 1), train.RunOptions{})
		require.Regexp(t, `^trial 1 \(seed 7\): epoch \d+: the training loss is (NaN|.Inf): the learning rate 1e\+38 `+
			`may be too high`, err, on)
		require.Nil(t, results[0])
		x.Parameters.MaxEpochs = 1 // validation alone reads what the last batch's step made
		results, err = Run(t.Context(), gnntest.Go(t), x, Options{Clusters: 1}, train.Seeds(7, 1), train.RunOptions{})
		require.Regexp(t, `^trial 1 \(seed 7\): (no validation loss in 1 epochs was a number|epoch 1, the best one: `+
			`the validation loss is NaN): the learning rate`, err, on)
		require.Nil(t, results[0])
	}
}

func TestTooLargeBatchesAreRefusedBeforehand(t *testing.T) {
	if _, ok := memory.Get(); !ok {
		t.Skip("skipped: this system does not say how much memory is left")
	}
	x := experiment(t, "gin")
	x.Parameters.Hidden, x.Parameters.MLPLayers, x.Parameters.Layers = 1<<16, 2, 64
	for what, o := range map[string]Options{"a number of batches": {Clusters: 3},
		"a limit above what there is": {Clusters: 3, Memory: 1 << 60}} {
		_, err := Run(t.Context(), gnntest.Go(t), x, o, train.Seeds(1, 1), train.RunOptions{})
		require.ErrorContains(t, err, "ask for more batches, or allow less memory", what)
	}
}

func TestNoNumberOfBatchesThatWouldFitIsPassedOver(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 3000, Classes: 20, MeanDegree: 6, Seed: 1})
	require.NoError(t, err)
	view := gnntest.View(t, g, 10, datasets.Transductive)
	p := small("gin")
	p.Hidden = 4096 // so that what a batch has of its nodes is more than what programs take
	passed := 0
	const now = 1 << 20
	fixed := now + int64(g.NumNodes())*learn.PlaceBytes
	var last Estimate
	for batches := 1; batches <= 64; batches *= 2 {
		o := Options{Clusters: batches}
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
	x := experiment(t, "gin")
	_, err := Run(t.Context(), gnntest.Go(t), x, Options{Clusters: 100_000}, train.Seeds(7, 1), train.RunOptions{})
	n := x.Graph.NumNodes()
	require.ErrorContains(t, err, fmt.Sprintf("100000 batches of a graph of %d nodes to train on: expected at most one a "+
		"node: give --batches fewer", n))
	_, err = Run(t.Context(), gnntest.Go(t), x, Options{Clusters: n}, train.Seeds(7, 1), train.RunOptions{})
	require.NoError(t, err)
}
