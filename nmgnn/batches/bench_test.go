package batches

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/learn"
)

// BenchmarkEpoch is an epoch of GIN on PubMed with validation, as a whole and in four clusters.
func BenchmarkEpoch(b *testing.B) {
	xla := gnntest.XLA(b)
	g, err := datasets.Open(b.Context(), "pubmed", datasets.OpenOptions{})
	require.NoError(b, err)
	view := gnntest.View(b, g, 10, datasets.Transductive)
	for _, clusters := range []int{1, 4} {
		for _, keepRate := range []hyper.KeepRate{1, 0.5} {
			b.Run(fmt.Sprintf("%d clusters, keep rate %v", clusters, keepRate), func(b *testing.B) {
				s, err := hyper.For("gin")
				require.NoError(b, err)
				s.KeepRate = keepRate
				t := trainerOf(b, xla, g, view, s, optionsOf(b, view, s, clusters))
				require.NoError(b, t.start.Reset(t.train.store, t.options.training.LearningRate, 1))
				require.NoError(b, t.openCaches(1))
				require.NoError(b, t.firstCaches(b.Context()))
				t.draws = learn.NewDraws(1, t.train.phase.Edges.NumNodes())
				for b.Loop() {
					_, _, err := t.epoch(b.Context())
					require.NoError(b, err)
				}
			})
		}
	}
}
