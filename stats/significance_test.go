package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Hours of sleep gained with two drugs by ten patients (Student 1908; R's data set sleep).
var (
	sleep1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleep2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

func paired(t require.TestingT, a, b []float64) TTest {
	r, err := PairedTTest(a, b)
	require.NoError(t, err)
	return r
}

func TestPairedTTestOfStudentsSleepDataIsThatOfR(t *testing.T) {
	r := paired(t, sleep1, sleep2)
	require.Equal(t, 10, r.N)
	require.InDelta(t, -1.58, r.MeanDifference, 1e-12)
	require.InDelta(t, 1.229995, r.StdDev, 1e-6)
	require.InDelta(t, -4.0621, r.T, 5e-5)
	require.Equal(t, 9.0, r.DF)
	require.InDelta(t, 0.002833, r.P, 5e-7)
	require.InDelta(t, -2.4598858, r.Low, 5e-8)
	require.InDelta(t, -0.7001142, r.High, 5e-8)
}

func TestTinyPValuesKeepTheirDigits(t *testing.T) {
	for _, e := range []float64{0x1p-5, 0x1p-10, 0x1p-20} {
		// T = √3/e. With two degrees of freedom, P = 1 - T/√(T²+2) = 2/(s·(s+T)), s = √(T²+2).
		r := paired(t, []float64{1, 1 + e, 1 - e}, []float64{0, 0, 0})
		require.InEpsilon(t, math.Sqrt(3)/e, r.T, 1e-12)
		s := math.Sqrt(r.T*r.T + 2)
		require.InEpsilon(t, 2/(s*(s+r.T)), r.P, 1e-10)
	}
	// Eleven pairs with a standard deviation of 1 and T = 20 and 100. P by the finite series for ten degrees of freedom
	// (Abramowitz and Stegun 26.7.4) with 80 digits.
	for _, known := range []struct{ t, p float64 }{{20, 2.14606231720425181e-9}, {100, 2.44968955541982992e-16}} {
		a := make([]float64, 11)
		for i := range a {
			a[i] = known.t/math.Sqrt(11) + []float64{-1, 1}[i%2]
		}
		a[10] = known.t / math.Sqrt(11)
		r := paired(t, a, make([]float64, 11))
		require.InEpsilon(t, known.t, r.T, 1e-12)
		require.InEpsilon(t, known.p, r.P, 1e-10)
	}
}

func TestThe95PercentIntervalTouchesZeroWherePIs5Percent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "n")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i] = random.NormFloat64()
		}
		r := paired(t, a, b)
		for i := range b {
			b[i] = r.Low
		}
		r = paired(t, a, b)
		require.InDelta(t, 0.05, r.P, 1e-9)
		require.InDelta(t, 0, r.Low, 1e-10)
	})
}

func TestEqualDifferencesLeaveNoDoubt(t *testing.T) {
	r := paired(t, []float64{1, 2, 3}, []float64{1, 2, 3})
	require.Equal(t, TTest{N: 3, DF: 2, P: 1}, r)
	r = paired(t, []float64{1, 2, 3}, []float64{2, 3, 4})
	require.Equal(t, TTest{N: 3, MeanDifference: -1, T: math.Inf(-1), DF: 2, Low: -1, High: -1}, r)
	r = paired(t, []float64{0.1, 0.1, 0.1}, []float64{0, 0, 0}) // they do not add up to 0.3
	require.Equal(t, TTest{N: 3, MeanDifference: 0.1, T: math.Inf(1), DF: 2, Low: 0.1, High: 0.1}, r)
}

func TestPairsThatCannotBeTestedAreRefused(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want string
	}{
		{[]float64{1, 2}, []float64{1}, "t-test of 2 values paired with 1: expected equally many"},
		{[]float64{1}, []float64{1}, "t-test: 1 values: expected at least 2"},
		{nil, nil, "t-test: 0 values: expected at least 2"},
		{[]float64{1, math.NaN()}, []float64{1, 2}, "t-test: pair 1 is NaN and 2: expected finite numbers"},
		{[]float64{1, 2}, []float64{math.Inf(1), 2}, "t-test: pair 0 is 1 and +Inf: expected finite numbers"},
		{[]float64{1e308, 2}, []float64{-1e308, 2}, "t-test: value 0 is +Inf: expected a finite number"},
		{[]float64{1e200, 2}, []float64{1, 2}, "t-test: the values' variance is not within the range of float64: scale them"},
		{[]float64{1e-200, 0}, []float64{0, 0}, "t-test: the values' variance is not within the range of float64: scale " +
			"them"},
	} {
		_, err := PairedTTest(c.a, c.b)
		require.EqualError(t, err, c.want)
	}
}

func TestConfidenceIntervalIsThatOfThePairedDifferences(t *testing.T) {
	differences := make([]float64, len(sleep1))
	for i := range differences {
		differences[i] = sleep1[i] - sleep2[i]
	}
	r := paired(t, sleep1, sleep2)
	mean, low, high, err := ConfidenceInterval(differences, 0.05)
	require.NoError(t, err)
	require.Equal(t, []float64{r.MeanDifference, r.Low, r.High}, []float64{mean, low, high})
}

