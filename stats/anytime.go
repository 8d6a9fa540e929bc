package stats

import (
	"fmt"
	"math"
)

// Anytime holds what paired differences say so far. All but N and E are in the unit of the differences.
type Anytime struct {
	N            int     // differences
	Mean, StdDev float64 // of the differences, with N-1
	// Low and High hold the true mean at every N at once, with the confidence that was asked for; infinite while there are
	// too few differences to say anything.
	Low, High float64
	// E is the evidence against a true mean of 0, as an e-value: where the mean is 0, it ever reaches 1/α with a
	// probability of at most α.
	E float64
}

// AnytimeTTest is the paired t-test for those who look again and again, and stop when they have seen enough: its
// interval holds the true mean at all sizes of the sample at once, with a probability of at least 1-alpha, whatever
// decides when to stop. It assumes that differences are normal and independent. Of n differences with mean d̄ and
// standard deviation s, with ν = n-1 and t = √n·(d̄-μ)/s, the evidence against a true mean of μ is
//
//	E(μ) = (1+n)^(-1/2) · ((1 + t²/ν) / (1 + t²/(ν·(1+n))))^(n/2)
//
// the likelihood ratio of the scale-invariant t-statistic for effects μ/σ drawn from a standard normal, against none:
// a martingale where μ is true, so that Ville's inequality holds. The interval is {μ : E(μ) < 1/alpha}. It is that of
// Lai 1976 ("On confidence sequences") with a normal mixture, as Wang and Ramdas 2025 have it ("Anytime-valid t-tests
// and confidence sequences for Gaussian means with unknown variance").
//
// It is an error if alpha is not between 0 and 1, if there are fewer than 2 differences, if one is not finite, or if
// their variance leaves the range of float64.
func AnytimeTTest(differences []float64, alpha float64) (Anytime, error) {
	if !(alpha > 0 && alpha < 1) {
		return Anytime{}, fmt.Errorf("anytime t-test: alpha %v: expected a probability between 0 and 1", alpha)
	}
	mean, sd, err := meanStdDev(differences)
	if err != nil {
		return Anytime{}, fmt.Errorf("anytime t-test: %w", err)
	}
	n := len(differences)
	half := anytimeHalf(n, alpha)
	if !math.IsInf(half, 1) { // which, times a deviation of 0, is no number
		half *= sd
	}
	return Anytime{N: n, Mean: mean, StdDev: sd, Low: mean - half, High: mean + half, E: anytimeE(mean, sd, n)}, nil
}

// anytimeE is E(0) of n differences.
func anytimeE(mean, sd float64, n int) float64 {
	size, nu := float64(n), float64(n-1)
	ratio := 1 + size // its limit, where t is infinite
	if t := math.Sqrt(size) * mean / sd; mean == 0 {
		ratio = 1
	} else if x := t * t / nu; !math.IsInf(x, 1) {
		ratio = (1 + x) / (1 + x/(1+size))
	}
	return math.Exp(size/2*math.Log(ratio) - math.Log1p(size)/2)
}

// anytimeHalf is half the width of the interval of n differences whose standard deviation is 1: where E is 1/alpha.
func anytimeHalf(n int, alpha float64) float64 {
	size, nu := float64(n), float64(n-1)
	c := math.Exp(2 / size * (math.Log1p(size)/2 - math.Log(alpha)))
	if n < 2 || c >= 1+size {
		return math.Inf(1)
	}
	return math.Sqrt(nu * (c - 1) / (1 - c/(1+size)) / size)
}

// AnytimeSplits returns how many differences of a standard deviation it takes for [AnytimeTTest]'s interval to reach
// at most half to each side of its mean; most if that are not enough.
func AnytimeSplits(sd, half, alpha float64, most int) int {
	low, high := 1, most
	for high-low > 1 {
		if n := (low + high) / 2; sd*anytimeHalf(n, alpha) <= half {
			high = n
		} else {
			low = n
		}
	}
	return high
}
