package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
)

func TestKeptBatchesTrainToTheSameNumbers(t *testing.T) {
	g := gnntest.TwoCamps(t)
	sparse := *g
	sparse.Features = g.Features.Stored(true)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		cases := []struct {
			graph   *datasets.Graph
			model   string
			setting datasets.Setting
		}{{g, "gin", datasets.Transductive}, {&sparse, "gin", datasets.Inductive}, {&sparse, "sage", datasets.Transductive},
			{g, "gat", datasets.Inductive}}
		if b.Plugin != "" {
			cases = cases[1:2] // compiling takes seconds
		}
		for _, x := range cases {
			view := gnntest.View(t, x.graph, 50, x.setting)
			s := smallOf(x.model)
			s.Dropout, s.AttentionDropout = 0, 0 // dropout depends on a node's row in its batch
			trials := map[bool][]float64{}
			for _, anew := range []bool{false, true} {
				o := batchOptions(t, s, 3)
				if anew {
					o.Memory = 1 // too little to keep any
				}
				trainer := batchTrainerOf(t, b, x.graph, view, s, o)
				require.Equal(t, anew, trainer.train.kept == nil)
				// Batches cut anew omit masked nodes: sums are equal up to rounding.
				for _, e := range trainOnce(t, trainer, 3).History {
					trials[anew] = append(trials[anew], e.TrainLoss, e.ValidationLoss)
				}
			}
			require.InDeltaSlice(t, trials[true], trials[false], 1e-4, "%s %s", x.model, x.setting)

			s.KeepRate, s.Dropout = 1, 0.5
			o := batchOptions(t, s, 3)
			kept := trainOnce(t, batchTrainerOf(t, b, x.graph, view, s, o), 3)
			o.Memory = 1
			require.Equal(t, trainOnce(t, batchTrainerOf(t, b, x.graph, view, s, o), 3), kept, "%s %s", x.model, x.setting)
		}
	})
}

func TestATrainerWithKeptBatchesTrainsEachTrialAsANewOne(t *testing.T) {
	g, view := gnntest.Camps(t, 50, datasets.Inductive)
	s := smallOf("gin")
	o := batchOptions(t, s, 3)
	trainer := batchTrainerOf(t, gnntest.Go(t), g, view, s, o)
	first := trainOnce(t, trainer, 1)
	require.Equal(t, trainOnce(t, batchTrainerOf(t, gnntest.Go(t), g, view, s, o), 2), trainOnce(t, trainer, 2))
	require.Equal(t, first, trainOnce(t, trainer, 1))
}

func TestBatchesAreKeptInAQuarterOfMemory(t *testing.T) {
	g, view := gnntest.Camps(t, 50, datasets.Transductive)
	s := smallOf("gin")
	for memory, keeps := range map[int64]bool{0: true, 1 << 30: true, 4: false} {
		o := batchOptions(t, s, 3)
		o.Memory = memory
		require.Equal(t, keeps, batchTrainerOf(t, gnntest.Go(t), g, view, s, o).train.kept != nil, memory)
	}
}
