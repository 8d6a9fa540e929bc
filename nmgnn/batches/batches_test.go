package batches

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/train"
)

func small(model string) hyper.Parameters {
	s, _ := hyper.For(model)
	s.Hidden, s.MaxEpochs, s.KeepRate = 8, 12, 0.5
	return s
}

func trainerOf(t testing.TB, b *backend.Backend, g *datasets.Graph, view *datasets.View, s hyper.Parameters, clusters int) *Trainer {
	t.Helper()
	require.NoError(t, s.Check())
	trainer, err := New(b, nmgnn.Build(s, g.NumClasses()), g, view, Options{Options: train.OptionsOf(s, view), Clusters: clusters, Folder: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(trainer.Close)
	return trainer
}

func trainOnce(t testing.TB, trainer *Trainer, seed uint64) *train.Trial {
	t.Helper()
	trial, err := trainer.Train(t.Context(), seed, nil)
	require.NoError(t, err)
	trial.Seconds = 0
	return trial
}

func TestOneClusterTrainsAsTheWholeGraphToTheLastDigit(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, g := range []*datasets.Graph{gnntest.TwoCamps(t), gnntest.Cora(t)} {
			for _, setting := range datasets.Settings() {
				for _, model := range []string{"gin", "gat", "sage"} {
					s := small(model)
					view := gnntest.View(t, g, 30, setting)
					whole, err := train.New(b, nmgnn.Build(s, g.NumClasses()), g, view, train.OptionsOf(s, view))
					require.NoError(t, err)
					want, err := whole.Train(t.Context(), 3, nil)
					whole.Close()
					require.NoError(t, err)
					want.Seconds = 0
					require.Equal(t, want, trainOnce(t, trainerOf(t, b, g, view, s, 1), 3), "%s %s %s", g.Name, setting, model)
				}
			}
		}
	})
}

func TestManyClustersTrain(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		g := gnntest.Cora(t)
		for _, setting := range datasets.Settings() {
			for _, model := range []string{"gin", "gat", "sage", "gcn", "sgat"} {
				s := small(model)
				view := gnntest.View(t, g, 30, setting)
				trial := trainOnce(t, trainerOf(t, b, g, view, s, 4), 3)
				t.Log(setting, model, trial.History[0], trial.History[len(trial.History)-1], trial.Test.MacroF1)
			}
		}
	})
}
