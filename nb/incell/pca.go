package incell

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// principalComponents returns the first two components of row-major values [rows, width], and their shares of the
// variance. The largest loading is positive, for reproducible pictures. Fewer than two rows or columns, and numbers
// that are not finite, are errors.
func principalComponents(values []float32, rows, width int) (x, y []float64, explained [2]float64, err error) {
	if rows < 2 || width < 2 || len(values) != rows*width {
		return nil, nil, explained, fmt.Errorf("principal components of %d numbers as [%d, %d]: expected two rows "+
			"and columns at least", len(values), rows, width)
	}
	all := mat.NewDense(rows, width, nil)
	all.Apply(func(r, c int, _ float64) float64 { return float64(values[r*width+c]) }, all)
	if sum := mat.Sum(all); math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, nil, explained, errors.New("principal components of numbers that are not finite")
	}
	var components stat.PC
	if !components.PrincipalComponents(all, nil) {
		return nil, nil, explained, errors.New("principal components were not found: the decomposition did not converge")
	}
	var vectors mat.Dense
	components.VectorsTo(&vectors)
	variances := components.VarsTo(nil)
	var places [2][]float64
	for k := range places {
		loadings := mat.Col(nil, k, &vectors)
		largest := 0
		for c, l := range loadings {
			if math.Abs(l) > math.Abs(loadings[largest])+1e-12 {
				largest = c
			}
		}
		floats.Scale(math.Copysign(1, loadings[largest]), loadings)
		var place mat.VecDense
		place.MulVec(all, mat.NewVecDense(width, loadings))
		places[k] = place.RawVector().Data
		floats.AddConst(-stat.Mean(places[k], nil), places[k])
		if total := floats.Sum(variances); total > 0 {
			explained[k] = variances[k] / total
		}
	}
	return places[0], places[1], explained, nil
}