func TestConfidenceIntervalRefusesNaNAndAlpha1(t *testing.T) {
	_, _, _, err := ConfidenceInterval([]float64{1, math.NaN()}, 0.05)
	require.EqualError(t, err, "confidence interval: value 1 is NaN: expected a finite number")
	_, _, _, err = ConfidenceInterval([]float64{1, 2}, 1)
	require.EqualError(t, err, "confidence interval: alpha 1: expected a probability between 0 and 1")
}

func TestHolmByHand(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.03}, []float64{0.03}},
		// 5·0.01, 4·0.02, 3·0.03, then 2·0.04 and 1·0.05, both below 0.09.
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		// Sorted 0.005, 0.01, 0.03, 0.04: 0.02, 0.03, 0.06, 0.04 raised to 0.06.
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		// Equal ones get equal values: 3·0.02, then 2·0.02 raised; 3·0.5 and 2·0.6 are capped.
		{[]float64{0.02, 0.02, 0.5}, []float64{0.06, 0.06, 0.5}},
		{[]float64{0.5, 0.6, 1}, []float64{1, 1, 1}},
		{[]float64{0, 1}, []float64{0, 1}},
	} {
		got, err := Holm(c.p)
		require.NoError(t, err)
		require.Len(t, got, len(c.want))
		for i := range got {
			require.InDelta(t, c.want[i], got[i], 1e-15, "%v", c.p)
		}
	}
}

func TestHolmRefusesWhatIsNoProbability(t *testing.T) {
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		_, err := Holm([]float64{0.5, bad})
		require.EqualError(t, err, fmt.Sprintf("Holm: p-value 1 is %v: expected 0 to 1", bad))
	}
}

func ExamplePairedTTest() {
	// Macro F1 in percent with the same five seeds, with and without node masking.
	masked := []float64{79.1, 80.3, 78.8, 79.9, 80.6}
	plain := []float64{78.2, 79.0, 78.9, 78.7, 79.5}
	r, err := PairedTTest(masked, plain)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+.2f points (%.2f to %.2f), t = %.2f with %v degrees of freedom, p = %.3f\n", r.MeanDifference, r.Low,
		r.High, r.T, r.DF, r.P)
	// Output: +0.88 points (0.18 to 1.58), t = 3.47 with 4 degrees of freedom, p = 0.026
}

func TestATinyProbabilityIsNotWrittenAsNought(t *testing.T) {
	require.Equal(t, "< 0.001", ProbabilityText(0))
	require.Equal(t, "< 0.001", ProbabilityText(0.00099))
	require.Equal(t, "0.001", ProbabilityText(0.001))
	require.Equal(t, "0.050", ProbabilityText(0.05))
	require.Equal(t, "1.000", ProbabilityText(1))
}

// pooledFixtures is testdata/pooled_fixtures.json, computed by make_pooled_fixtures.py with SciPy.
type pooledFixtures struct {
	Pooled []struct {
		Differences            [][]float64
		Mean, SD, P, Low, High float64
	}
	Detectable []struct {
		SD, Delta float64
		N         int
	}
}

func readPooled(t *testing.T) (f pooledFixtures) {
	t.Helper()
	data, err := os.ReadFile("testdata/pooled_fixtures.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &f))
	require.NotEmpty(t, f.Pooled)
	require.NotEmpty(t, f.Detectable)
	return f
}

func TestAPooledEffectIsTheTTestOfTheMeansOverCells(t *testing.T) {
	for _, want := range readPooled(t).Pooled {
		got, err := Pooled(want.Differences)
		require.NoError(t, err)
		assert.Equal(t, len(want.Differences[0]), got.N)
		assert.InDelta(t, want.Mean, got.MeanDifference, 1e-9)
		assert.InDelta(t, want.SD, got.StdDev, 1e-9)
		assert.InDelta(t, want.P, got.P, 1e-9)
		assert.InDelta(t, want.Low, got.Low, 1e-9)
		assert.InDelta(t, want.High, got.High, 1e-9)
	}
}

func TestAPooledEffectRefusesWhatHasNoAnswer(t *testing.T) {
	_, err := Pooled(nil)
	require.EqualError(t, err, "pooled effect of no cells: expected at least 1")
	_, err = Pooled([][]float64{{1, 2}, {1}})
	require.EqualError(t, err, "pooled effect: cell 1 has 1 splits, the first has 2: expected equally many")
	_, err = Pooled([][]float64{{1}})
	require.EqualError(t, err, "pooled effect: t-test: 1 values: expected at least 2")
}

func TestTheDetectableDifferenceIsThatOfTheNoncentralT(t *testing.T) {
	for _, want := range readPooled(t).Detectable {
		got, err := Detectable(want.SD, want.N)
		require.NoError(t, err)
		assert.InDelta(t, want.Delta, got, 1e-9, "n = %d", want.N)
	}
}

func TestTheDetectableDifferenceRefusesWhatHasNoAnswer(t *testing.T) {
	none, err := Detectable(0, 5)
	require.NoError(t, err)
	require.Zero(t, none)
	_, err = Detectable(-1, 5)
	require.EqualError(t, err, "detectable difference: a standard deviation of -1: expected a finite number from 0")
	_, err = Detectable(math.NaN(), 5)
	require.Error(t, err)
	_, err = Detectable(1, 1)
	require.EqualError(t, err, "detectable difference: 1 pairs: expected at least 2")
}
