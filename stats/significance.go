package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TTest is a two-sided paired t-test.
type TTest struct {
	N              int
	MeanDifference float64 // mean of a - b
	StdDev         float64 // sample standard deviation of a - b, with N-1
	T              float64 // MeanDifference / (StdDev/√N)
	DF             float64
	P              float64 // probability of a |T| this large if the true mean difference is 0
	Low, High      float64 // 95 % confidence interval of the mean difference
}

// PairedTTest tests whether a and b differ in mean, with a[i] and b[i] a pair, such as two models' scores on one seed.
//
// If all differences are equal, the interval has no width; T is 0 and P 1 if they are 0, else T is ±Inf and P 0. It
// returns an error if a and b differ in length, have fewer than 2 values or one that is not finite, or if the variance
// overflows or underflows.
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
		// Survival keeps the digits of a small P, 1 - CDF does not.
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

// ProbabilityText returns a p-value as written after "p": "0.012", or "< 0.001".
func ProbabilityText(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// ConfidenceInterval returns the mean of x and its interval by Student's t, which misses with probability alpha.
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

// HalfWidth returns half the width of the [ConfidenceInterval] of n ≥ 2 numbers with a standard deviation.
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

// Holm returns adjusted p-values (Holm 1979, as R's p.adjust). With the k-th smallest of m p-values p_k:
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

// meanStdDev returns the mean of x and its sample standard deviation: 0 if and only if all are equal.
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
