package train

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEarlyStoppingRemembersTheFirstBestAndStopsAfterPatience(t *testing.T) {
	e := EarlyStopping{Patience: 2}
	require.True(t, e.Observe(3))
	require.True(t, e.Observe(2))
	require.False(t, e.Observe(2), "equal is not better")
	require.False(t, e.Stop())
	require.False(t, e.Observe(math.NaN()), "NaN is not better")
	require.True(t, e.Stop())
	require.Equal(t, 2, e.BestEpoch())
}
