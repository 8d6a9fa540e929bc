package train

import (
	"context"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
)

func small() hyper.Parameters {
	s, _ := hyper.Preset("standard")
	s.Hidden, s.MaxEpochs, s.KeepRate = 8, 40, 0.5
	return s
}

// experiment has small parameters on two camps.
func experiment(t testing.TB) Experiment {
	t.Helper()
	return Experiment{Graph: gnntest.TwoCamps(t), Parameters: small(), Setting: datasets.Inductive,
		Arrivals: datasets.AllEdges, TrainPercent: 30, SplitSeed: 1}
}

func trainerOf(t testing.TB, b *backend.Backend, g *datasets.Graph, view *datasets.View, s hyper.Parameters) *trainer {
	t.Helper()
	require.NoError(t, s.Check())
	trainer, err := newTrainer(b, nmgnn.Build(s, g.NumClasses()), g, view, optionsOf(s))
	require.NoError(t, err)
	t.Cleanup(trainer.Close)
	return trainer
}

func trainOnce(t testing.TB, trainer trainable, seed uint64) *Result {
	t.Helper()
	trial, err := trainBy(t.Context(), trainer, seed, nil)
	require.NoError(t, err)
	trial.Seconds = 0
	return trial
}

func TestOneSeedGivesOneTrialToTheLastDigit(t *testing.T) {
	g := gnntest.TwoCamps(t)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, setting := range []datasets.Setting{datasets.Inductive, datasets.Transductive} {
			if b.ID != "go" && setting != datasets.Inductive && !gnntest.Torture() {
				continue // two more XLA programs
			}
			view := gnntest.View(t, g, 30, setting)
			trainer := trainerOf(t, b, g, view, small())
			first, other, again := trainOnce(t, trainer, 5), trainOnce(t, trainer, 6), trainOnce(t, trainer, 5)
			require.Equal(t, first, again)
			require.NotEqual(t, first.History, other.History)
			require.Equal(t, first, trainOnce(t, trainerOf(t, b, g, view, small()), 5), "also from a program compiled anew")
		}
	})
}

func TestTheBestEpochsWeightsAreRestored(t *testing.T) {
	g, view := gnntest.Camps(t, 30, datasets.Inductive)
	for _, stopOn := range []hyper.StopOn{hyper.StopOnLoss, hyper.StopOnF1} {
		s := small()
		s.StopOn, s.Patience = stopOn, 10
		trainer := trainerOf(t, gnntest.Go(t), g, view, s)
		trial := trainOnce(t, trainer, 2)
		best := trial.History[trial.BestEpoch-1]
		for i, e := range trial.History {
			switch {
			case stopOn == hyper.StopOnLoss && i < trial.BestEpoch-1:
				require.Greater(t, e.ValidationLoss, best.ValidationLoss)
			case stopOn == hyper.StopOnLoss:
				require.GreaterOrEqual(t, e.ValidationLoss, best.ValidationLoss)
			case i < trial.BestEpoch-1:
				require.Less(t, e.ValidationF1, best.ValidationF1)
			default:
				require.LessOrEqual(t, e.ValidationF1, best.ValidationF1)
			}
		}
		require.Equal(t, best.ValidationF1, trial.Validation.MacroF1)
		require.LessOrEqual(t, len(trial.History), trial.BestEpoch+s.Patience)

		// Predictions follow from the kept weights.
		predictions, err := trainer.predict(testGraph{})
		require.NoError(t, err)
		require.Equal(t, trial.Predictions, predictions)
		kept, err := gomlx.WeightsOf[infer.Weight](trainer.store)
		require.NoError(t, err)
		require.Equal(t, trial.Weights, kept)
	}
}

func TestATrialLearnsWhatCanBeLearned(t *testing.T) {
	g := gnntest.TwoCamps(t)
	s := small()
	s.MaxEpochs = 200
	trial := trainOnce(t, trainerOf(t, gnntest.Go(t), g, gnntest.View(t, g, 50, datasets.Transductive), s), 1)
	require.Less(t, trial.History[len(trial.History)-1].TrainLoss, trial.History[0].TrainLoss)
	require.Greater(t, trial.Test.MacroF1, 0.8, "one feature alone tells four nodes in five")
}

