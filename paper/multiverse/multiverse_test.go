package multiverse

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

func axesOf(t *testing.T, model string) []Axis {
	axes, err := AxesOf(model)
	require.NoError(t, err)
	return axes
}

// asked is the question of all readings of a model on Cora.
func asked(t *testing.T, model string, setting datasets.Setting) Question {
	t.Helper()
	q, err := Ask("cora", model, setting)
	require.NoError(t, err)
	return q
}

func effectsOf(t *testing.T, q Question, r *record.Results) *Effects {
	t.Helper()
	effects, err := q.Effects(r)
	require.NoError(t, err)
	return effects
}

func cellsOf(t *testing.T, questions []Question) []record.Cell {
	t.Helper()
	cells, err := Cells(questions)
	require.NoError(t, err)
	return cells
}

func TestAReadingTakesOneOptionOfEachAxisThatMatters(t *testing.T) {
	for _, c := range []struct {
		model     string
		setting   datasets.Setting
		want      int
		trainings int // of one size, both arms
	}{
		// GIN: 4 bodies, 2 readouts, dropout, features, rates: 64; 4 ways to stop; 3 arrivals or 2 sets of nodes to mask.
		{"gin", datasets.Inductive, 64 * 4 * 3, 2 * 64}, {"gin", datasets.Transductive, 64 * 4 * 2, 3 * 64},
		// GAT: 2 baselines, the own term masked or not.
		{"gat", datasets.Inductive, 4 * 4 * 3, 4}, {"sgat", datasets.Transductive, 4 * 4 * 2, 2 + 4},
	} {
		axes := axesOf(t, c.model)
		readings := Readings(axes, c.setting)
		require.Len(t, readings, c.want)
		seen := map[string]bool{}
		trained := map[string]bool{}
		for _, r := range readings {
			seen[r.Words(axes, c.setting)] = true
			for _, arm := range []Arm{Plain, Masked} {
				cell, err := r.Cell(axes, arm, "cora", c.model, c.setting, 10)
				require.NoError(t, err)
				require.Equal(t, bool(arm), cell.Parameters.KeepRate.Active())
				trained[cell.Trained().Key()] = true
			}
		}
		require.Len(t, seen, c.want, "words tell readings apart")
		require.Len(t, trained, c.trainings)
	}
	_, err := AxesOf("gcn")
	require.ErrorContains(t, err, `no readings of "gcn"`)
	cells := cellsOf(t, ofBoth(t, "gin", Sizes()...))
	require.Len(t, cells, 4*(2+3)*64)
}

// ofBoth asks about all readings of a model on Cora in both settings.
func ofBoth(t *testing.T, model string, sizes ...int) []Question {
	t.Helper()
	var both []Question
	for _, setting := range datasets.Settings() {
		q := asked(t, model, setting)
		q.Sizes = sizes
		both = append(both, q)
	}
	return both
}

func TestEveryOptionChangesWhatIsTrainedOrRead(t *testing.T) {
	for _, model := range []string{"gin", "gat", "sgat"} {
		axes := axesOf(t, model)
		for i, axis := range axes {
			setting := datasets.Transductive
			if axis.Setting != "" {
				setting = axis.Setting
			}
			arm := Arm(axis.Masked)
			require.NotEmpty(t, axis.Paper, axis.Name)
			keys := map[string]bool{}
			for option := range axis.Options {
				r := make(Reading, len(axes))
				r[i] = option
				cell, err := r.Cell(axes, arm, "cora", model, setting, 10)
				require.NoError(t, err)
				keys[cell.Key()] = true
				if axis.Read {
					base, err := make(Reading, len(axes)).Cell(axes, arm, "cora", model, setting, 10)
					require.NoError(t, err)
					require.Equal(t, base.Trained().Key(), cell.Trained().Key(), "%s is read off", axis.Name)
				}
			}
			require.Len(t, keys, len(axis.Options), "%s: %s", model, axis.Name)
		}
	}
}

