package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// likelihood of effect size δ for the scale-invariant statistic, up to a factor free of δ: with the right Haar prior
// 1/σ, ∫ σ^(-n-1)·exp(-Σ(d_i - δσ)²/2σ²) dσ.
func likelihood(d []float64, effect float64) float64 {
	return quad.Fixed(func(logSigma float64) float64 {
		sigma, squares := math.Exp(logSigma), 0.0
		for _, x := range d {
			squares += (x - effect*sigma) * (x - effect*sigma)
		}
		return math.Exp(-float64(len(d))*logSigma - squares/(2*sigma*sigma))
	}, -6, 8, 800, nil, 0)
}

func TestAnytimeEvidenceIsItsMixtureOfLikelihoods(t *testing.T) {
	for _, d := range [][]float64{{1, 2}, {0.3, -0.4, 1.1}, {1, 2, 1.5, 0.7, 2.2}, {-3, -2, -2.5, -3.1, -1}} {
		mixture := quad.Fixed(func(effect float64) float64 {
			return distuv.UnitNormal.Prob(effect) * likelihood(d, effect)
		}, -9, 9, 400, nil, 0)
		r, err := AnytimeTTest(d, 0.05)
		require.NoError(t, err)
		assert.InEpsilon(t, mixture/likelihood(d, 0), r.E, 1e-6)
	}
}

func TestAnytimeIntervalEndsAtOneOverAlpha(t *testing.T) {
	d := []float64{0.4, 1.3, -0.2, 0.9, 0.7, 1.8, 0.1, 0.6, 1.1, 0.3}
	for _, alpha := range []float64{0.05, 0.002} {
		r, err := AnytimeTTest(d, alpha)
		require.NoError(t, err)
		for _, end := range []float64{r.Low, r.High} {
			moved := make([]float64, len(d))
			for i := range d {
				moved[i] = d[i] - end
			}
			at, err := AnytimeTTest(moved, alpha)
			require.NoError(t, err)
			assert.InEpsilon(t, 1/alpha, at.E, 1e-9)
		}
		fixed := paired(t, d, make([]float64, len(d)))
		assert.Less(t, r.Low, fixed.Low, "looking at any time has a price")
		assert.InDelta(t, (r.Low+r.High)/2, r.Mean, 1e-12)
	}
}

func TestAnytimeTTestIsWrongInAtMostAlphaOfRuns(t *testing.T) {
	const runs, most, alpha = 2000, 60, 0.05
	random := rand.New(rand.NewPCG(1, 2))
	outside, fixed := 0, 0
	for range runs {
		var d []float64
		missed, significant := false, false
		for len(d) < most {
			d = append(d, 3+2*random.NormFloat64())
			if len(d) < 2 {
				continue
			}
			r, err := AnytimeTTest(d, alpha)
			require.NoError(t, err)
			missed = missed || r.Low > 3 || r.High < 3
			test := paired(t, d, make([]float64, len(d)))
			significant = significant || test.Low > 3 || test.High < 3
		}
		if missed {
			outside++
		}
		if significant {
			fixed++
		}
	}
	assert.LessOrEqual(t, outside, runs*5/100)
	assert.Greater(t, outside, 0)
	assert.Greater(t, fixed, runs*20/100, "a t-test of a fixed size is wrong far more often")
}

func TestAnytimeTTestOfEqualDifferences(t *testing.T) {
	same, err := AnytimeTTest([]float64{0, 0, 0, 0, 0, 0, 0, 0}, 0.05)
	require.NoError(t, err)
	assert.Zero(t, same.Mean)
	assert.Zero(t, same.Low)
	assert.Zero(t, same.High)
	assert.Less(t, same.E, 1.0)
	two, err := AnytimeTTest([]float64{1, 1}, 0.05)
	require.NoError(t, err)
	assert.True(t, math.IsInf(two.Low, -1) && math.IsInf(two.High, 1), "two splits say nothing")
	for _, alpha := range []float64{0, 1, math.NaN()} {
		_, err := AnytimeTTest([]float64{1, 2}, alpha)
		assert.Error(t, err)
	}
	_, err = AnytimeTTest([]float64{1}, 0.05)
	assert.Error(t, err)
}

func TestReachIsTheFewestDifferencesThatReach(t *testing.T) {
	for _, half := range []float64{0.2, 0.5, 2} {
		n := Anytime{StdDev: 1.5}.Reach(half, 0.01, 100_000)
		assert.LessOrEqual(t, 1.5*anytimeHalf(n, 0.01), half)
		assert.Greater(t, 1.5*anytimeHalf(n-1, 0.01), half)
	}
	assert.Equal(t, 50, Anytime{StdDev: 1.5}.Reach(0.001, 0.01, 50))
}
