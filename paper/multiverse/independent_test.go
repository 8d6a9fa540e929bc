package multiverse_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/paper/evidence"
	"nodemask/paper/multiverse"
	"nodemask/paper/recordstore"
)

// The fixture is what another program, which shares no code with this one, made of the same trajectories:
// testdata/make_effects_fixture.py.
func TestAnIndependentProgramFindsTheSameEffects(t *testing.T) {
	text, err := os.ReadFile("testdata/effects_fixture.json")
	require.NoError(t, err)
	var fixture map[string]struct {
		Pooled                     [][4]float64 // effect, interval, p-value; of each reading
		Median, Positive, Negative float64
		P                          [3]float64
		Explained                  [][2]float64
		Limit                      float64
		Calibrated                 int
		Fits                       [][3]float64
	}
	require.NoError(t, json.Unmarshal(text, &fixture))
	results := recordstore.Open("../../results/multiverse").Results(nil, nil)
	const near = 1e-6
	for _, model := range []string{"gin", "gat", "sgat"} {
		for _, setting := range datasets.Settings() {
			want := fixture[fmt.Sprint(model, " ", setting)]
			q, err := multiverse.Ask("cora", model, setting)
			require.NoError(t, err)
			effects, err := q.Effects(results)
			require.NoError(t, err)
			require.Len(t, effects.Effects, len(want.Pooled))
			for i, e := range effects.Effects {
				got := [4]float64{e.Pooled.MeanDifference, e.Pooled.Low, e.Pooled.High, e.Pooled.P}
				for k := range got {
					require.InDelta(t, want.Pooled[i][k], got[k], near, "%s, %s: %s", model, setting, e.Reading.Words(q.Axes, setting))
				}
			}
			joint, err := effects.Joint()
			require.NoError(t, err)
			assert.InDelta(t, want.Median, joint.Median, near)
			assert.InDelta(t, want.Positive, joint.Positive, near)
			assert.InDelta(t, want.Negative, joint.Negative, near)
			assert.Equal(t, want.P, [3]float64{joint.MedianP, joint.PositiveP, joint.NegativeP})
			_, variance, err := effects.Explained()
			require.NoError(t, err)
			require.Len(t, variance, len(want.Explained))
			for i, axis := range variance {
				assert.InDelta(t, want.Explained[i][0], axis, near)
				assert.InDelta(t, want.Explained[i][1], axis, near, "all combinations are there equally often")
			}
		}
	}
	want := fixture["gin calibration"]
	calibration, err := evidence.Calibrate(results, "gin")
	require.NoError(t, err)
	assert.InDelta(t, want.Limit, calibration.Limit, near)
	calibrated := 0
	for i, fit := range calibration.Fits {
		if fit.Calibrated {
			calibrated++
		}
		if i < len(want.Fits) {
			assert.InDelta(t, want.Fits[i][0], fit.Inductive, near)
			assert.InDelta(t, want.Fits[i][1], fit.Transductive, near)
			assert.InDelta(t, want.Fits[i][2], fit.CacheCost, near)
		}
	}
	assert.Equal(t, want.Calibrated, calibrated)
}