func TestTheProtocolNamesTheSizesSplitsAndEveryWayToStop(t *testing.T) {
	text, err := os.ReadFile("../../paper/PROTOCOL.md")
	require.NoError(t, err)
	require.Regexp(t, regexp.MustCompile(`(?s)10, 25, 50 and 90 %.*seeds 100 to 109`), string(text))
	require.Equal(t, []int{10, 25, 50, 90}, Sizes())
	require.Equal(t, 100, FirstSplit)
	require.Equal(t, 10, Splits)
	require.Contains(t, string(text), "stopping (validation loss; macro F1; accuracy; either of loss and accuracy")
	require.Len(t, hyper.StopOns(), 4)
	require.Contains(t, string(text), fmt.Sprintf("within %.1f points", firstLimit))
	require.Contains(t, string(text), "fewer than five readings pass, the limit of 3.0 rises by half points")
	require.Equal(t, 5, leastCalibrated)
}

// trials makes trajectories of all trainings of a model on splits from FirstSplit on, with scores by what was trained,
// how it was stopped and what arrived.
func trials(t *testing.T, model string, splits int, score func(c record.Cell, on hyper.StopOn, way datasets.Arrivals,
	split int) (f1, cached float64)) *record.Results {
	t.Helper()
	cells := cellsOf(t, ofBoth(t, model, Sizes()...))
	var all []record.Record
	for _, c := range cells {
		for split := range splits {
			all = append(all, recordtest.Read(c, uint64(FirstSplit+split),
				func(on hyper.StopOn, way datasets.Arrivals) (float64, float64) { return score(c, on, way, split) }))
		}
	}
	return record.NewResults(all)
}

func TestEffectsPairSplitsAndPoolSizes(t *testing.T) {
	// Plain 70 + split. Masked gains 1 where stopping follows F1 and loses 1 elsewhere, 2 more at 90 %, and the split's
	// number in tenths.
	results := trials(t, "gat", 3, func(c record.Cell, on hyper.StopOn, way datasets.Arrivals, split int) (float64,
		float64) {
		f1 := 70 + float64(split)
		if c.Parameters.KeepRate.Active() {
			f1 += map[bool]float64{true: 1, false: -1}[on == hyper.StopOnF1] + float64(split)/10
			if c.TrainPercent == 90 {
				f1 += 2
			}
		}
		return f1, f1
	})
	q := asked(t, "gat", datasets.Inductive)
	effects := effectsOf(t, q, results)
	require.Equal(t, []uint64{100, 101, 102}, effects.Splits)
	require.Len(t, effects.Effects, 48)
	stop := slices.IndexFunc(q.Axes, func(a Axis) bool { return a.Name == "stop" })
	for _, e := range effects.Effects {
		gain, sign := -1.0, 0 // -1 + 2/4 + {0, 0.1, 0.2}: mean -0.4, sd 0.1, t -6.93
		if e.Reading[stop] == 1 {
			gain = 1
		}
		want := gain + 0.5 + 0.1
		require.InDelta(t, want, e.Pooled.MeanDifference, 1e-9)
		require.InDelta(t, 0.1, e.Pooled.StdDev, 1e-9)
		require.InDeltaSlice(t, []float64{gain + 0.5, gain + 0.6, gain + 0.7}, e.perSplit(), 1e-9)
		require.InDelta(t, 71, e.Plain[0], 1e-9)
		require.InDelta(t, 71+gain+0.1, e.Masked[0], 1e-9)
		if sign = -1; gain > 0 {
			sign = 1
		}
		require.Equal(t, sign, e.Sign())
	}
	joint, err := effects.Joint()
	require.NoError(t, err)
	require.InDelta(t, -0.4, joint.Median, 1e-9)
	require.InDelta(t, 0.25, joint.Positive, 1e-9)
	require.InDelta(t, 0.75, joint.Negative, 1e-9)
	names, variance, err := effects.Explained()
	require.NoError(t, err)
	require.Equal(t, []string{"attention dropout", "self", "stop", "arrivals"}, names)
	require.InDelta(t, 1, variance[2], 1e-9, "stopping explains everything")
	require.InDelta(t, 0, variance[1], 1e-9)

	// A split that one training lacks counts for none.
	cells := cellsOf(t, ofBoth(t, "gat", Sizes()...))
	var all []record.Record
	for _, c := range cells {
		all = append(all, results.Trials(c)...)
	}
	results = record.NewResults(all[1:])
	effects = effectsOf(t, q, results)
	other := asked(t, "gat", datasets.Transductive)
	rest := effectsOf(t, other, results)
	require.ElementsMatch(t, []int{2, 3}, []int{len(effects.Splits), len(rest.Splits)})
}

