package joint

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fixtures is testdata/joint_fixtures.json, which make_joint_fixtures.py beside it computes with SciPy.
type fixtures struct {
	Joint []struct {
		Effects                                                   [][]float64
		Median, Positive, Negative, MedianP, PositiveP, NegativeP float64
	}
	Explained []struct {
		Y       []float64
		Factors [][]int
		Alone   []float64
	}
	Pooled []struct {
		Differences            [][]float64
		Mean, SD, P, Low, High float64
	}
	Detectable []struct {
		SD, Delta float64
		N         int
	}
}

func readFixtures(t *testing.T) (f fixtures) {
	t.Helper()
	data, err := os.ReadFile("testdata/joint_fixtures.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &f))
	require.NotEmpty(t, f.Joint)
	require.NotEmpty(t, f.Explained)
	require.NotEmpty(t, f.Pooled)
	require.NotEmpty(t, f.Detectable)
	return f
}

func TestJointTestSumsAllSignPatternsExactly(t *testing.T) {
	for _, want := range readFixtures(t).Joint {
		got, err := Test(want.Effects)
		require.NoError(t, err)
		splits := len(want.Effects[0])
		assert.Equal(t, len(want.Effects), got.Readings)
		assert.Equal(t, splits, got.Splits)
		assert.InDelta(t, want.Median, got.Median, 1e-9)
		assert.InDelta(t, want.Positive, got.Positive, 1e-9)
		assert.InDelta(t, want.Negative, got.Negative, 1e-9)
		assert.InDelta(t, want.MedianP, got.MedianP, 1e-9)
		assert.InDelta(t, want.PositiveP, got.PositiveP, 1e-9)
		assert.InDelta(t, want.NegativeP, got.NegativeP, 1e-9)
	}
}

func TestTheJointTestOfThreeSplitsByHand(t *testing.T) {
	// One reading 1, 2, 4. Sums over the 8 patterns: ±7, ±5, ±3, ±1, so only two are as far from 0 as 7. The mean is
	// 7/3, v = 7/3, t = (7/3)/√(7/9) = 2.65 < 4.30: not significant, and every pattern has as many significant
	// readings.
	r, err := Test([][]float64{{1, 2, 4}})
	require.NoError(t, err)
	require.Equal(t, Result{Readings: 1, Splits: 3, Median: 7.0 / 3, MedianP: 0.25, PositiveP: 1, NegativeP: 1}, r)
}

func TestTurningAllSignsSwapsTheShares(t *testing.T) {
	effects := readFixtures(t).Joint[0].Effects
	turned := make([][]float64, len(effects))
	for r := range effects {
		for _, d := range effects[r] {
			turned[r] = append(turned[r], -d)
		}
	}
	a, err := Test(effects)
	require.NoError(t, err)
	b, err := Test(turned)
	require.NoError(t, err)
	b.Median, b.Positive, b.Negative, b.PositiveP, b.NegativeP = -b.Median, b.Negative, b.Positive, b.NegativeP,
		b.PositiveP
	require.Equal(t, a, b)
}

func TestTheJointTestRefusesWhatHasNoAnswer(t *testing.T) {
	for message, effects := range map[string][][]float64{
		"joint test: no readings: expected at least 1": nil,
		"joint test: 1 splits: expected 2 to 13":       {{1}},
		"joint test: 14 splits: expected 2 to 13":      {make([]float64, 14)},
		"joint test: reading 1 has 3 splits, the first has 2: expected equally many": {{1, 2},
			{1, 2, 3}},
		"joint test: reading 0, split 1 is NaN: expected a finite number":                                 {{1, math.NaN()}},
		"joint test: reading 0: the differences' squares are not within the range of float64: scale them": {{1e200, 1}},
	} {
		_, err := Test(effects)
		require.EqualError(t, err, message)
	}
}

func BenchmarkTestOf500ReadingsAnd10Splits(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 0))
	effects := make([][]float64, 500)
	for r := range effects {
		for range 10 {
			effects[r] = append(effects[r], random.NormFloat64())
		}
	}
	for b.Loop() {
		if _, err := Test(effects); err != nil {
			b.Fatal(err)
		}
	}
}

func TestExplainedVarianceIsThatOfNumPy(t *testing.T) {
	for _, want := range readFixtures(t).Explained {
		got, err := Explained(want.Y, want.Factors)
		require.NoError(t, err)
		require.InDeltaSlice(t, want.Alone, got, 1e-9)
	}
}

func TestExplainedVarianceOfABalancedTableByHand(t *testing.T) {
	// Mean 3.5. First axis: means 1.5 and 5.5, 4·2² = 16. Second: 2.5 and 4.5, 4·1² = 4. Total 6.25+2.25+0.25+12.25 =
	// 21; the 1 that is left is how they work together.
	shares, err := Explained([]float64{1, 2, 4, 7}, [][]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{16.0 / 21, 4.0 / 21}, shares, 1e-14)
}

func TestExplainedVarianceRefusesWhatHasNoAnswer(t *testing.T) {
	for message, c := range map[string]struct {
		y       []float64
		factors [][]int
	}{
		"explained variance: 2 responses with factors of 1: expected equally many": {[]float64{1, 2}, [][]int{{0}}},
		"explained variance: 0 values: expected at least 2":                        {nil, nil},
		"explained variance: all 2 responses are 3: expected some that differ":     {[]float64{3, 3}, [][]int{{0}, {1}}},
		"explained variance: no axes: expected at least 1":                         {[]float64{1, 2}, [][]int{{}, {}}},
		"explained variance: response 1 has options on 2 axes, the first on 1: expected equally many": {[]float64{1,
			2}, [][]int{{0}, {0, 1}}},
		"explained variance: value 1 is +Inf: expected a finite number": {[]float64{1, math.Inf(1)}, [][]int{{0}, {1}}},
	} {
		_, err := Explained(c.y, c.factors)
		require.EqualError(t, err, message)
	}
}

func TestAPooledEffectIsTheTTestOfTheMeansOverCells(t *testing.T) {
	for _, want := range readFixtures(t).Pooled {
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
	for _, want := range readFixtures(t).Detectable {
		got, err := Detectable(want.SD, want.N)
		require.NoError(t, err)
		assert.InDelta(t, want.Delta, got, 1e-9, "n = %d", want.N)
	}
}

func TestDetectableMatchesTheTextbook(t *testing.T) {
	// Cohen's 1988 tables, and G*Power: an effect of 0.5 needs 34 pairs for a power of 0.8, and 33 are too few.
	enough, err := Detectable(1, 34)
	require.NoError(t, err)
	tooFew, err := Detectable(1, 33)
	require.NoError(t, err)
	require.Less(t, enough, 0.5)
	require.Greater(t, tooFew, 0.5)
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