func TestTheFirstLossIsThatOfTheFirstWeights(t *testing.T) {
	// Without dropout and masking the first training loss is a plain forward pass.
	g, view := gnntest.Camps(t, 30, datasets.Transductive)
	plain := small()
	plain.Dropout, plain.KeepRate, plain.MaxEpochs = 0, 1, 1
	masked, dropped := plain, plain
	masked.KeepRate, dropped.Dropout = 0.5, 0.5
	b := gnntest.Go(t)
	loss := func(s hyper.Parameters) float64 {
		return trainOnce(t, trainerOf(t, b, g, view, s), 1).History[0].TrainLoss
	}
	require.NotEqual(t, loss(plain), loss(masked))
	require.NotEqual(t, loss(plain), loss(dropped))
}

func TestOneAdamStepMovesByTheLearningRate(t *testing.T) {
	// Adam's first step is lr·g/(|g|+ε): its length is the learning rate.
	g, view := gnntest.Camps(t, 30, datasets.Transductive)
	s := small()
	s.Dropout, s.KeepRate, s.MaxEpochs, s.LearningRate = 0, 1, 1, 0.125
	trainer := trainerOf(t, gnntest.Go(t), g, view, s)
	require.NoError(t, trainer.start.Reset(trainer.store, trainer.options.LearningRate, 1))
	before, err := gomlx.WeightsOf[infer.Weight](trainer.store)
	require.NoError(t, err)
	trial := trainOnce(t, trainer, 1)
	moved := 0
	for i, w := range trial.Weights {
		for j, value := range w.Values {
			step := math.Abs(float64(value - before[i].Values[j]))
			if step > 1e-3 { // weights with almost zero gradient stay
				require.InDelta(t, 0.125, step, 1e-3, "%s entry %d", w.Path, j)
				moved++
			}
		}
	}
	require.Greater(t, moved, 20)
}

func TestWeightDecayIsAddedToTheGradientOfEveryWeight(t *testing.T) {
	// With a decay that drowns the gradient, Adam's first step moves every weight towards zero.
	g, view := gnntest.Camps(t, 30, datasets.Transductive)
	s := small()
	s.MaxEpochs, s.WeightDecay, s.LearningRate = 1, 1e6, 1e-4
	trainer := trainerOf(t, gnntest.Go(t), g, view, s)
	require.NoError(t, trainer.start.Reset(trainer.store, trainer.options.LearningRate, 1))
	before, err := gomlx.WeightsOf[infer.Weight](trainer.store)
	require.NoError(t, err)
	for i, w := range trainOnce(t, trainer, 1).Weights {
		for j, value := range w.Values {
			first := float64(before[i].Values[j])
			require.InDelta(t, first-math.Copysign(1e-4, first), float64(value), 2e-6, "%s entry %d", w.Path, j)
		}
	}
}

func TestTrainingEndsWithTheContext(t *testing.T) {
	g := gnntest.TwoCamps(t)
	trainer := trainerOf(t, gnntest.Go(t), g, gnntest.View(t, g, 30, datasets.Inductive), small())
	ctx, cancel := context.WithCancel(context.Background())
	trial, err := trainBy(ctx, trainer, 1, func(epoch int, _ Epoch) {
		require.LessOrEqual(t, epoch, 3)
		if epoch == 3 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, trial)
}

func TestAModelWithTheWrongNumberOfOutputsIsRefused(t *testing.T) {
	g := gnntest.TwoCamps(t)
	m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{3}}}}
	_, err := newTrainer(gnntest.Go(t), m, g, gnntest.View(t, g, 30, datasets.Inductive), options{})
	require.ErrorContains(t, err, "the last layer has 3 outputs for 2 classes")
	require.NotContains(t, err.Error(), "\n")
}

func TestAGraphWithoutFeaturesIsRefused(t *testing.T) {
	g := gnntest.TwoCamps(t)
	g.Features = datasets.Features{Rows: g.NumNodes()}
	_, err := newTrainer(gnntest.Go(t), nmgnn.Build(small(), 2), g, gnntest.View(t, g, 30, datasets.Inductive), options{})
	require.ErrorContains(t, err, "two camps: no features")
}