func TestCalibrationUsesPlainColumnsAndCaching(t *testing.T) {
	published := func(_ datasets.Setting, size int) *float64 {
		if size == 25 {
			return nil
		}
		return new(80.0)
	}
	results := trials(t, "gin", 2, func(c record.Cell, on hyper.StopOn, way datasets.Arrivals, split int) (float64,
		float64) {
		if c.Parameters.KeepRate.Active() {
			return 1, 1 // whatever
		}
		far := 0.0 // root mean square, alike at all sizes
		switch {
		case c.Parameters.MLPLayers == 1:
			far = 2
		case c.Parameters.Norm == hyper.NormInside:
			far = -3.4
		case c.Parameters.Norm == hyper.NormBoth:
			far = 6
		}
		if on != hyper.StopOnLoss || c.Parameters.Dropout == 0 || c.Parameters.NormalizeFeatures ||
			c.Parameters.LearningRate == 0.005 || c.Parameters.Readout != "" {
			far = 20
		}
		cost := 1.0
		if way == datasets.TrainEdges {
			cost = 5
		}
		f1 := 80 + far + float64(2*split-1)*0.5
		if c.TrainPercent == 25 {
			f1 = 10 // the paper has no number
		}
		return f1, f1 - cost
	})
	c, err := Calibrate(results, "cora", "gin", published, true)
	require.NoError(t, err)
	require.Len(t, c.Fits, 64*4*3)
	require.Equal(t, []uint64{100, 101}, c.Splits)
	// Within 3 points: one and two linear layers, with two of three arrivals: four. At 3.5, norm inside too.
	require.InDelta(t, 3.5, c.Limit, 1e-9)
	passed := slices.DeleteFunc(slices.Clone(c.Fits), func(f Fit) bool { return !f.Calibrated })
	require.Len(t, passed, 6)
	best, ok := c.Best()
	require.True(t, ok)
	axes := axesOf(t, "gin")
	require.Equal(t, "body: two linear; readout: last layer; dropout: 0.5; features: raw; rates: 0.01, 5e-4; stop: loss; arrivals: all edges", best.Reading.Words(axes, datasets.Inductive))
	require.InDelta(t, 0, best.Both, 1e-9)
	require.InDelta(t, 1, best.CacheCost, 1e-9)

	// Which nodes are masked does not matter to what is calibrated; arrivals do not in the transductive setting.
	train := slices.Clone(best.Reading)
	train[slices.IndexFunc(axes, func(a Axis) bool { return a.Name == "masked" })] = 1
	require.True(t, c.Has(axes, datasets.Transductive, train))
	apart := slices.Clone(best.Reading)
	apart[slices.IndexFunc(axes, func(a Axis) bool { return a.Name == "arrivals" })] = 1
	require.False(t, c.Has(axes, datasets.Inductive, apart))
	require.True(t, c.Has(axes, datasets.Transductive, apart))

	without, err := Calibrate(results, "cora", "gin", published, false)
	require.NoError(t, err)
	require.InDelta(t, 3.0, without.Limit, 1e-9, "six readings are within 3 points when caching may cost anything")
	none, err := Calibrate(results, "cora", "sgat", published, false)
	require.NoError(t, err)
	require.Empty(t, none.Fits)
}

func TestGATIsCalibratedByItsOwnBaseline(t *testing.T) {
	results := trials(t, "gat", 2, func(c record.Cell, _ hyper.StopOn, _ datasets.Arrivals, split int) (float64, float64) {
		if c.Parameters.AttentionDropout == 0 {
			return 10, 10
		}
		return 80 + float64(split), 80
	})
	c, err := Calibrate(results, "cora", "gat", func(datasets.Setting, int) *float64 { return new(80.0) }, false)
	require.NoError(t, err)
	require.Len(t, c.Fits, 4*3, "attention dropout 0.6, stops and arrivals")
	q := asked(t, "gat", datasets.Inductive)
	effects := effectsOf(t, q, results)
	require.Len(t, effects.Calibrated(c).Effects, 48, "with any baseline and own term")

	q.Among = c
	require.Len(t, q.Readings(), 48)
	for i := range c.Fits {
		c.Fits[i].Calibrated = i == 0
	}
	require.Len(t, q.Readings(), 2*2, "one fit, with any baseline and own term")
	alone := effectsOf(t, q, results)
	require.Len(t, alone.Effects, 4)
	require.Equal(t, effects.Calibrated(c).Effects, alone.Effects)
	cells := cellsOf(t, []Question{q})
	require.Len(t, cells, 4*(2+2), "stops and arrivals are read off: two baselines and two own terms at four sizes")
}

