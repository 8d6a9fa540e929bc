package joint

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Explained says how much of the variance of y each axis explains, from 0 to 1: η², the sum of squares between the
// axis's options, of the total. y has n responses; factors [n][axes] has the option that each response has on each
// axis, by any numbers that tell options apart. With n_o responses of mean ȳ_o for option o:
//
//	η² = Σ_o n_o·(ȳ_o - ȳ)² / Σ_i (y_i - ȳ)²
//
// If every combination of options is there equally often, this is also what the axis explains beyond the others, and
// shares add up. Otherwise axes hang together, and one may count what another does.
//
// It is an error if there are no responses or no axes, if factors is not [n][axes], if a response is not finite, or if
// all are equal: then there is nothing to explain.
func Explained(y []float64, factors [][]int) ([]float64, error) {
	if len(factors) != len(y) {
		return nil, fmt.Errorf("explained variance: %d responses with factors of %d: expected equally many", len(y),
			len(factors))
	}
	if len(y) < 2 {
		return nil, fmt.Errorf("explained variance: %d values: expected at least 2", len(y))
	}
	for i, v := range y {
		if !finite(v) {
			return nil, fmt.Errorf("explained variance: value %d is %v: expected a finite number", i, v)
		}
	}
	mean, sd := stat.MeanStdDev(y, nil)
	switch {
	case slices.Min(y) == slices.Max(y):
		return nil, fmt.Errorf("explained variance: all %d responses are %v: expected some that differ", len(y), y[0])
	case sd == 0 || !finite(sd):
		return nil, errors.New("explained variance: the values' variance is not within the range of float64: scale them")
	case len(factors[0]) == 0:
		return nil, errors.New("explained variance: no axes: expected at least 1")
	}
	shares := make([]float64, len(factors[0]))
	for axis := range shares {
		options := map[int][]float64{} // responses, from their mean in standard deviations: no square overflows
		for i, row := range factors {
			if len(row) != len(shares) {
				return nil, fmt.Errorf("explained variance: response %d has options on %d axes, the first on %d: expected "+
					"equally many", i, len(row), len(shares))
			}
			options[row[axis]] = append(options[row[axis]], (y[i]-mean)/sd)
		}
		for _, option := range slices.Sorted(maps.Keys(options)) {
			m := stat.Mean(options[option], nil)
			shares[axis] += float64(len(options[option])) * m * m / float64(len(y)-1)
		}
	}
	return shares, nil
}
