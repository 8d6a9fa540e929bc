// Package stats scores predictions and compares scores: F1, MAD, tests, intervals and summaries.
package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Metrics scores the classes predicted for a set of nodes. Each score is from 0 to 1.
type Metrics struct {
	MacroF1  float64
	MicroF1  float64 // always equals Accuracy
	Accuracy float64
	// Confusion[i][j] counts the nodes of class i predicted as class j.
	Confusion [][]int
}

// Constant returns the macro F1 of predicting the most frequent class for all nodes, and how many classes occur.
func (m Metrics) Constant() (f1 float64, classes int) {
	total, most := 0, 0
	for _, row := range m.Confusion {
		actual := 0
		for _, n := range row {
			actual += n
		}
		if total, most = total+actual, max(most, actual); actual > 0 {
			classes++
		}
	}
	if total == 0 {
		return 0, 0
	}
	// The most frequent class has precision most/total and recall 1; all other classes have F1 0.
	return 2 * float64(most) / float64(most+total) / float64(classes), classes
}

const collapseMargin = 0.03

// Collapsed reports whether macro F1 is hardly above that of predicting the most frequent class for all nodes.
func (m Metrics) Collapsed() bool {
	constant, classes := m.Constant()
	return classes > 1 && m.MacroF1 <= constant+collapseMargin
}

// Evaluate returns the metrics of predictions against labels, both [nodes] and in 0…classes-1. As in scikit-learn,
// macro F1 omits classes that neither occur nor are predicted.
func Evaluate(predictions, labels []int32, classes int) (Metrics, error) {
	if len(predictions) != len(labels) {
		return Metrics{}, fmt.Errorf("%d predictions for %d labels", len(predictions), len(labels))
	}
	if classes < 0 {
		return Metrics{}, fmt.Errorf("%d classes: expected 0 or more", classes)
	}
	m := Metrics{Confusion: make([][]int, classes)}
	for c := range m.Confusion {
		m.Confusion[c] = make([]int, classes)
	}
	for i, label := range labels {
		p := predictions[i]
		if label < 0 || int(label) >= classes || p < 0 || int(p) >= classes {
			return Metrics{}, fmt.Errorf("node %d has label %d and prediction %d: expected both in 0 to %d", i, label, p,
				classes-1)
		}
		m.Confusion[label][p]++
	}
	if len(labels) == 0 {
		return m, nil
	}
	var correct, seen int
	for c := range classes {
		truePositives, actual, predicted := m.Confusion[c][c], 0, 0
		for o := range classes {
			actual += m.Confusion[c][o]
			predicted += m.Confusion[o][c]
		}
		correct += truePositives
		if actual+predicted == 0 {
			continue
		}
		seen++
		m.MacroF1 += 2 * float64(truePositives) / float64(actual+predicted)
	}
	m.MacroF1 /= float64(seen)
	m.Accuracy = float64(correct) / float64(len(labels))
	m.MicroF1 = m.Accuracy // a false positive of one class is a false negative of another
	return m, nil
}

// Summary holds a mean and a sample standard deviation (N-1).
type Summary struct {
	N            int
	Mean, StdDev float64 // for N = 0: NaN and 0
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

// Text returns "81.20 ± 0.55", or only the mean if the deviation is 0, or a dash without values.
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
