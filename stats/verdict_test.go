package stats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/stats"
)

func TestADifferenceIsCalledByItsPAndIts90PercentInterval(t *testing.T) {
	// Of 20 pairs with standard deviation 1 the 90 % interval reaches 1.729/√20 = 0.3866 to each side.
	of := func(mean float64) stats.TTest { return stats.TTest{N: 20, MeanDifference: mean, StdDev: 1} }
	for _, c := range []struct {
		mean, p float64
		want    stats.Verdict
	}{{0.3, 0.049, stats.Helps}, {-0.3, 0.049, stats.Hurts}, {0.613, 0.05, stats.UnderAPoint},
		{0.614, 0.05, stats.CannotTell}, {-0.614, 1, stats.CannotTell}, {0, 1, stats.UnderAPoint}} {
		require.Equal(t, c.want, of(c.mean).Verdict(c.p), "%v", c)
	}
	require.Equal(t, stats.UnderAPoint, stats.TTest{N: 2}.Verdict(1), "no spread")
	require.True(t, stats.Hurts.Clear())
	require.False(t, stats.UnderAPoint.Clear())
}
