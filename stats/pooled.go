package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Pooled tests the mean of several cells' paired differences[cell][split]. A split's differences are dependent, so each
// split counts once:
//
//	d_j = Σ_c differences[c][j] / cells
//
// It returns the paired t-test of the d_j against 0.
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

const detectPower = 0.8

// Detectable returns the smallest true mean difference that a two-sided paired t-test of n pairs at p < 0.05 finds with
// probability 0.8, if differences have standard deviation sd: with the noncentral t distribution of n-1 degrees of
// freedom, δ = Detectable, λ = δ·√n/sd and the critical value c,
//
//	P(|T'_{n-1}(λ)| > c) = 0.8
func Detectable(sd float64, n int) (float64, error) {
	if !(sd >= 0) || math.IsInf(sd, 1) {
		return 0, fmt.Errorf("detectable difference: a standard deviation of %v: expected a finite number from 0", sd)
	}
	if n < 2 {
		return 0, fmt.Errorf("detectable difference: %d pairs: expected at least 2", n)
	}
	// The power grows with λ, from 0.05 at 0 to almost 1 at 2c+4.
	critical, power := tTestPower(float64(n - 1))
	low, high := 0.0, 2*critical+4
	for {
		lambda := (low + high) / 2
		switch {
		case lambda <= low || lambda >= high:
			return lambda * sd / math.Sqrt(float64(n)), nil
		case power(lambda) < detectPower:
			low = lambda
		default:
			high = lambda
		}
	}
}

// tTestPower returns the critical value c with ν degrees of freedom, and P(|T'| > c) by the noncentrality λ. With T' =
// (Z+λ)/S, Z normal and ν·S² chi-squared:
//
//	P(|T'| > c) = ∫ f_S(s)·(Φ(λ - c·s) + Φ(-λ - c·s)) ds
func tTestPower(nu float64) (c float64, power func(lambda float64) float64) {
	// S lies outside 1 ± 10/√ν with probability below 1e-20, and the integrand is smooth: 300 nodes are plenty.
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
