package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
