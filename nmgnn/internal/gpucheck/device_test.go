//go:build cgo && linux && amd64

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
)

// trained is what a backend made of a model: three epochs of a seed, twice, and among those of other seeds in one
// program, and how long others took.
type trained struct {
	first, again, among []train.Epoch
	laps                []time.Duration // from the shortest on
	compiling           float64         // seconds
	together            float64         // milliseconds of an epoch of all trials in one program
}

func trainOn(t *testing.T, b *backend.Backend, model string, g *datasets.Graph, epochs int) (y trained) {
	p, m, err := built(model, g)
	require.NoError(t, err)
	view, o, err := setting(p, g)
	require.NoError(t, err)
	o.MaxEpochs = 3
	trainer, err := train.New(b, m, g, view, o)
	require.NoError(t, err)
	defer trainer.Close()
	y.compiling = trainer.CompileSeconds
	for _, history := range []*[]train.Epoch{&y.first, &y.again} {
		trial, err := trainer.Train(context.Background(), 1, nil)
		require.NoError(t, err)
		*history = trial.History
	}
	y.laps, err = trainer.TimeEpochs(context.Background(), epochs, true)
	require.NoError(t, err)
	slices.Sort(y.laps)
	o.MaxEpochs, o.Together = epochs, together
	if g.NumNodes() > 3000 {
		return y // one trial is enough for a GPU
	}
	of, err := train.New(b, m, g, view, o)
	require.NoError(t, err)
	defer of.Close()
	trials, err := of.TrainTogether(context.Background(), train.Seeds(1, together), nil)
	require.NoError(t, err)
	y.among = trials[0].History[:min(3, epochs)]
	y.together = 1000 * together * trials[0].Seconds / float64(epochs)
	return y
}

// apart is the greatest relative difference of losses.
func apart(x, y []train.Epoch) (most float64) {
	for i := range x {
		for _, pair := range [][2]float64{{x[i].TrainLoss, y[i].TrainLoss}, {x[i].ValidationLoss, y[i].ValidationLoss}} {
			most = max(most, math.Abs(pair[0]-pair[1])/math.Abs(pair[1]))
		}
	}
	return most
}

// compare trains each model on both backends, holds the losses of three epochs to those of the other, and prints a row.
func compare(t *testing.T, b, reference *backend.Backend, models, data []string, epochs int) {
	for _, name := range data {
		g, err := open(name)
		require.NoError(t, err)
		for _, model := range models {
			is, want := trainOn(t, b, model, g, epochs), trainOn(t, reference, model, g, 1)
			d := max(apart(is.first, want.first), apart(is.among, want.first))
			fmt.Printf("| %s %s | %s | %.2f | %.2f | %.2f | %.1f | %.1g | %t |\n", name, model, b.Kernel(), ms(is.laps[0]),
				ms(is.laps[len(is.laps)/2]), is.together, is.compiling, d, slices.Equal(is.first, is.again))
			if !(d <= 1e-5) {
				t.Errorf("%s %s, %s kernels: losses are %v, on %s %v: expected a relative difference of 1e-5 at most. "+
					"NVIDIA_TF32_OVERRIDE=0 says whether products of 10 bits are why", name, model, b.Kernel(), is.first,
					reference.ID, want.first)
			}
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// What whoever has an NVIDIA GPU runs, as 'make gpu-run': every model with scatters and with kernels of our own.
func TestAGPUComputesWhatTheCPUDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it trains every model")
	}
	for _, asked := range []string{"scatter", "ours"} {
		t.Setenv("NODEMASK_GPU_KERNELS", asked)
		gpu, err := backend.Open("xla:cuda")
		if err != nil {
			t.Skipf("skipped: %v", err)
		}
		defer gpu.Finalize()
		cpu, err := backend.Open("xla:cpu")
		require.NoError(t, err)
		defer cpu.Finalize()
		fmt.Printf("%s\n| | kernels | ms an epoch, least | median | of %d trials together | compiling, s | from the CPU | "+
			"the same twice |\n|---|---|---|---|---|---|---|---|\n", gpu.Device(), together)
		compare(t, gpu, cpu, hyper.Models(), []string{"cora", "pubmed", "reddit-like:scale=0.1"}, 50)
	}
}

// The same on a machine without a GPU, so that whoever has one meets no mistake in the test.
func TestTwoCPUBackendsComputeTheSame(t *testing.T) {
	a, err := backend.Open("go")
	require.NoError(t, err)
	b, err := backend.Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	compare(t, a, b, []string{"gin", "gat"}, []string{"cora"}, 3)
}
