package train

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

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
