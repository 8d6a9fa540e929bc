package incell

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// principalComponents returns the first two principal components of rows of numbers [rows, width]: x[i], y[i] of each
// row, and the share of the variance that each explains. The sign of a component is that in which its largest loading
// is positive, so that the same numbers always give the same picture. It returns an error for fewer than two rows or
// columns, and for numbers that are not finite.
func principalComponents(values []float32, rows, width int) (x, y []float64, explained [2]float64, err error) {
	if rows < 2 || width < 2 || len(values) != rows*width {
		return nil, nil, explained, fmt.Errorf("principal components of %d numbers as [%d, %d]: expected two rows "+
			"and columns at least", len(values), rows, width)
	}
	means := make([]float64, width)
	for i, v := range values {
		means[i%width] += float64(v) / float64(rows)
	}
	covariance := mat.NewSymDense(width, nil)
	total := 0.0
	row := make([]float64, width)
	for r := range rows {
		for c := range row {
			row[c] = float64(values[r*width+c]) - means[c]
		}
		covariance.SymRankOne(covariance, 1, mat.NewVecDense(width, row))
	}
	for c := range width {
		total += covariance.At(c, c)
	}
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return nil, nil, explained, errors.New("principal components of numbers that are not finite")
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return nil, nil, explained, errors.New("principal components were not found: the decomposition did not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	places := [2][]float64{make([]float64, rows), make([]float64, rows)}
	for k := range places {
		loadings := mat.Col(nil, width-1-k, &vectors) // eigenvalues ascend
		largest := 0
		for c, l := range loadings {
			if math.Abs(l) > math.Abs(loadings[largest])+1e-12 {
				largest = c
			}
		}
		sign := 1.0
		if loadings[largest] < 0 {
			sign = -1
		}
		for r := range rows {
			for c, l := range loadings {
				places[k][r] += sign * l * (float64(values[r*width+c]) - means[c])
			}
		}
		if total > 0 {
			explained[k] = max(0, eigen.Values(nil)[width-1-k]) / total
		}
	}
	return places[0], places[1], explained, nil
}