func TestAGraphWithoutEdgesTrainsOnFeaturesAlone(t *testing.T) {
	g := gnntest.TwoCamps(t)
	g.Edges = gnntest.Undirected(t, g.NumNodes(), nil)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		trial := trainOnce(t, trainerOf(t, b, g, gnntest.View(t, g, 50, datasets.Inductive), small()), 1)
		require.NotEmpty(t, trial.Predictions)
	})
}

// tiny returns a graph with two alternating classes, a feature that reveals the class, and these edges.
func tiny(t *testing.T, labels []int32, pairs [][2]int32) *datasets.Graph {
	t.Helper()
	x := make([][]float32, len(labels))
	for v, c := range labels {
		x[v] = []float32{float32(c), 1}
	}
	return &datasets.Graph{Name: "tiny", Edges: gnntest.Undirected(t, len(labels), pairs), Features: gnntest.SparseRows(x),
		Labels: labels, Classes: []string{"a", "b"}}
}

// phasesOf returns a transductive view with these sets.
func phasesOf(g *datasets.Graph, train, validation, test []int32) *datasets.View {
	all := make([]int32, g.NumNodes())
	for v := range all {
		all[v] = int32(v)
	}
	phase := func(score []int32) datasets.Phase { return datasets.Phase{Edges: g.Edges, Nodes: all, Score: score} }
	return &datasets.View{Setting: datasets.Transductive, Train: phase(train), Validation: phase(validation),
		Test: phase(test)}
}

func TestEveryModelTakesDegenerateGraphs(t *testing.T) {
	for _, c := range []struct {
		name string
		g    *datasets.Graph
		sets [3][]int32
	}{
		{"isolated nodes", tiny(t, []int32{0, 1, 0, 1, 0, 1}, [][2]int32{{0, 1}, {1, 2}}), [3][]int32{{0, 1}, {2, 3},
			{4, 5}}},
		{"no edges", tiny(t, []int32{0, 1, 0, 1}, nil), [3][]int32{{0, 1}, {2}, {3}}},
		{"one node", tiny(t, []int32{1}, nil), [3][]int32{{0}, {0}, {0}}},
		{"a class that is not in the train set", tiny(t, []int32{0, 0, 1, 1}, [][2]int32{{0, 1}, {2, 3}}), [3][]int32{{0, 1},
			{2}, {3}}},
	} {
		for _, name := range hyper.Models() {
			for _, regulariser := range append(hyper.Regularisers(), "", "readings") {
				s, err := hyper.For(name)
				require.NoError(t, err)
				s.Hidden, s.Heads, s.MaxEpochs, s.KeepRate = 4, 2, 3, 0.5
				switch regulariser {
				case "":
				case "readings":
					if s.Readout, s.Residual = hyper.ReadoutAll, true; hyper.TraitsOf(name).SelfTerm {
						s.SelfTerm = hyper.SelfKept
					}
					if hyper.TraitsOf(name).MLP {
						s.MLPLayers, s.Norm = 2, hyper.NormBoth
					}
				default:
					s.Regulariser, s.RegulariserRate = regulariser, 0.5
				}
				require.NoError(t, s.Check())
				trial := trainOnce(t, trainerOf(t, gnntest.Go(t), c.g, phasesOf(c.g, c.sets[0], c.sets[1], c.sets[2]), s), 1)
				require.Len(t, trial.Predictions, c.g.NumNodes(), "%s, %s, %s", c.name, name, regulariser)
				for _, e := range trial.History {
					require.False(t, math.IsNaN(e.TrainLoss+e.ValidationLoss), "%s, %s, %s", c.name, name, regulariser)
				}
			}
		}
	}
}

func TestADivergingTrialKeepsItsHistory(t *testing.T) {
	g := gnntest.TwoCamps(t)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		p := small()
		p.LearningRate = 1e30
		trainer := trainerOf(t, b, g, gnntest.View(t, g, 30, datasets.Transductive), p)
		_, err := trainBy(t.Context(), trainer, 1, nil)
		require.ErrorContains(t, err, "the learning rate 1e+30 may be too high")
		require.NotContains(t, err.Error(), "\n")
		rules := []stopped{{earlyStopping: earlyStopping{On: hyper.StopOnF1}},
			{earlyStopping: earlyStopping{On: hyper.StopOnAccuracy}}}
		_, err = follow(t.Context(), trainer, 1, rules, nil)
		require.NoError(t, err)
		for _, s := range rules {
			require.Equal(t, 1, s.best)
			require.NotEmpty(t, s.Weights)
		}
	})
}

