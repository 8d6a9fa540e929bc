package stats

import (
	"fmt"
	"math"
)

// Anytime is the state of a sequential paired test.
type Anytime struct {
	N            int
	Mean, StdDev float64
	// Low and High bound the true mean at all N at once; infinite with too few differences.
	Low, High float64
	// E is an e-value: if the true mean is 0, it ever reaches 1/α with probability at most α.
	E float64
}

// AnytimeTTest returns the paired t-test for repeated looks: with probability at least 1-alpha, its interval holds the
// true mean at all sample sizes at once, whatever decides when to stop, for independent normal differences. With n
// differences of mean d̄ and standard deviation s, ν = n-1 and t = √n·(d̄-μ)/s, the evidence against a true mean of μ
// is
//
//	E(μ) = (1+n)^(-1/2) · ((1 + t²/ν) / (1 + t²/(ν·(1+n))))^(n/2)
//
// the likelihood ratio of the scale-invariant t-statistic for standard normal effects μ/σ against no effect: a
// martingale if μ is true, so Ville's inequality holds. The interval is {μ : E(μ) < 1/alpha}: Lai 1976 ("On confidence
// sequences") with a normal mixture, as in Wang and Ramdas 2025 ("Anytime-valid t-tests and confidence sequences for
// Gaussian means with unknown variance").
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
	if !math.IsInf(half, 1) { // ∞·0 is NaN
		half *= sd
	}
	return Anytime{N: n, Mean: mean, StdDev: sd, Low: mean - half, High: mean + half, E: anytimeE(mean, sd, n)}, nil
}

func anytimeE(mean, sd float64, n int) float64 {
	size, nu := float64(n), float64(n-1)
	ratio := 1 + size // the limit for infinite t
	if t := math.Sqrt(size) * mean / sd; mean == 0 {
		ratio = 1
	} else if x := t * t / nu; !math.IsInf(x, 1) {
		ratio = (1 + x) / (1 + x/(1+size))
	}
	return math.Exp(size/2*math.Log(ratio) - math.Log1p(size)/2)
}

// anytimeHalf returns half the interval's width at standard deviation 1.
func anytimeHalf(n int, alpha float64) float64 {
	size, nu := float64(n), float64(n-1)
	c := math.Exp(2 / size * (math.Log1p(size)/2 - math.Log(alpha)))
	if n < 2 || c >= 1+size {
		return math.Inf(1)
	}
	return math.Sqrt(nu * (c - 1) / (1 - c/(1+size)) / size)
}

// Reach returns how many differences with a's standard deviation, up to most, bring the half-width of [AnytimeTTest]'s
// interval down to half.
func (a Anytime) Reach(half, alpha float64, most int) int {
	low, high := 1, most
	for high-low > 1 {
		if n := (low + high) / 2; a.StdDev*anytimeHalf(n, alpha) <= half {
			high = n
		} else {
			low = n
		}
	}
	return high
}
