package train

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/hyper"
)

func TestEarlyStoppingKeepsTheFirstBest(t *testing.T) {
	for on, score := range map[hyper.StopOn]func(x float64) Epoch{
		"":                   func(x float64) Epoch { return Epoch{ValidationLoss: x} },
		hyper.StopOnLoss:     func(x float64) Epoch { return Epoch{ValidationLoss: x} },
		hyper.StopOnF1:       func(x float64) Epoch { return Epoch{ValidationF1: -x} },
		hyper.StopOnAccuracy: func(x float64) Epoch { return Epoch{ValidationAccuracy: -x} },
	} {
		e := earlyStopping{On: on, Patience: 2}
		require.True(t, e.observe(score(3)))
		require.True(t, e.observe(score(2)))
		require.False(t, e.observe(score(2)), "equal is not better")
		require.False(t, e.over())
		require.False(t, e.observe(score(math.NaN())), "NaN is not better")
		require.True(t, e.over())
		require.Equal(t, 2, e.best)
	}
}

func TestStoppingOnEitherWaitsForBoth(t *testing.T) {
	e := earlyStopping{On: hyper.StopOnEither, Patience: 2}
	for i, epoch := range []struct {
		loss, accuracy float64
		best, stop     bool
	}{
		{3, 0.5, true, false},
		{2, 0.4, false, false}, // loss only: patience restarts
		{2.5, 0.4, false, false},
		{2, 0.5, true, false}, // ties count for both
		{2.5, 0.4, false, false},
		{math.NaN(), 0.6, false, false}, // accuracy only
		{1, 0.5, false, false},
		{2, 0.5, false, false},
		{2, 0.5, false, true},
	} {
		require.Equal(t, epoch.best, e.observe(Epoch{ValidationLoss: epoch.loss, ValidationAccuracy: epoch.accuracy}),
			"epoch %d", i+1)
		require.Equal(t, epoch.stop, e.over(), "epoch %d", i+1)
	}
	require.Equal(t, 4, e.best)
}
