package stats

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMacroF1IsTheMeanOfTheClassesF1(t *testing.T) {
	// Class 0: 2 of 3 found, 1 wrongly claimed: F1 = 2·2/(3+3) = 2/3. Class 1: 1 of 2, 1 claimed: 2·1/(2+2) = 1/2.
	// Class 2: 1 of 1, none claimed: 1. Macro = 13/18; accuracy = 4/6.
	m, err := Evaluate([]int32{0, 0, 1, 0, 1, 2}, []int32{0, 0, 0, 1, 1, 2}, 3)
	require.NoError(t, err)
	require.InDelta(t, 13.0/18, m.MacroF1, 1e-12)
	require.InDelta(t, 4.0/6, m.Accuracy, 1e-12)
	require.InDelta(t, 4.0/6, m.MicroF1, 1e-12)
	require.Equal(t, [][]int{{2, 1, 0}, {1, 1, 0}, {0, 0, 1}}, m.Confusion)
	m, err = Evaluate([]int32{0, 1}, []int32{0, 1}, 5)
	require.NoError(t, err)
	require.Equal(t, 1.0, m.MacroF1, "classes that neither occur nor are predicted do not count")
	m, err = Evaluate([]int32{0, 1}, []int32{0, 0}, 2)
	require.NoError(t, err)
	require.InDelta(t, (2.0/3+0)/2, m.MacroF1, 1e-12, "a class that is predicted and does not occur counts as 0")
}

func TestPredictionsThatAreNoClassAreRefused(t *testing.T) {
	_, err := Evaluate([]int32{3}, []int32{0}, 3)
	require.ErrorContains(t, err, "node 0 has label 0 and prediction 3: expected both in 0 to 2")
	_, err = Evaluate([]int32{0, 1}, []int32{0}, 3)
	require.ErrorContains(t, err, "2 predictions for 1 labels")
	_, err = Evaluate(nil, nil, -1)
	require.ErrorContains(t, err, "-1 classes: expected 0 or more")
}

func ExampleEvaluate() {
	m, err := Evaluate([]int32{0, 0, 1, 1}, []int32{0, 0, 1, 0}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("macro F1 %.3f, accuracy %.2f\n", m.MacroF1, m.Accuracy)
	// Output: macro F1 0.733, accuracy 0.75
}

func TestAPredictionOfOneClassAloneIsCalledCollapsed(t *testing.T) {
	labels := []int32{0, 0, 0, 1, 1, 2} // no node of class 3
	for _, c := range []struct {
		predictions []int32
		collapsed   bool
	}{{[]int32{0, 0, 0, 0, 0, 0}, true}, {[]int32{1, 1, 1, 1, 1, 1}, true}, {[]int32{0, 0, 0, 0, 1, 0}, false},
		{labels, false}} {
		m, err := Evaluate(c.predictions, labels, 4)
		require.NoError(t, err)
		constant, classes := m.Constant()
		require.InDelta(t, 2*0.5/1.5/3, constant, 1e-12)
		require.Equal(t, 3, classes)
		require.Equal(t, c.collapsed, m.Collapsed(), c.predictions)
	}
	// Right nodes of the second class: macro F1 0.355 and 0.376; a constant class has 0.333.
	for right, collapsed := range map[int]bool{1: true, 2: false} {
		half, predictions := make([]int32, 100), make([]int32, 100)
		for v := range 50 {
			half[v] = 1
		}
		for v := range right {
			predictions[v] = 1
		}
		m, err := Evaluate(predictions, half, 2)
		require.NoError(t, err)
		require.Equal(t, collapsed, m.Collapsed(), right)
	}
	one, err := Evaluate([]int32{0, 0}, []int32{0, 0}, 2)
	require.NoError(t, err)
	require.False(t, one.Collapsed(), "there is but one class")
	require.False(t, Metrics{}.Collapsed(), "of no nodes nothing is known")
}

func TestASummaryHasTheMeanAndTheSamplesDeviation(t *testing.T) {
	// Mean 4; squares 4+1+9 = 14 over N-1 = 2.
	s := Summarize([]float64{2, 3, 7})
	require.Equal(t, 3, s.N)
	require.InDelta(t, 4, s.Mean, 1e-15)
	require.InDelta(t, math.Sqrt(7), s.StdDev, 1e-15)
	require.Equal(t, Summary{N: 1, Mean: 5}, Summarize([]float64{5}), "one value has no deviation")
	none := Summarize(nil)
	require.Zero(t, none.N)
	require.True(t, math.IsNaN(none.Mean))
}

func TestTextLeavesOutADeviationThatIsNotThere(t *testing.T) {
	require.Equal(t, "4.00 ± 2.65", Summarize([]float64{2, 3, 7}).Text(2))
	require.Equal(t, "5.0", Summarize([]float64{5}).Text(1))
	require.Equal(t, "5.0", Summarize([]float64{5, 5}).Text(1))
	require.Equal(t, "–", Summarize(nil).Text(2))
}

func TestTheMedianIsTheMiddleOrTheMeanOfTheTwoMiddleOnes(t *testing.T) {
	x := []float64{5, 1, 3}
	require.Equal(t, 3.0, Median(x))
	require.Equal(t, []float64{5, 1, 3}, x, "the values stay in order")
	require.Equal(t, 2.0, Median([]float64{9, 1, 3, 0}))
	require.True(t, math.IsNaN(Median(nil)))
	require.True(t, math.IsNaN(Median([]float64{1, math.NaN(), 3})), "nobody knows where in the order it belongs")
}

func ExampleSummarize() {
	fmt.Println(Summarize([]float64{79.1, 80.3, 78.8}).Text(1))
	// Output: 79.4 ± 0.8
}
