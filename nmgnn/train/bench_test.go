package train

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
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
						trainer := trainerOf(b, backend, g, gnntest.View(b, g, 10, datasets.Transductive), s.WithMasking(0.5))
						_, err = trainer.timeEpochs(context.Background(), 1, validate)
						require.NoError(b, err)
						b.ResetTimer()
						laps, err := trainer.timeEpochs(context.Background(), b.N, validate)
						b.StopTimer()
						require.NoError(b, err)
						slices.Sort(laps)
						b.ReportMetric(float64(laps[0].Microseconds())/1000, "min-ms")
						b.ReportMetric(float64(laps[len(laps)/2].Microseconds())/1000, "median-ms")
						b.ReportMetric(trainer.CompileSeconds*1000, "compile-ms")
					})
				}
			}
		}
	}
}
