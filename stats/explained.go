package stats

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// AxisShare says how much of the variance of some responses one axis explains, from 0 to 1.
type AxisShare struct {
	Alone float64 // η²: the sum of squares between the axis's options, of the total
	Lost  float64 // what R² of the additive model of all axes loses without this one
}

// Variance says what explains the variance of some responses.
type Variance struct {
	Axes     []AxisShare // one for each axis
	Additive float64     // R² of the additive model of all axes; the rest is how they work together, and noise
}

// Explained says how much of the variance of y each axis explains. y has n responses; factors [n][axes] has the option
// that each response has on each axis, by any numbers that tell options apart. With n_o responses of mean ȳ_o for
// option o:
//
//	Alone = Σ_o n_o·(ȳ_o - ȳ)² / Σ_i (y_i - ȳ)²
//	Lost  = R²(y on all axes) - R²(y on all axes but this)
//
// where R² is that of least squares with an indicator of each option. If every combination of options is there equally
// often, the two are equal. Otherwise axes hang together: Alone may count what another axis does, Lost leaves out what
// either could. Options that come along with another's are no trouble: their columns add nothing.
//
// It is an error if there are no responses or no axes, if factors is not [n][axes], if a response is not finite, or if
// all are equal: then there is nothing to explain.
func Explained(y []float64, factors [][]int) (Variance, error) {
	if len(factors) != len(y) {
		return Variance{}, fmt.Errorf("explained variance: %d responses with factors of %d: expected equally many",
			len(y), len(factors))
	}
	_, sd, err := meanStdDev(y)
	if err == nil && sd == 0 {
		err = fmt.Errorf("all %d responses are %v: expected some that differ", len(y), y[0])
	}
	if err == nil && len(factors[0]) == 0 {
		err = errors.New("no axes: expected at least 1")
	}
	if err != nil {
		return Variance{}, fmt.Errorf("explained variance: %w", err)
	}
	axes := len(factors[0])
	for i, options := range factors {
		if len(options) != axes {
			return Variance{}, fmt.Errorf("explained variance: response %d has options on %d axes, the first on %d: "+
				"expected equally many", i, len(options), axes)
		}
	}
	// In units of the standard deviation, so that no square leaves the range of float64.
	centred := make([]float64, len(y))
	mean := stat.Mean(y, nil)
	for i, v := range y {
		centred[i] = (v - mean) / sd
	}
	columns := make([][][]float64, axes)
	for axis := range axes {
		columns[axis] = indicators(factors, axis)
	}
	v := Variance{Axes: make([]AxisShare, axes)}
	if v.Additive, err = rSquared(centred, columns, -1); err != nil {
		return Variance{}, err
	}
	for axis := range axes {
		// Least squares on one axis's indicators gives each option's mean: its R² is η².
		alone, err := rSquared(centred, columns[axis:axis+1], -1)
		if err != nil {
			return Variance{}, err
		}
		without, err := rSquared(centred, columns, axis)
		if err != nil {
			return Variance{}, err
		}
		v.Axes[axis] = AxisShare{Alone: alone, Lost: max(v.Additive-without, 0)}
	}
	return v, nil
}

// indicators returns a column of zeros and ones for each option of an axis, less its mean: [options][n].
func indicators(factors [][]int, axis int) [][]float64 {
	at := map[int]int{}
	var columns [][]float64
	for i, options := range factors {
		k, known := at[options[axis]]
		if !known {
			k = len(columns)
			at[options[axis]] = k
			columns = append(columns, make([]float64, len(factors)))
		}
		columns[k][i] = 1
	}
	for _, column := range columns {
		floats.AddConst(-stat.Mean(column, nil), column)
	}
	return columns
}

// rSquared is the share of |y|² that least squares on the columns of all axes but one explains; without -1: of all
// axes. All have mean 0.
func rSquared(y []float64, axes [][][]float64, without int) (float64, error) {
	var data []float64
	count := 0
	for axis, columns := range axes {
		if axis == without {
			continue
		}
		for _, column := range columns {
			data = append(data, column...)
			count++
		}
	}
	if count == 0 {
		return 0, nil
	}
	// Columns depend on each other, at least an axis's last on its others: of the singular vectors, those of 0 are left
	// out.
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(count, len(y), data), mat.SVDThinV) {
		return 0, errors.New("explained variance: no singular values were found")
	}
	var v mat.Dense
	svd.VTo(&v)
	values := svd.Values(nil)
	total, explained := floats.Dot(y, y), 0.0
	projection := make([]float64, len(y))
	for k, value := range values {
		if value <= 1e-10*math.Max(values[0], 1) {
			break
		}
		mat.Col(projection, k, &v)
		part := floats.Dot(projection, y)
		explained += part * part
	}
	return min(explained/total, 1), nil
}
