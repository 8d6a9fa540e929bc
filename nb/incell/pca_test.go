package incell

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrincipalComponentsAreTheAxesOfACross(t *testing.T) {
	// Four points on a cross in the first two of three columns, turned by 45°: √2·4 along (1, 1), √2·1 along (1,
	// −1).
	x, y, explained, err := principalComponents([]float32{
		4, 4, 7,
		-4, -4, 7,
		1, -1, 7,
		-1, 1, 7,
	}, 4, 3)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{math.Sqrt(32), -math.Sqrt(32), 0, 0}, x, 1e-6)
	require.InDelta(t, math.Sqrt2, math.Abs(y[2]), 1e-6)
	require.InDelta(t, -y[2], y[3], 1e-6)
	require.InDelta(t, 0, y[0], 1e-6)
	require.InDelta(t, 64.0/68, explained[0], 1e-9)
	require.InDelta(t, 4.0/68, explained[1], 1e-9)
	again, _, _, err := principalComponents([]float32{-4, -4, 7, 4, 4, 7, 1, -1, 7, -1, 1, 7}, 4, 3)
	require.NoError(t, err)
	require.InDelta(t, -x[0], again[0], 1e-6, "the sign does not hang on the order of rows")
}

func TestWhatHasNoPrincipalComponentsIsRefused(t *testing.T) {
	_, _, _, err := principalComponents([]float32{1, 2}, 1, 2)
	require.ErrorContains(t, err, "expected two rows and columns at least")
	_, _, _, err = principalComponents([]float32{1, float32(math.NaN()), 3, 4}, 2, 2)
	require.ErrorContains(t, err, "not finite")
	x, y, explained, err := principalComponents(make([]float32, 6), 3, 2)
	require.NoError(t, err)
	require.Equal(t, [2]float64{}, explained, "all rows are the same")
	require.Equal(t, append(x, y...), make([]float64, 6))
}
