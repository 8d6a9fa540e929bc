package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

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
