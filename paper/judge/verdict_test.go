package judge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/paper/judge"
	"nodemask/stats"
)

func TestADifferenceIsCalledByItsPAndIts90PercentInterval(t *testing.T) {
	// Of 20 pairs with standard deviation 1 the 90 % interval reaches 1.729/√20 = 0.3866 to each side.
	of := func(mean float64) stats.TTest { return stats.TTest{N: 20, MeanDifference: mean, StdDev: 1} }
	for _, c := range []struct {
		mean, p float64
		want    judge.Verdict
	}{{0.3, 0.049, judge.Helps}, {-0.3, 0.049, judge.Hurts}, {0.613, 0.05, judge.Under},
		{0.614, 0.05, judge.Unclear}, {-0.614, 1, judge.Unclear}, {0, 1, judge.Under}} {
		require.Equal(t, c.want, judge.VerdictOf(of(c.mean), c.p), "%v", c)
	}
	require.Equal(t, judge.Under, judge.VerdictOf(stats.TTest{N: 2}, 1), "no spread")
	require.True(t, judge.Hurts.Clear())
	require.False(t, judge.Under.Clear())
}
