package stats

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

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
