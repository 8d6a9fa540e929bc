//go:build cgo && linux && amd64

package main

import (
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

// trainOn returns two runs of three epochs, and the sorted times of further epochs.
func trainOn(t *testing.T, b *backend.Backend, model string, g *datasets.Graph, epochs int) (first, again []train.Epoch,
	laps []time.Duration) {
	p, _, err := built(model, g)
	require.NoError(t, err)
	r := train.NewRunner(b)
	defer r.Close()
	last := time.Now()
	run := func(epochs int, report func(int, train.Epoch)) []train.Epoch {
		p.MaxEpochs, p.Patience = epochs, epochs
		result, err := r.Trial(t.Context(), setting(p, g), 1, report)
		require.NoError(t, err)
		return result.History
	}
	first, again = run(3, nil), run(3, nil)
	run(epochs+1, func(epoch int, _ train.Epoch) {
		if epoch > 1 {
			laps = append(laps, time.Since(last))
		}
		last = time.Now()
	})
	slices.Sort(laps)
	return first, again, laps
}

// compare trains each model on both backends, compares three epochs' losses, and prints a row.
func compare(t *testing.T, b, reference *backend.Backend, models, data []string, epochs int) {
	for _, name := range data {
		g, err := open(name)
		require.NoError(t, err)
		for _, model := range models {
			first, again, laps := trainOn(t, b, model, g, epochs)
			want, _, _ := trainOn(t, reference, model, g, 1)
			apart := 0.0
			for i := range want {
				for _, pair := range [][2]float64{{first[i].TrainLoss, want[i].TrainLoss},
					{first[i].ValidationLoss, want[i].ValidationLoss}} {
					apart = max(apart, math.Abs(pair[0]-pair[1])/math.Abs(pair[1]))
				}
			}
			fmt.Printf("| %s %s | %v | %v | %.1g | %t |\n", name, model, laps[0], laps[len(laps)/2], apart,
				slices.Equal(first, again))
			if !(apart <= 1e-5) {
				t.Errorf("%s %s: losses are %v, on %s %v: expected a relative difference of 1e-5 at most. "+
					"NVIDIA_TF32_OVERRIDE=0 says whether products of 10 bits are why", name, model, first, reference.ID, want)
			}
		}
	}
}

// 'make gpu-run' runs this on an NVIDIA GPU.
func TestAGPUComputesWhatTheCPUDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it trains every model")
	}
	gpu, err := backend.Open("xla:cuda")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	defer gpu.Finalize()
	cpu, err := backend.Open("xla:cpu")
	require.NoError(t, err)
	defer cpu.Finalize()
	fmt.Printf("%s\n| | an epoch, least | median | from the CPU | the same twice |\n|---|---|---|---|---|\n", gpu.Device())
	compare(t, gpu, cpu, hyper.Models(), []string{"cora", "pubmed", "sbm:nodes=23297,classes=41,degree=492,homophily=0.4,features=602"}, 50)
}
