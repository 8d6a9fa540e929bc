package train

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
)

// BenchmarkEpoch times one masked training epoch in the transductive setting, without and with validation. Quote
// median-ms. In WebAssembly, with Node:
//
//	GOOS=js GOARCH=wasm go test -exec "$(go env GOROOT)/lib/wasm/go_js_wasm_exec" \
//		./nmgnn/train -run '^$' -bench Epoch/cora/go
func BenchmarkEpoch(b *testing.B) {
	for _, data := range []string{"cora", "pubmed"} {
		for _, id := range []string{"xla:cpu", "go"} {
			for _, name := range hyper.Models() {
				for _, validate := range []bool{false, true} {
					b.Run(fmt.Sprintf("%s/%s/%s/validate=%t", data, id, name, validate), func(b *testing.B) {
						backend, err := backend.Open(id)
						if err != nil {
							b.Skipf("skipped: %v", err)
						}
						g, err := datasets.Open(b.Context(), data, datasets.OpenOptions{})
						require.NoError(b, err)
						s, err := hyper.For(name)
						require.NoError(b, err)
						begin := time.Now()
						trainer := trainerOf(b, backend, g, gnntest.View(b, g, 10, datasets.Transductive), s.WithMasking(0.5))
						compiling := time.Since(begin)
						lap := lapOf(b, trainer, validate)
						lap()
						laps := make([]time.Duration, b.N)
						b.ResetTimer()
						for i := range laps {
							laps[i] = lap()
						}
						b.StopTimer()
						slices.Sort(laps)
						b.ReportMetric(float64(laps[0].Microseconds())/1000, "min-ms")
						b.ReportMetric(float64(laps[len(laps)/2].Microseconds())/1000, "median-ms")
						b.ReportMetric(compiling.Seconds()*1000, "compile-ms")
					})
				}
			}
		}
	}
}

// lapOf returns a function that trains one more epoch and returns its wall time, from drawing the mask until the loss
// is known.
func lapOf(b *testing.B, t *trainer, validate bool) func() time.Duration {
	require.NoError(b, t.start.Reset(t.store, t.options.LearningRate, 1))
	program := t.epoch
	if !validate {
		var err error
		program, err = t.compileStep(false)
		require.NoError(b, err)
		b.Cleanup(program.Finalize)
	}
	draws := newDraws(1, t.trainNodes())
	return func() time.Duration {
		begin := time.Now()
		outputs, err := t.step(program, draws)
		require.NoError(b, err)
		tensors.ToScalar[float32](outputs[0])
		lap := time.Since(begin)
		gomlx.Finalize(outputs)
		return lap
	}
}
