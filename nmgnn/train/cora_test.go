package train

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

type recorded struct {
	Setting      datasets.Setting  `json:"setting"`
	TrainPercent int               `json:"train_percent"`
	Arrivals     datasets.Arrivals `json:"arrivals"`
	Resplit      bool              `json:"resplit"`
	hyper.Parameters
	Seed      uint64  `json:"seed"`
	SplitSeed uint64  `json:"split_seed"`
	MacroF1   float64 `json:"macro_f1"` // in percent
}

func TestTrialsOnCoraLandWithinAPointOfThoseOnRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: trains six models")
	}
	b, g := gnntest.XLA(t), gnntest.Cora(t)
	tables, err := hyper.Preset("paper")
	require.NoError(t, err)
	tables.Preset, tables.MaskOver = "standard", hyper.MaskAll // as in the tables' records
	overTrain := tables.WithMasking(0.5)
	overTrain.MaskOver = hyper.MaskTrain
	text, err := os.ReadFile("../../results/cora-gin.jsonl")
	require.NoError(t, err)
	var all []recorded
	for line := range strings.Lines(string(text)) {
		var r recorded
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		all = append(all, r)
	}
	const trials = 3
	runner := NewRunner(b)
	defer runner.Close()
	experiments := []Experiment{
		{Setting: datasets.Inductive, TrainPercent: 90, Parameters: tables.WithMasking(0.5)},
		{Setting: datasets.Transductive, TrainPercent: 33, Parameters: overTrain},
		{Setting: datasets.Inductive, TrainPercent: 50, Parameters: tables},
		{Setting: datasets.Transductive, TrainPercent: 25, Parameters: tables},
	}
	if !gnntest.Torture() {
		experiments = experiments[:2] // three trainings each; 'make torture' has those without a mask
	}
	for _, x := range experiments {
		x.Graph, x.Arrivals, x.SplitSeed = g, datasets.AllEdges, 1
		if x.Setting == datasets.Inductive {
			x.Arrivals = datasets.TrainEdges // as in the tables
		}
		ours, theirs, found := 0.0, 0.0, 0
		for _, r := range all {
			same := r.Setting == x.Setting && r.TrainPercent == x.TrainPercent && !r.Resplit && r.Parameters == x.Parameters &&
				r.SplitSeed == x.SplitSeed
			if !same || r.Setting == datasets.Inductive && r.Arrivals != x.Arrivals || r.Seed > trials {
				continue
			}
			result, err := runner.Trial(context.Background(), x, r.Seed, nil)
			require.NoError(t, err)
			ours += 100 * result.Test.MacroF1 / trials
			theirs += r.MacroF1 / trials
			found++
		}
		require.Equal(t, trials, found, "records of %s, %d %%, keep rate %v", x.Setting, x.TrainPercent,
			x.Parameters.KeepRate)
		t.Logf("%s, %d %%, keep rate %v: macro F1 %.4f, on record %.4f", x.Setting, x.TrainPercent, x.Parameters.KeepRate,
			ours, theirs)
		require.Less(t, math.Abs(ours-theirs), 1.0, "%s, %d %%, keep rate %v: macro F1 %.2f, on record %.2f", x.Setting,
			x.TrainPercent, x.Parameters.KeepRate, ours, theirs)
	}
}

func trainPlan(t *testing.T, b *backend.Backend, g *datasets.Graph, view *datasets.View, s hyper.Parameters,
	plan kernels.Plan) *Result {
	t.Helper()
	o := optionsOf(s)
	o.Plan = &plan
	trainer, err := newTrainer(b, nmgnn.Build(s, g.NumClasses()), g, view, o)
	require.NoError(t, err)
	defer trainer.Close()
	return trainOnce(t, trainer, 1)
}

func TestEveryPlanTrainsTheSameOnCora(t *testing.T) {
	g := gnntest.Cora(t)
	s, err := hyper.Preset("standard")
	require.NoError(t, err)
	s.KeepRate, s.MaxEpochs = 0.5, 3
	for _, setting := range []datasets.Setting{datasets.Inductive, datasets.Transductive} {
		view := gnntest.View(t, g, 10, setting)
		// Initial weights and masks are made on the host; dropout is equal by construction.
		want := trainOnce(t, trainerOf(t, gnntest.Go(t), g, view, s), 1).History
		gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
			gnntest.Sampled(t, b, setting == datasets.Inductive || plan == kernels.Plan{Kernel: kernels.FusedKernel})
			for i, e := range trainPlan(t, b, g, view, s, plan).History {
				require.InDelta(t, want[i].TrainLoss, e.TrainLoss, 1e-4, "%s epoch %d", setting, i+1)
				require.InDelta(t, want[i].ValidationLoss, e.ValidationLoss, 1e-4, "%s epoch %d", setting, i+1)
			}
		})
	}
}