func TestTheBestKeepRateRisesByItsSlope(t *testing.T) {
	// The best keep rate is 0.5 at two layers and 0.1 more each time the depth doubles.
	var scores []DepthScore
	for _, layers := range Depths() {
		for p := 1; p <= 10; p++ {
			f1 := 80 - 10*math.Abs(float64(p)/10-0.4-0.1*math.Log2(float64(layers)))
			scores = append(scores, DepthScore{layers, float64(p) / 10, []float64{f1, f1 + 1}})
		}
	}
	require.InDeltaSlice(t, []float64{0.1, 0.1}, DepthSlopes(scores), 1e-9)
}

func TestTunedArmsShareBudgetAndFreshSplits(t *testing.T) {
	d := Drawn()
	for _, model := range d.Models {
		for _, arm := range slices.Concat(d.Arms, d.Added) {
			drawn := d.configurations(model.Name, arm)
			require.Len(t, drawn, 12, "%s, %s", model, arm)
			require.Equal(t, drawn, d.configurations(model.Name, arm))
			keys := map[string]bool{}
			for _, values := range drawn {
				c, err := d.cell(TunedQuestion{"cora", model, datasets.Inductive, 10}, values, map[bool]record.Cell{})
				require.NoError(t, err)
				keys[c.Key()] = true
				require.Equal(t, arm == ArmMasked || arm == ArmMaskedTuned, c.Parameters.KeepRate.Active())
				require.Equal(t, map[string]hyper.RegulariserName{ArmDropEdge: hyper.DropEdgeRegulariser,
					ArmDropMessage: hyper.DropMessageRegulariser, ArmDropGNN: hyper.DropGNNRegulariser}[arm], c.Parameters.Regulariser)
			}
			require.Len(t, keys, 12, "all different")
		}
	}

	q := TunedQuestion{"cora", TunedModel{Name: "gin"}, datasets.Transductive, 50}
	var all []record.Record
	for step := range 5 {
		tuned, err := d.Tuned(record.NewResults(all), q)
		require.NoError(t, err)
		require.Len(t, tuned.Arms, 7)
		if step == 4 {
			require.Empty(t, tuned.Next.Cells)
			require.Len(t, tuned.Arms[6].F1, 20)
			break
		}
		require.Equal(t, step, tuned.Stage)
		require.Equal(t, step >= 2, tuned.Complete, "added arms come after the protocol's")
		switch step {
		case 0:
			require.Len(t, tuned.Next.Cells, 5*12-3, "three are in the budgets of two arms")
			require.Equal(t, []uint64{200, 201, 202}, tuned.Next.Seeds)
		case 1:
			require.NotEmpty(t, tuned.Next.Cells)
			require.LessOrEqual(t, len(tuned.Next.Cells), 5)
			require.Len(t, tuned.Next.Seeds, 20)
			require.EqualValues(t, 300, tuned.Next.Seeds[0])
			require.Equal(t, "0.01", tuned.Arms[0].Chosen["lr"], "the better in validation")
			require.InDelta(t, 80, tuned.Arms[0].Validation, 1e-9)
			require.Nil(t, tuned.Arms[0].F1)
		case 2:
			require.Len(t, tuned.Next.Cells, 2*12)
			require.Len(t, tuned.Arms[4].F1, 20)
			require.Nil(t, tuned.Arms[5].Chosen)
		case 3:
			require.Len(t, tuned.Next.Cells, 2)
		}
		for _, c := range tuned.Next.Cells {
			for _, seed := range tuned.Next.Seeds {
				f1 := 70.0
				if c.Parameters.LearningRate == 0.01 && c.Parameters.Hidden == 64 && c.Parameters.WeightDecay == 0 {
					f1 = 80
				}
				all = append(all, recordtest.Read(c, seed, func(hyper.StopOn, datasets.Arrivals) (float64, float64) {
					return f1, 0
				}))
			}
		}
	}
}
