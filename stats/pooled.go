package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Pooled tests the mean of several cells' paired differences. differences[cell][split] is that of a cell, for instance
// a size of the train set, on a split; all cells are on the same splits. The differences of a split hang together, so
// each split counts once, by its mean over the cells:
//
//	d_j = Σ_c differences[c][j] / cells
//
// The result is the paired t-test of the d_j against 0, with its interval over the splits. It is an error if there are
// no cells or if cells differ in splits; other errors are those of [PairedTTest].
func Pooled(differences [][]float64) (TTest, error) {
	if len(differences) == 0 {
		return TTest{}, fmt.Errorf("pooled effect of no cells: expected at least 1")
	}
	splits := len(differences[0])
	means := make([]float64, splits)
	for c, cell := range differences {
		if len(cell) != splits {
			return TTest{}, fmt.Errorf("pooled effect: cell %d has %d splits, the first has %d: expected equally many", c,
				len(cell), splits)
		}
		for j, d := range cell {
			means[j] += d / float64(len(differences))
		}
	}
	test, err := PairedTTest(means, make([]float64, splits))
	if err != nil {
		return TTest{}, fmt.Errorf("pooled effect: %w", err)
	}
	return test, nil
}

// detectPower is the power at which [Detectable] calls a difference detectable.
const detectPower = 0.8

// Detectable returns the smallest true mean difference that a two-sided paired t-test of n pairs at p < 0.05 finds
// with a probability of 0.8, if differences have the standard deviation sd. It is the exact one, by the noncentral t
// distribution with n-1 degrees of freedom: for δ = Detectable, λ = δ·√n/sd and the critical value c,
//
//	P(|T'_{n-1}(λ)| > c) = 0.8
//
// What is below it may exist and be missed. An sd of 0 gives 0. It is an error if sd is negative or not finite or n is
// below 2.
func Detectable(sd float64, n int) (float64, error) {
	if !(sd >= 0) || math.IsInf(sd, 1) {
		return 0, fmt.Errorf("detectable difference: a standard deviation of %v: expected a finite number from 0", sd)
	}
	if n < 2 {
		return 0, fmt.Errorf("detectable difference: %d pairs: expected at least 2", n)
	}
	// The power grows with λ, from 0.05 at 0. At twice the critical value and 4 it is all but 1.
	critical, power := tTestPower(float64(n - 1))
	low, high := 0.0, 2*critical+4
	for {
		lambda := (low + high) / 2
		switch {
		case lambda <= low || lambda >= high: // no number is between them
			return lambda * sd / math.Sqrt(float64(n)), nil
		case power(lambda) < detectPower:
			low = lambda
		default:
			high = lambda
		}
	}
}

// tTestPower returns the critical value c of a t-test with ν degrees of freedom, and P(|T'| > c) for the noncentral t
// distribution. With T' = (Z+λ)/S, Z normal and ν·S² chi-squared, for noncentrality λ:
//
//	P(|T'| > c) = ∫ f_S(s)·(Φ(λ - c·s) + Φ(-λ - c·s)) ds
func tTestPower(nu float64) (c float64, power func(lambda float64) float64) {
	// S is within 1 ± 10/√ν but for less than 1e-20, and the integrand is smooth: 300 nodes are far beyond what it
	// needs.
	var places, weights, density [300]float64
	spread := 10 / math.Sqrt(nu)
	quad.Legendre{}.FixedLocations(places[:], weights[:], max(0, 1-spread), 1+spread)
	logGamma, _ := math.Lgamma(nu / 2)
	constant := math.Ln2 + nu/2*math.Log(nu/2) - logGamma
	for i, s := range places {
		density[i] = math.Exp(constant + (nu-1)*math.Log(s) - nu*s*s/2)
	}
	c = distuv.StudentsT{Sigma: 1, Nu: nu}.Quantile(1 - 0.05/2)
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return c, func(lambda float64) (integral float64) {
		for i, s := range places {
			integral += weights[i] * (density[i] * (phi(lambda-c*s) + phi(-lambda-c*s)))
		}
		return integral
	}
}
