package train

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/jobs"
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

// BenchmarkVariants times whole trials of GIN on Cora, each with its own split and all results.
func BenchmarkVariants(b *testing.B) {
	g, err := datasets.Cora()
	require.NoError(b, err)
	p, err := hyper.Preset("standard")
	require.NoError(b, err)
	for _, setting := range datasets.Settings() {
		for _, percent := range []int{10, 50, 90} {
			for _, rate := range []float64{1, 0.5} {
				b.Run(fmt.Sprintf("%s/%d/keep=%v", setting, percent, rate), func(b *testing.B) {
					backend, err := backend.Open("xla:cpu")
					if err != nil {
						b.Skipf("skipped: %v", err)
					}
					require.NoError(b, jobs.Run(b.Context(), backend, 1, NewRunner, (*Runner).Close,
						func(ctx context.Context, r *Runner) error {
							x := Experiment{Graph: g, Parameters: p.WithMasking(rate), Setting: setting,
								TrainPercent: percent, Resplit: true}
							if _, err := r.Variants(ctx, x, 1); err != nil {
								return err
							}
							b.ResetTimer()
							epochs := 0
							for i := range b.N {
								longest := 0
								t, err := r.Variants(ctx, x, uint64(2+i))
								if err != nil {
									return err
								}
								for _, one := range t {
									longest = max(longest, len(one.History))
								}
								epochs += longest
							}
							b.ReportMetric(float64(epochs)/float64(b.N), "epochs/op")
							return nil
						}))
				})
			}
		}
	}
}
