package train

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

func cora(t testing.TB) *datasets.Graph {
	t.Helper()
	g, err := datasets.Cora()
	require.NoError(t, err)
	return g
}

func TestGoAndXLAHaveTheSameLossesOnCora(t *testing.T) {
	g := cora(t)
	for _, setting := range []datasets.Setting{datasets.Inductive, datasets.Transductive} {
		view := viewOf(t, g, 10, setting)
		s, err := Preset("standard")
		require.NoError(t, err)
		s.KeepRate, s.MaxEpochs = 0.5, 5
		// First weights and masks are made on the host; dropout is the same by construction.
		mine := trainOnce(t, trainerOf(t, goBackend(t), g, view, s), 1)
		theirs := trainOnce(t, trainerOf(t, xlaBackend(t), g, view, s), 1)
		for i := range mine.History {
			require.InDelta(t, mine.History[i].TrainLoss, theirs.History[i].TrainLoss, 1e-4, "%s epoch %d", setting, i+1)
			require.InDelta(t, mine.History[i].ValidationLoss, theirs.History[i].ValidationLoss, 1e-4, "%s epoch %d", setting, i+1)
		}
	}
}

// trainPlan trains one trial, computed in a way of its own.
func trainPlan(t *testing.T, b *Backend, g *datasets.Graph, view *datasets.View, s Settings, plan Plan) *Trial {
	t.Helper()
	o := s.Options(view)
	o.Plan = &plan
	trainer, err := NewTrainer(b, s.Build(g.NumClasses()), g, view, o)
	require.NoError(t, err)
	defer trainer.Close()
	return trainOnce(t, trainer, 1)
}

func TestEveryPlanTrainsTheSameOnCora(t *testing.T) {
	g := cora(t)
	view := viewOf(t, g, 10, datasets.Inductive)
	s, err := Preset("standard")
	require.NoError(t, err)
	s.KeepRate, s.MaxEpochs = 0.5, 3
	want := trainOnce(t, trainerOf(t, goBackend(t), g, view, s), 1).History
	forEachPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		for i, e := range trainPlan(t, b, g, view, s, plan).History {
			require.InDelta(t, want[i].TrainLoss, e.TrainLoss, 1e-4, "epoch %d", i+1)
			require.InDelta(t, want[i].ValidationLoss, e.ValidationLoss, 1e-4, "epoch %d", i+1)
		}
	})
}

func TestDenseFeaturesTrainTheSameWithoutDropout(t *testing.T) {
	g := twoCamps(t)
	view := viewOf(t, g, 30, datasets.Transductive)
	s := small()
	s.Dropout, s.MaxEpochs = 0, 10
	want := trainOnce(t, trainerOf(t, goBackend(t), g, view, s), 1).History
	forEachPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		for i, e := range trainPlan(t, b, g, view, s, plan).History {
			require.InDelta(t, want[i].TrainLoss, e.TrainLoss, 1e-4, "epoch %d", i+1)
		}
	})
}

func TestDenseFeaturesDropTheSameEntriesInBothOrders(t *testing.T) {
	g := twoCamps(t)
	view := viewOf(t, g, 30, datasets.Transductive)
	s := small()
	s.MaxEpochs = 10
	var want []Epoch
	for _, transposed := range []bool{false, true} {
		got := trainPlan(t, goBackend(t), g, view, s, Plan{Kernel: FusedKernel, DenseFeatures: true, Transposed: transposed}).History
		if want == nil {
			want = got
		}
		for i, e := range got {
			require.InDelta(t, want[i].TrainLoss, e.TrainLoss, 1e-4, "epoch %d", i+1)
		}
	}
}

// ExampleTrainer trains one trial of masked GIN on Cora, seeing one node in ten and the edges among them.
func ExampleTrainer() {
	g, err := datasets.Cora()
	check(err)
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	check(err)
	view, err := datasets.NewView(g, split, datasets.Inductive, datasets.AllEdges)
	check(err)
	backend, err := OpenBackend("go")
	check(err)
	model := Model{Layers: []Layer{GIN{Width: []int{64}}, GIN{Width: []int{g.NumClasses()}}}, Dropout: 0.5}
	trainer, err := NewTrainer(backend, model, g, view, TrainOptions{
		Mask: Mask{KeepRate: 0.5}, WeightDecay: 5e-4, NormalizeFeatures: true, MaxEpochs: 100})
	check(err)
	defer trainer.Close()
	trial, err := trainer.Train(context.Background(), 1, nil)
	check(err)
	fmt.Printf("%d nodes seen in training, %d tested\n", len(view.Train.Nodes), len(view.Test.Score))
	fmt.Println("better than two in three:", trial.Test.MacroF1 > 2.0/3)
	// Output:
	// 271 nodes seen in training, 2193 tested
	// better than two in three: true
}

// ExampleExperiment_Run runs three trials and takes their mean.
func ExampleExperiment_Run() {
	g, err := datasets.Cora()
	check(err)
	backend, err := OpenBackend("go")
	check(err)
	settings, err := Preset("standard")
	check(err)
	settings.KeepRate, settings.Hidden, settings.MaxEpochs = 0.5, 16, 40
	x := Experiment{Graph: g, Settings: settings, Setting: datasets.Inductive, Arrivals: datasets.AllEdges, TrainPercent: 10, SplitSeed: 1}
	results, err := x.Run(context.Background(), backend, Seeds(1, 3), RunOptions{Jobs: 2})
	check(err)
	mean := 0.0
	for _, r := range results {
		mean += r.Test.MacroF1 / float64(len(results))
	}
	fmt.Println(len(results), "trials; the mean is a share:", mean > 0 && !math.IsNaN(mean) && mean <= 1)
	// Output: 3 trials; the mean is a share: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The published figures are those of the paper's table 3a; package paper has the whole table, and depends on this one.
func TestGINLandsWithinTwoAndAHalfPointsOfThePaperOnCora(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: trains 60 models")
	}
	b := xlaBackend(t)
	for _, cell := range []struct {
		setting             datasets.Setting
		percent             int
		keepRate, published float64
	}{
		{datasets.Transductive, 10, 1, 77.95}, {datasets.Transductive, 10, 0.5, 79.65},
		{datasets.Transductive, 50, 1, 85.63}, {datasets.Transductive, 50, 0.5, 86.57},
		{datasets.Inductive, 50, 1, 83.07}, {datasets.Inductive, 50, 0.5, 84.49},
	} {
		settings, err := Preset("standard")
		require.NoError(t, err)
		settings.KeepRate = cell.keepRate
		x := Experiment{Graph: cora(t), Settings: settings, Setting: cell.setting, Arrivals: datasets.AllEdges, TrainPercent: cell.percent, SplitSeed: 1}
		results, err := x.Run(context.Background(), b, Seeds(1, 10), RunOptions{})
		require.NoError(t, err)
		mean := 0.0
		for _, r := range results {
			mean += 100 * r.Test.MacroF1 / float64(len(results))
		}
		require.InDelta(t, cell.published, mean, 2.5, "%s, %d %%, keep rate %v", cell.setting, cell.percent, cell.keepRate)
		t.Logf("%s, %d %%, keep rate %v: macro F1 %.2f, published %.2f", cell.setting, cell.percent, cell.keepRate, mean, cell.published)
	}
}
