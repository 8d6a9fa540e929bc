package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Summary holds a mean and a sample standard deviation, with N-1.
type Summary struct {
	N            int
	Mean, StdDev float64 // no values: NaN and 0
}

// Summarize returns the summary of x.
func Summarize(x []float64) Summary {
	switch len(x) {
	case 0:
		return Summary{Mean: math.NaN()}
	case 1:
		return Summary{N: 1, Mean: x[0]}
	}
	mean, sd := stat.MeanStdDev(x, nil)
	return Summary{len(x), mean, sd}
}

// Text returns "81.20 ± 0.55"; the mean alone if the deviation is 0, a dash without values.
func (s Summary) Text(digits int) string {
	switch {
	case s.N == 0:
		return "–"
	case s.StdDev == 0:
		return fmt.Sprintf("%.*f", digits, s.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, s.Mean, digits, s.StdDev)
}

// Median returns the median, or NaN if x is empty or holds a NaN.
func Median(x []float64) float64 {
	if len(x) == 0 || slices.ContainsFunc(x, math.IsNaN) {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
