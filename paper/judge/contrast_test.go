package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

func TestContrastsAreDifferencesOfSumsOfScores(t *testing.T) {
	// Plain 70 and 69 from the cache; masked 73, and 72.5, 72.4 and 72.3 from the cache by split.
	results := trials(t, "gat", 3, func(c record.Cell, _ hyper.StopOn, _ datasets.Arrivals, split int) (float64, float64) {
		if c.Parameters.KeepRate.Active() {
			return 73, 72.5 - float64(split)/10
		}
		return 70, 69
	})
	q := asked(t, "gat", datasets.Inductive)
	plain, plainCached := Score{Arm: Plain}, Score{Arm: Plain, Cached: true}
	masked, maskedCached := Score{Arm: Masked}, Score{Arm: Masked, Cached: true}
	for _, test := range []struct {
		contrast Contrast
		want     []float64
	}{
		{Contrast{}, []float64{3, 3, 3}},
		{Contrast{Plus: []Score{masked}, Minus: []Score{plain}}, []float64{3, 3, 3}},
		{Contrast{Plus: []Score{plain}, Minus: []Score{plainCached}}, []float64{1, 1, 1}},
		{Contrast{Plus: []Score{maskedCached}, Minus: []Score{plain}}, []float64{2.5, 2.4, 2.3}},
		{Contrast{Plus: []Score{plain, maskedCached}, Minus: []Score{plainCached, masked}}, []float64{0.5, 0.4, 0.3}},
	} {
		q.Contrast = test.contrast
		effects := effectsOf(t, q, results)
		require.Len(t, effects.Effects, 48)
		for _, e := range effects.Effects {
			require.InDeltaSlice(t, test.want, e.Differences[0], 1e-9)
			require.InDelta(t, 70, e.Plain[0], 1e-9, "whatever is contrasted")
			require.InDelta(t, 73, e.Masked[0], 1e-9)
		}
	}

	q.Contrast = Contrast{Plus: []Score{maskedCached}, Minus: []Score{masked}}
	other := asked(t, "gat", datasets.Transductive)
	other.Contrast = q.Contrast
	_, err := other.Effects(results)
	require.EqualError(t, err, "a cached score in the transductive setting: only the inductive one has them")
}