func TestDivergingTrialsNameSeedEpochAndRemedy(t *testing.T) {
	for _, on := range hyper.StopOns() {
		x := experiment(t)
		x.Parameters.LearningRate, x.Parameters.StopOn = 1e38, on
		results, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(7, 1), RunOptions{})
		require.Regexp(t, `^trial 1 \(seed 7\): epoch \d+: the training loss is (NaN|.Inf): the learning rate 1e\+38 `+
			`may be too high`, err, on)
		require.Nil(t, results[0])
		x.Parameters.MaxEpochs = 1 // no loss is computed after the only step
		results, err = x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(7, 1), RunOptions{})
		require.Regexp(t, `^trial 1 \(seed 7\): (no validation loss in 1 epochs was a number|epoch 1, the best one: `+
			`the validation loss is NaN): the learning rate`, err, on)
		require.Nil(t, results[0])
	}
}

// ramp is a layer whose scale has given initial values.
type ramp struct{}

func (ramp) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	scale := scope.VariableWithValue("scale", [][]float32{{1, 2}}).NodeValue(h.Graph())
	return Mul(near.Sum(h.Times(nmgnn.Weights(scope, h.Graph(), "w", h.Width(), h.Width(), 2)), mask), scale)
}

func TestEveryTrialStartsFromALayersOwnFirstValues(t *testing.T) {
	g, view := gnntest.Camps(t, 30, datasets.Inductive)
	for _, b := range []*backend.Backend{gnntest.Go(t), gnntest.XLA(t)} {
		m, p := nmgnn.Model{Layers: []nmgnn.Layer{ramp{}}}, small()
		p.LearningRate, p.MaxEpochs, p.WeightDecay = 1e-12, 2, 0
		trainer, err := newTrainer(b, m, g, view, optionsOf(p))
		require.NoError(t, err)
		defer trainer.Close()
		for seed := range uint64(2) {
			trial, err := trainBy(t.Context(), trainer, seed, nil)
			require.NoError(t, err)
			i := slices.IndexFunc(trial.Weights, func(w infer.Weight) bool { return w.Path == "/model/layer0/scale" })
			gnntest.InDelta(t, []float32{1, 2}, trial.Weights[i].Values, 1e-6, "seed %d", seed)
		}
	}
}

func TestEarlyStoppingKeepsTheFirstBest(t *testing.T) {
	for on, score := range map[hyper.StopOn]func(x float64) Epoch{
		"":                   func(x float64) Epoch { return Epoch{ValidationLoss: x} },
		hyper.StopOnLoss:     func(x float64) Epoch { return Epoch{ValidationLoss: x} },
		hyper.StopOnF1:       func(x float64) Epoch { return Epoch{ValidationF1: -x} },
		hyper.StopOnAccuracy: func(x float64) Epoch { return Epoch{ValidationAccuracy: -x} },
	} {
		e := earlyStopping{On: on, Patience: 2}
		require.True(t, e.observe(score(3)))
		require.True(t, e.observe(score(2)))
		require.False(t, e.observe(score(2)), "equal is not better")
		require.False(t, e.over())
		require.False(t, e.observe(score(math.NaN())), "NaN is not better")
		require.True(t, e.over())
		require.Equal(t, 2, e.best)
	}
}

func TestStoppingOnEitherWaitsForBoth(t *testing.T) {
	e := earlyStopping{On: hyper.StopOnEither, Patience: 2}
	for i, epoch := range []struct {
		loss, accuracy float64
		best, stop     bool
	}{
		{3, 0.5, true, false},
		{2, 0.4, false, false}, // loss only: patience restarts
		{2.5, 0.4, false, false},
		{2, 0.5, true, false}, // ties count for both
		{2.5, 0.4, false, false},
		{math.NaN(), 0.6, false, false}, // accuracy only
		{1, 0.5, false, false},
		{2, 0.5, false, false},
		{2, 0.5, false, true},
	} {
		require.Equal(t, epoch.best, e.observe(Epoch{ValidationLoss: epoch.loss, ValidationAccuracy: epoch.accuracy}),
			"epoch %d", i+1)
		require.Equal(t, epoch.stop, e.over(), "epoch %d", i+1)
	}
	require.Equal(t, 4, e.best)
}
