package nmgnn

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// BenchmarkEpoch times one training epoch of preset "standard" with its validation pass, node masking on, in the
// transductive setting, where every pass runs over the whole graph. median-ms is what to quote.
func BenchmarkEpoch(b *testing.B) {
	for _, data := range []struct {
		name string
		open func() (*datasets.Graph, error)
	}{{"cora", datasets.Cora}, {"pubmed", datasets.PubMed}} {
		for _, id := range []string{"xla:cpu", "go"} {
			for _, keepRate := range []float64{1, 0.5} {
				b.Run(fmt.Sprintf("%s/%s/keep=%v", data.name, id, keepRate), func(b *testing.B) {
					backend, err := OpenBackend(id)
					if err != nil {
						b.Skipf("skipped: %v", err)
					}
					g, err := data.open()
					require.NoError(b, err)
					s, err := Preset("standard")
					require.NoError(b, err)
					s.KeepRate, s.MaxEpochs, s.Patience = keepRate, 1, 1<<30
					trainer := trainerOf(b, backend, g, viewOf(b, g, 10, datasets.Transductive), s)
					trainOnce(b, trainer, 1)
					trainer.options.MaxEpochs = b.N + 1
					var laps []float64
					var last time.Time
					b.ResetTimer()
					_, err = trainer.Train(context.Background(), 1, func(epoch int, _ Epoch) {
						if now := time.Now(); epoch > 1 {
							laps = append(laps, float64(now.Sub(last).Microseconds())/1000)
						}
						last = time.Now()
					})
					b.StopTimer()
					require.NoError(b, err)
					slices.Sort(laps)
					b.ReportMetric(laps[0], "min-ms")
					b.ReportMetric(laps[len(laps)/2], "median-ms")
					b.ReportMetric(trainer.CompileSeconds*1000, "compile-ms")
				})
			}
		}
	}
}
