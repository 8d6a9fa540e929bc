package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
)

// twoCamps is a graph of two classes whose nodes mostly link to their own kind and whose features mostly tell the class.
func twoCamps(t testing.TB) *datasets.Graph {
	t.Helper()
	const n = 60
	r := rand.New(rand.NewPCG(3, 4))
	var edges []csr.Edge
	labels := make([]int32, n)
	x := make([]float32, 0, n*4)
	for v := range int32(n) {
		labels[v] = v % 2
		for range 3 {
			u := int32(r.IntN(n/2))*2 + v%2
			if r.Float64() < 0.1 {
				u = int32(r.IntN(n))
			}
			edges = append(edges, csr.Edge{Node: v, Neighbour: u})
		}
		word := labels[v]
		if r.Float64() < 0.2 {
			word = 1 - word
		}
		row := make([]float32, 4)
		row[word], row[2+r.IntN(2)] = 1, 1
		x = append(x, row...)
	}
	g, report, err := csr.FromEdges(n, edges, csr.Options{})
	require.NoError(t, err)
	features := datasets.Features{Rows: n, Width: 4, Dense: x}
	return &datasets.Graph{Name: "two camps", Edges: g, Features: features, Labels: labels, Classes: []string{"even", "odd"}, Report: report}
}

func viewOf(t testing.TB, g *datasets.Graph, percent int, setting datasets.Setting) *datasets.View {
	t.Helper()
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: percent, Seed: 1})
	require.NoError(t, err)
	view, err := datasets.NewView(g, split, setting, datasets.AllEdges)
	require.NoError(t, err)
	return view
}

func goBackend(t testing.TB) *Backend {
	t.Helper()
	b, err := OpenBackend("go")
	require.NoError(t, err)
	return b
}

