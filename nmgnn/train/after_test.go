package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
)

func TestUntrainedModelsAreWhatTrainingBeginsWith(t *testing.T) {
	b := gnntest.Go(t)
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 60, Classes: 3, Seed: 1})
	require.NoError(t, err)
	view := gnntest.View(t, g, 50, datasets.Transductive)
	for _, kind := range []string{"gat", "gin"} {
		p, err := hyper.For(kind)
		require.NoError(t, err)
		if kind == "gin" {
			p.MLPLayers, p.Norm, p.Readout, p.Residual = 2, hyper.NormBoth, hyper.ReadoutAll, true
		}
		untrainedIsFirst(t, b, g, view, p)
	}
}

func untrainedIsFirst(t *testing.T, b *backend.Backend, g *datasets.Graph, view *datasets.View, p hyper.Parameters) {
	t.Helper()
	m := nmgnn.Build(p, 3)
	trainer, err := newTrainer(b, m, g, view, optionsOf(p))
	require.NoError(t, err)
	defer trainer.Close()
	require.NoError(t, trainer.start.Reset(trainer.store, trainer.options.LearningRate, 7))
	want, err := gomlx.WeightsOf[infer.Weight](trainer.store)
	require.NoError(t, err)
	got, err := infer.Untrained(b, m, g.Features.Width, 7)
	require.NoError(t, err)
	require.ElementsMatch(t, want, got.Weights)
	got.NormalizeFeatures = p.NormalizeFeatures
	theirs, err := trainer.Representations()
	require.NoError(t, err)
	ours, err := got.Represent(b, g.Edges, g.Features, infer.Options{})
	require.NoError(t, err)
	require.Equal(t, theirs, ours)
}

func TestTwoClassesHaveAnAUC(t *testing.T) {
	_, settings := blocks(t, 5)
	for classes := 2; classes <= 3; classes++ {
		g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 150, Classes: classes})
		require.NoError(t, err)
		r := NewRunner(gnntest.Go(t))
		result, err := r.Trial(t.Context(), Experiment{Graph: g, Parameters: settings, Setting: datasets.Inductive,
			TrainPercent: 20, SplitSeed: 1}, 1, nil)
		require.NoError(t, err)
		require.Equal(t, classes == 2, result.AUC != nil)
		if classes == 2 {
			require.Greater(t, *result.AUC, 0.6)
		}
		r.Close()
	}
}

func TestAUCCountsPairs(t *testing.T) {
	// 3 beats 1 and 2; 2 beats 1 and equals 2; 0 beats none.
	require.InDelta(t, 3.5/6, rocArea([]float32{3, 1, 2, 2, 0}, []int32{1, 0, 1, 0, 1}), 1e-15)
}
