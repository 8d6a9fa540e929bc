package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TTest is a two-sided paired t-test.
type TTest struct {
	N              int
	MeanDifference float64 // mean of a - b
	StdDev         float64 // sample standard deviation of a - b (N-1)
	T              float64 // MeanDifference / (StdDev/√N)
	DF             float64
	P              float64 // probability of |T| or more if the true mean difference is 0
	Low, High      float64 // 95 % confidence interval of the mean difference
}

// PairedTTest tests whether a and b differ in mean; a[i] and b[i] are a pair.
//
// If all differences are equal, the interval is a point (Low = High): T is 0 and P is 1 if the differences are 0, else
// T is ±Inf and P is 0.
//
// PairedTTest returns an error if a and b differ in length, have fewer than 2 values or a value that is not finite, or
// if the variance overflows or underflows.
func PairedTTest(a, b []float64) (TTest, error) {
	if len(a) != len(b) {
		return TTest{}, fmt.Errorf("t-test of %d values paired with %d: expected equally many", len(a), len(b))
	}
	differences := make([]float64, len(a))
	for i := range a {
		if !finite(a[i]) || !finite(b[i]) {
			return TTest{}, fmt.Errorf("t-test: pair %d is %v and %v: expected finite numbers", i, a[i], b[i])
		}
		differences[i] = a[i] - b[i]
	}
	mean, sd, err := meanStdDev(differences)
	if err != nil {
		return TTest{}, fmt.Errorf("t-test: %w", err)
	}
	n := float64(len(a))
	r := TTest{N: len(a), MeanDifference: mean, StdDev: sd, DF: n - 1}
	half := HalfWidth(sd, len(a), 0.05)
	r.Low, r.High = mean-half, mean+half
	switch {
	case sd > 0:
		r.T = mean / (sd / math.Sqrt(n))
		// Survival keeps the digits of a small P; 1 - CDF loses them.
		r.P = min(2*distuv.StudentsT{Sigma: 1, Nu: r.DF}.Survival(math.Abs(r.T)), 1)
	case mean == 0:
		r.P = 1
	default:
		r.T = math.Inf(1)
		if mean < 0 {
			r.T = math.Inf(-1)
		}
	}
	return r, nil
}

// ProbabilityText returns a p-value as text: "0.012" or "< 0.001".
func ProbabilityText(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// ConfidenceInterval returns the mean of x and its 1-alpha confidence interval by Student's t.
func ConfidenceInterval(x []float64, alpha float64) (mean, low, high float64, err error) {
	if !(alpha > 0 && alpha < 1) {
		return 0, 0, 0, fmt.Errorf("confidence interval: alpha %v: expected a probability between 0 and 1", alpha)
	}
	mean, sd, err := meanStdDev(x)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("confidence interval: %w", err)
	}
	half := HalfWidth(sd, len(x), alpha)
	return mean, mean - half, mean + half, nil
}

// HalfWidth returns half the width of the [ConfidenceInterval] of n ≥ 2 numbers with standard deviation sd.
func HalfWidth(sd float64, n int, alpha float64) float64 {
	if sd == 0 {
		return 0
	}
	key := [2]float64{float64(n), alpha}
	t, ok := quantiles.Load(key)
	if !ok {
		t = distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(1 - alpha/2)
		quantiles.Store(key, t)
	}
	return t.(float64) * sd / math.Sqrt(float64(n))
}

// Holm returns adjusted p-values (Holm 1979, as R's p.adjust). With p_k the k-th smallest of m p-values:
//
//	adjusted_k = min(1, max_{l ≤ k} (m-l+1)·p_l)
func Holm(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("Holm: p-value %d is %v: expected 0 to 1", i, v)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted, largest := make([]float64, len(p)), 0.0
	for k, i := range order {
		largest = max(largest, float64(len(p)-k)*p[i])
		adjusted[i] = min(largest, 1)
	}
	return adjusted, nil
}

// sd is 0 if and only if all values are equal.
func meanStdDev(x []float64) (mean, sd float64, err error) {
	if len(x) < 2 {
		return 0, 0, fmt.Errorf("%d values: expected at least 2", len(x))
	}
	equal := true
	for i, v := range x {
		if !finite(v) {
			return 0, 0, fmt.Errorf("value %d is %v: expected a finite number", i, v)
		}
		equal = equal && v == x[0]
	}
	if equal {
		return x[0], 0, nil
	}
	if mean, sd = stat.MeanStdDev(x, nil); sd == 0 || !finite(sd) {
		return 0, 0, errors.New("the values' variance is not within the range of float64: scale them")
	}
	return mean, sd, nil
}

var quantiles sync.Map

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Pooled tests the mean of paired differences[cell][split] over cells (experiments) and splits. Differences on the same
// split j are dependent, so each split counts once:
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
// probability 0.8, if differences have standard deviation sd. It solves
//
//	P(|T'_{n-1}(λ)| > c) = 0.8
//
// for the difference δ. T'_{n-1}(λ) is noncentral t with n-1 degrees of freedom and noncentrality λ = δ·√n/sd; c is the
// critical value.
func Detectable(sd float64, n int) (float64, error) {
	if !(sd >= 0) || math.IsInf(sd, 1) {
		return 0, fmt.Errorf("detectable difference: a standard deviation of %v: expected a finite number from 0", sd)
	}
	if n < 2 {
		return 0, fmt.Errorf("detectable difference: %d pairs: expected at least 2", n)
	}
	// The power grows with the noncentrality λ, from 0.05 at λ = 0 to almost 1 at λ = 2·critical+4.
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

// tTestPower returns the critical value c of the two-sided t-test at level 0.05 with ν degrees of freedom, and the
// test's power P(|T'| > c) as a function of the noncentrality λ of the statistic T' = (Z+λ)/S. Z is standard normal,
// ν·S² is chi-squared, f_S is the density of S, and Φ the distribution function of Z:
//
//	P(|T'| > c) = ∫ f_S(s)·(Φ(λ - c·s) + Φ(-λ - c·s)) ds
func tTestPower(nu float64) (c float64, power func(lambda float64) float64) {
	// S = √(χ²_ν/ν) lies outside 1 ± 10/√ν with probability below 1e-20, and the integrand is smooth: 300 quadrature
	// nodes suffice.
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
