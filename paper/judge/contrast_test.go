package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

func TestContrastsAreOfScores(t *testing.T) {
	// Plain 70 and 69 from the cache; masked 73, and 72.5, 72.4 and 72.3 from the cache by split.
	results := trials(t, "gat", 3, func(c record.Cell, _ hyper.StopOn, _ datasets.Arrivals, split int) (float64, float64) {
		if c.Parameters.KeepRate.Active() {
			return 73, 72.5 - float64(split)/10
		}
		return 70, 69
	})
	q := asked(t, "gat", datasets.Inductive)
	for _, test := range []struct {
		of   func(Scores) float64
		want []float64
	}{
		{nil, []float64{3, 3, 3}},
		{func(s Scores) float64 { return s.Plain - s.PlainCached }, []float64{1, 1, 1}},
		{func(s Scores) float64 { return s.MaskedCached - s.Masked }, []float64{-0.5, -0.6, -0.7}},
	} {
		q.Contrast = Contrast{Of: test.of}
		_, effects := effectsOf(t, q, results)
		require.Len(t, effects, 48)
		for _, e := range effects {
			require.InDeltaSlice(t, test.want, e.Differences[0], 1e-9)
			require.InDelta(t, 70, e.Plain[0], 1e-9, "whatever is contrasted")
			require.InDelta(t, 73, e.Masked[0], 1e-9)
		}
	}
}