// xlaBackend skips the test where XLA is not set up.
func xlaBackend(t testing.TB) *Backend {
	t.Helper()
	b, err := OpenBackend("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	return b
}

func small() Settings {
	s, _ := Preset("standard")
	s.Hidden, s.MaxEpochs, s.KeepRate = 8, 40, 0.5
	return s
}

func trainerOf(t testing.TB, b *Backend, g *datasets.Graph, view *datasets.View, s Settings) *Trainer {
	t.Helper()
	require.NoError(t, s.Check())
	trainer, err := NewTrainer(b, s.Build(g.NumClasses()), g, view, s.Options(view))
	require.NoError(t, err)
	t.Cleanup(trainer.Close)
	return trainer
}

func trainOnce(t testing.TB, trainer *Trainer, seed uint64) *Trial {
	t.Helper()
	trial, err := trainer.Train(context.Background(), seed, nil)
	require.NoError(t, err)
	trial.Seconds = 0
	return trial
}

func TestOneSeedGivesOneTrialToTheLastDigitAndAnotherSeedAnother(t *testing.T) {
	g := twoCamps(t)
	for _, setting := range []datasets.Setting{datasets.Inductive, datasets.Transductive} {
		view := viewOf(t, g, 30, setting)
		for _, b := range []*Backend{goBackend(t), xlaBackend(t)} {
			trainer := trainerOf(t, b, g, view, small())
			first, other, again := trainOnce(t, trainer, 5), trainOnce(t, trainer, 6), trainOnce(t, trainer, 5)
			require.Equal(t, first, again)
			require.NotEqual(t, first.History, other.History)
			require.Equal(t, first, trainOnce(t, trainerOf(t, b, g, view, small()), 5), "also from a program compiled anew")
		}
	}
}

func TestTheBestEpochsWeightsAreRestored(t *testing.T) {
	g := twoCamps(t)
	view := viewOf(t, g, 30, datasets.Inductive)
	for _, stopOn := range []StopOn{StopOnLoss, StopOnF1} {
		s := small()
		s.StopOn, s.Patience = stopOn, 10
		trainer := trainerOf(t, goBackend(t), g, view, s)
		trial := trainOnce(t, trainer, 2)
		best := trial.History[trial.BestEpoch-1]
		for i, e := range trial.History {
			switch {
			case stopOn == StopOnLoss && i < trial.BestEpoch-1:
				require.Greater(t, e.ValidationLoss, best.ValidationLoss)
			case stopOn == StopOnLoss:
				require.GreaterOrEqual(t, e.ValidationLoss, best.ValidationLoss)
			case i < trial.BestEpoch-1:
				require.Less(t, e.ValidationF1, best.ValidationF1)
			default:
				require.LessOrEqual(t, e.ValidationF1, best.ValidationF1)
			}
		}
		require.Equal(t, best.ValidationF1, trial.Validation.MacroF1)
		require.LessOrEqual(t, len(trial.History), trial.BestEpoch+s.Patience)

		// Predictions follow from the weights that the trial kept.
		predictions, err := trainer.Predict()
		require.NoError(t, err)
		require.Equal(t, trial.Predictions, predictions)
		kept, err := trainer.weights()
		require.NoError(t, err)
		require.Equal(t, trial.Weights, kept)
	}
}

func TestATrialLearnsWhatCanBeLearned(t *testing.T) {
	g := twoCamps(t)
	s := small()
	s.MaxEpochs = 200
	trial := trainOnce(t, trainerOf(t, goBackend(t), g, viewOf(t, g, 50, datasets.Transductive), s), 1)
	require.Less(t, trial.History[len(trial.History)-1].TrainLoss, trial.History[0].TrainLoss)
	require.Greater(t, trial.Test.MacroF1, 0.8, "one feature alone tells four nodes in five")
}

func TestTheFirstLossIsThatOfTheFirstWeights(t *testing.T) {
	// Without dropout and masking the first training loss is a plain forward pass; masking or dropout changes it.
	g := twoCamps(t)
	view := viewOf(t, g, 30, datasets.Transductive)
	plain := small()
	plain.Dropout, plain.KeepRate, plain.MaxEpochs = 0, 1, 1
	masked, dropped := plain, plain
	masked.KeepRate, dropped.Dropout = 0.5, 0.5
	b := goBackend(t)
	loss := func(s Settings) float64 { return trainOnce(t, trainerOf(t, b, g, view, s), 1).History[0].TrainLoss }
	require.NotEqual(t, loss(plain), loss(masked))
	require.NotEqual(t, loss(plain), loss(dropped))
	// A mask over no node is no mask.
	o := masked.Options(view)
	o.Mask.Only = []int32{}
	trainer, err := NewTrainer(b, masked.Build(2), g, view, o)
	require.NoError(t, err)
	defer trainer.Close()
	require.Equal(t, loss(plain), trainOnce(t, trainer, 1).History[0].TrainLoss)
}

func TestOneAdamStepMovesEveryWeightByTheLearningRateAgainstItsGradient(t *testing.T) {
	// Adam's first step is lr·g/(|g|+ε): its length is the learning rate, whatever the gradient.
	g := twoCamps(t)
	view := viewOf(t, g, 30, datasets.Transductive)
	s := small()
	s.Dropout, s.KeepRate, s.MaxEpochs, s.LearningRate = 0, 1, 1, 0.125
	trainer := trainerOf(t, goBackend(t), g, view, s)
	require.NoError(t, trainer.reset(1))
	before, err := trainer.weights()
	require.NoError(t, err)
	trial := trainOnce(t, trainer, 1)
	moved := 0
	for i, w := range trial.Weights {
		for j, value := range w.Values {
			step := math.Abs(float64(value - before[i].Values[j]))
			if step > 1e-3 { // a weight whose gradient is all but zero stays
				require.InDelta(t, 0.125, step, 1e-3, "%s entry %d", w.Path, j)
				moved++
			}
		}
	}
	require.Greater(t, moved, 20)
}

func TestWeightDecayIsAddedToTheGradientOfEveryWeight(t *testing.T) {
	// With a decay so large that it drowns the loss's gradient, Adam's first step goes towards zero for every weight.
	g := twoCamps(t)
	view := viewOf(t, g, 30, datasets.Transductive)
	s := small()
	s.MaxEpochs, s.WeightDecay, s.LearningRate = 1, 1e6, 1e-4
	trainer := trainerOf(t, goBackend(t), g, view, s)
	require.NoError(t, trainer.reset(1))
	before, err := trainer.weights()
	require.NoError(t, err)
	for i, w := range trainOnce(t, trainer, 1).Weights {
		for j, value := range w.Values {
			first := float64(before[i].Values[j])
			require.InDelta(t, first-math.Copysign(1e-4, first), float64(value), 2e-6, "%s entry %d", w.Path, j)
		}
	}
}

func TestTrainingEndsWithTheContext(t *testing.T) {
	g := twoCamps(t)
	trainer := trainerOf(t, goBackend(t), g, viewOf(t, g, 30, datasets.Inductive), small())
	ctx, cancel := context.WithCancel(context.Background())
	trial, err := trainer.Train(ctx, 1, func(epoch int, _ Epoch) {
		require.LessOrEqual(t, epoch, 3)
		if epoch == 3 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, trial)
}

func TestALossThatIsNotANumberIsAnErrorThatSaysWhatToDo(t *testing.T) {
	g := twoCamps(t)
	s := small()
	s.LearningRate, s.Dropout = 1e30, 0
	_, err := trainerOf(t, goBackend(t), g, viewOf(t, g, 30, datasets.Inductive), s).Train(context.Background(), 1, nil)
	require.ErrorContains(t, err, "the learning rate 1e+30 may be too high")
	require.NotContains(t, err.Error(), "\n")
}

func TestAModelWithTheWrongNumberOfOutputsIsRefused(t *testing.T) {
	g := twoCamps(t)
	_, err := NewTrainer(goBackend(t), Model{Layers: []Layer{GIN{Width: []int{3}}}}, g, viewOf(t, g, 30, datasets.Inductive), TrainOptions{})
	require.ErrorContains(t, err, "the last layer has 3 outputs for 2 classes")
	require.NotContains(t, err.Error(), "\n")
}

func TestAGraphWithoutFeaturesIsRefused(t *testing.T) {
	g := twoCamps(t)
	g.Features = datasets.Features{Rows: g.NumNodes()}
	_, err := NewTrainer(goBackend(t), small().Build(2), g, viewOf(t, g, 30, datasets.Inductive), TrainOptions{})
	require.ErrorContains(t, err, "two camps has no features")
}

func TestAGraphWithoutEdgesTrainsOnFeaturesAlone(t *testing.T) {
	g := twoCamps(t)
	g.Edges = undirected(t, g.NumNodes(), nil)
	for _, b := range []*Backend{goBackend(t), xlaBackend(t)} {
		trial := trainOnce(t, trainerOf(t, b, g, viewOf(t, g, 50, datasets.Inductive), small()), 1)
		require.NotEmpty(t, trial.Predictions)
	}
}

func TestResultsDoNotDependOnTheNumberOfJobs(t *testing.T) {
	g := twoCamps(t)
	for _, resplit := range []bool{false, true} {
		x := Experiment{Graph: g, Settings: small(), Setting: datasets.Inductive, Arrivals: datasets.AllEdges, TrainPercent: 30, SplitSeed: 1, Resplit: resplit}
		run := func(jobs int) []*Result {
			results, err := x.Run(context.Background(), goBackend(t), Seeds(1, 5), RunOptions{Jobs: jobs})
			require.NoError(t, err)
			for _, r := range results {
				r.Seconds = 0
			}
			return results
		}
		one, three := run(1), run(3)
		require.Equal(t, one, three)
		require.Equal(t, resplit, one[0].SplitHash != one[1].SplitHash)
	}
}

func TestAnInterruptedExperimentReturnsTheTrialsThatWereFinished(t *testing.T) {
	x := Experiment{Graph: twoCamps(t), Settings: small(), Setting: datasets.Inductive, Arrivals: datasets.AllEdges, TrainPercent: 30, SplitSeed: 1}
	ctx, cancel := context.WithCancel(context.Background())
	results, err := x.Run(ctx, goBackend(t), Seeds(1, 5), RunOptions{Done: func(i int, _ *Result) {
		if i == 1 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, results[0])
	require.NotNil(t, results[1])
	require.Equal(t, []*Result{nil, nil, nil}, results[2:])
}

func TestSettingsThatCannotBeAreNamed(t *testing.T) {
	for want, change := range map[string]func(*Settings){
		`no model "gim"`: func(s *Settings) { s.Model = "gim" },
		"keep rate 1.5: expected a probability above 0 and up to 1": func(s *Settings) { s.KeepRate = 1.5 },
		"keep rate 0: expected":      func(s *Settings) { s.KeepRate = 0 },
		"layers: 0: expected":        func(s *Settings) { s.Layers = 0 },
		"hidden width: -1":           func(s *Settings) { s.Hidden = -1 },
		"dropout 1: expected":        func(s *Settings) { s.Dropout = 1 },
		"learning rate -1":           func(s *Settings) { s.LearningRate = -1 },
		"weight decay NaN":           func(s *Settings) { s.WeightDecay = nan() },
		`early stopping on "luck"`:   func(s *Settings) { s.StopOn = "luck" },
		`no masking over "nobody"`:   func(s *Settings) { s.MaskOver = "nobody" },
		"linear layers of an MLP: 0": func(s *Settings) { s.MLPLayers = 0 },
	} {
		s := small()
		change(&s)
		require.ErrorContains(t, s.Check(), want)
	}
	_, err := Preset("best")
	require.ErrorContains(t, err, `no preset "best"`)
}

func TestSixteenLayersTrainWithoutNaN(t *testing.T) {
	for _, id := range []string{"go", "xla:cpu"} {
		t.Run(id, func(t *testing.T) {
			b, err := OpenBackend(id)
			if err != nil {
				t.Skipf("skipped: %v", err)
			}
			g := twoCamps(t)
			s := small()
			s.Layers, s.MaxEpochs, s.KeepRate = 16, 5, 0.5
			trial := trainOnce(t, trainerOf(t, b, g, viewOf(t, g, 50, datasets.Transductive), s), 1)
			require.Len(t, trial.History, 5)
			for _, e := range trial.History {
				require.False(t, math.IsNaN(e.TrainLoss+e.ValidationLoss))
			}
		})
	}
}

// tiny is a graph of so many nodes with two classes in turn, one feature that tells the class, and these edges.
func tiny(t *testing.T, labels []int32, pairs [][2]int32) *datasets.Graph {
	t.Helper()
	x := make([][]float32, len(labels))
	for v, c := range labels {
		x[v] = []float32{float32(c), 1}
	}
	return &datasets.Graph{Name: "tiny", Edges: undirected(t, len(labels), pairs), Features: sparseRows(x), Labels: labels, Classes: []string{"a", "b"}}
}

// phasesOf is a transductive view with sets of one's own.
func phasesOf(g *datasets.Graph, train, validation, test []int32) *datasets.View {
	all := make([]int32, g.NumNodes())
	for v := range all {
		all[v] = int32(v)
	}
	phase := func(score []int32) datasets.Phase { return datasets.Phase{Edges: g.Edges, Nodes: all, Score: score} }
	return &datasets.View{Setting: datasets.Transductive, Train: phase(train), Validation: phase(validation), Test: phase(test)}
}

func TestEveryModelTakesGraphsWithIsolatedNodesWithoutEdgesOfOneNodeAndWithAClassNeverTrainedOn(t *testing.T) {
	for _, c := range []struct {
		name string
		g    *datasets.Graph
		sets [3][]int32
	}{
		{"isolated nodes", tiny(t, []int32{0, 1, 0, 1, 0, 1}, [][2]int32{{0, 1}, {1, 2}}), [3][]int32{{0, 1}, {2, 3}, {4, 5}}},
		{"no edges", tiny(t, []int32{0, 1, 0, 1}, nil), [3][]int32{{0, 1}, {2}, {3}}},
		{"one node", tiny(t, []int32{1}, nil), [3][]int32{{0}, {0}, {0}}},
		{"a class that is not in the train set", tiny(t, []int32{0, 0, 1, 1}, [][2]int32{{0, 1}, {2, 3}}), [3][]int32{{0, 1}, {2}, {3}}},
	} {
		for _, name := range Models() {
			for _, regulariser := range append(Regularisers(), NoRegulariser) {
				s, err := Preset(PresetFor(name))
				require.NoError(t, err)
				s.Model, s.Hidden, s.Heads, s.MaxEpochs, s.KeepRate = name, 4, 2, 3, 0.5
				if s.Regulariser = regulariser; regulariser != NoRegulariser {
					s.RegulariserRate = 0.5
				}
				trial := trainOnce(t, trainerOf(t, goBackend(t), c.g, phasesOf(c.g, c.sets[0], c.sets[1], c.sets[2]), s), 1)
				require.Len(t, trial.Predictions, c.g.NumNodes(), "%s, %s, %s", c.name, name, regulariser)
				for _, e := range trial.History {
					require.False(t, math.IsNaN(e.TrainLoss+e.ValidationLoss), "%s, %s, %s", c.name, name, regulariser)
				}
			}
		}
	}
}

func TestGINLearnsEpsilonFromItsGradient(t *testing.T) {
	forEachBestPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		f := fiveNodes(t)
		f.model.Layers = []Layer{GIN{Width: []int{2}, Epsilon: 0.25, LearnEpsilon: true}}
		f.weights["/model/layer0/linear0/weights"] = []float32{0.5, 0.25}
		f.weights["/model/layer0/linear0/biases"] = []float32{0, 0}
		f.weights["/model/layer0/epsilon"] = []float32{0.25}
		got := f.compute(t, b, plan)
		// (1+¼+¼)·h + Σ: a 1.5+6 = 7.5, and so on, as with ε = ½.
		require.Equal(t, []float32{3.75, 1.875}, got.layers[0][0])
		// ∂loss/∂ε = h_a·W·(−q, q) with h_a = 1, q = 1/(1+e^(3.75−1.875)): q·(¼−½).
		q := 1 / (1 + math.Exp(1.875))
		inDelta(t, []float32{float32(-q / 4)}, got.gradients["/model/layer0/epsilon"], 1e-6, "epsilon")
	})
}

func TestMaskingTakesAttentionDropoutAway(t *testing.T) {
	s, err := Preset("gat")
	require.NoError(t, err)
	require.Equal(t, 0.6, s.WithMasking(1).AttentionDropout)
	require.Equal(t, 0.0, s.WithMasking(0.5).AttentionDropout)
	require.Equal(t, 0.5, s.WithMasking(0.5).KeepRate)
}
