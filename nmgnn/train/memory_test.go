package train

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

func TestWhatDoesNotFitIntoMemoryIsRefusedBeforeItIsMade(t *testing.T) {
	b := gnntest.Go(t)
	left := memory.Left{Bytes: 8e9, Of: "this machine"}
	for what, change := range map[string]func(x *Experiment){
		"a wide hidden layer": func(x *Experiment) { x.Parameters.Hidden, x.Parameters.MLPLayers = 1<<16, 2 },
		"many features": func(x *Experiment) {
			x.Graph.Features = datasets.Features{Rows: 20, Width: 1e8, Offsets: make([]int64, 21)}
		},
		"many classes": func(x *Experiment) {
			x.Parameters.Layers = 1
			x.Graph.Features, x.Graph.Classes = datasets.Features{Rows: 20, Width: 1e5, Offsets: make([]int64, 21)},
				make([]string, 20_000)
		},
	} {
		for _, model := range hyper.Models() {
			x := experiment(t)
			x.Parameters.Model, x.Parameters.Heads = model, 8
			require.NoError(t, x.fits(b, 1, left), "as it is")
			change(&x)
			err := x.fits(b, 1, left)
			if what == "a wide hidden layer" && model != "gin" {
				x.Parameters.Layers = 3 // two wide ones in a row
				err = x.fits(b, 1, left)
			}
			require.ErrorContains(t, err, "GB of memory, and this machine leaves 8.0 GB: take a smaller hidden width", "%s, %s",
				what, model)
			require.NotContains(t, err.Error(), "\n")
		}
	}
}

func TestJobsThatDoNotFitTogetherAreRefused(t *testing.T) {
	x := experiment(t)
	x.Parameters.Hidden, x.Parameters.MLPLayers = 4096, 2
	one := x.memory(gnntest.Go(t), 1)
	left := memory.Left{Bytes: int64(8 * one), Of: "this machine"}
	require.NoError(t, x.fits(gnntest.Go(t), 4, left))
	require.ErrorContains(t, x.fits(gnntest.Go(t), 64, left), " with 64 trials side by side, and this machine leaves")
	require.ErrorContains(t, x.fits(gnntest.Go(t), 64, left), "take fewer trials side by side: one takes ")
}

func TestAPassThatDoesNotFitIntoMemoryIsRefused(t *testing.T) {
	x := Experiment{Graph: gnntest.TwoCamps(t), Parameters: small()}
	x.Parameters.Hidden, x.Parameters.Layers, x.Parameters.Readout = 1<<16, 2, ""
	all := int64(2 * 4 * x.Graph.NumNodes() * (1<<16 + 2)) // and the logits
	require.NoError(t, x.inferenceFits(gnntest.Go(t), memory.Left{Bytes: all * 11 / 10}))
	require.ErrorContains(t, x.inferenceFits(gnntest.Go(t), memory.Left{Bytes: all * 9 / 10, Of: "this machine"}),
		"of memory, and this machine leaves")
}

func TestAnExperimentLooksForItsMemoryBeforeItTrains(t *testing.T) {
	if _, ok := memory.Get(); !ok {
		t.Skip("skipped: this system does not say how much memory is left")
	}
	x := experiment(t)
	x.Parameters.Hidden, x.Parameters.MLPLayers, x.Parameters.Layers = 1<<16, 2, 64
	_, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 2), RunOptions{Jobs: 2})
	require.ErrorContains(t, err, "of memory with 2 trials side by side, and ")
	_, err = x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 1), RunOptions{})
	require.ErrorContains(t, err, "of memory, and ")
}

func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("skipped: this system does not say how much memory a process has: %v", err)
	}
	var size, pages int
	_, err = fmt.Sscan(string(text), &size, &pages)
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

func TestMemoryDoesNotGrowWithTheNumberOfTrials(t *testing.T) {
	if !gnntest.Torture() {
		t.Skip("skipped: takes minutes, and memory that nobody else uses: run it with NODEMASK_TORTURE=1")
	}
	g, err := datasets.Open(t.Context(), "cora", datasets.OpenOptions{})
	require.NoError(t, err)
	for _, model := range []string{"gin", "gat"} {
		b, err := backend.Open("")
		require.NoError(t, err)
		p, err := hyper.For(model)
		require.NoError(t, err)
		p.MaxEpochs = 2
		x := Experiment{Graph: g, Parameters: p, Setting: datasets.Inductive, Arrivals: datasets.AllEdges, TrainPercent: 10,
			SplitSeed: 1, Keep: true}
		const trials, warm = 500, 100
		var before, after int
		_, err = x.Run(t.Context(), b, hyper.Seeds(1, trials), RunOptions{KeepBest: true, Done: func(i int, _ *Result) {
			switch i {
			case warm:
				before = resident(t)
			case trials - 1:
				after = resident(t)
			}
		}})
		require.NoError(t, err)
		t.Logf("%s on %s: %d MB after %d trials, %d MB after %d", model, b.ID, before>>20, warm, after>>20, trials)
		require.Less(t, float64(after), 1.05*float64(before), model)
	}
}
