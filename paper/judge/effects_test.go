package judge

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

// asked returns a question on an attention model on Cora: two baselines, own term masked or kept, four stoppings,
// three arrivals.
func asked(t *testing.T, model string, setting datasets.Setting) Question {
	t.Helper()
	axes := []Axis{
		{Name: "attention dropout", Plain: true, Options: Options("0.6: attention-dropout=0.6", "none: attention-dropout=0")},
		{Name: "self", Masked: true, Options: Options("masked", "kept: self=kept")},
		{Name: "stop", Options: Options("loss: stop=loss", "macro F1: stop=f1", "accuracy: stop=accuracy",
			"loss and accuracy: stop=either")},
		{Name: "arrivals", Setting: datasets.Inductive, Options: Options("all edges: arrivals=all-edges",
			"edges to train nodes: arrivals=train-edges", "all but validation nodes: arrivals=no-validation")},
	}
	return Question{Axes: axes, Data: "cora", Model: model, Setting: setting, Sizes: Sizes(),
		Seeds: hyper.Seeds(FirstDepthSplit, Splits), Readings: AllReadings(axes, setting)}
}

func effectsOf(t *testing.T, q Question, r *record.Results) ([]uint64, []Effect) {
	t.Helper()
	splits, effects, err := q.Effects(r)
	require.NoError(t, err)
	return splits, effects
}

func cellsOf(t *testing.T, questions []Question) []record.Cell {
	t.Helper()
	cells, err := Cells(questions)
	require.NoError(t, err)
	return cells
}

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

// trials makes all trainings of a model on splits from FirstDepthSplit on.
func trials(t *testing.T, model string, splits int, score func(c record.Cell, on hyper.StopOn, way datasets.Arrivals,
	split int) (f1, cached float64)) *record.Results {
	t.Helper()
	cells := cellsOf(t, ofBoth(t, model, Sizes()...))
	var all []record.Record
	for _, c := range cells {
		for split := range splits {
			all = append(all, recordtest.Read(c, uint64(FirstDepthSplit+split),
				func(on hyper.StopOn, way datasets.Arrivals) (float64, float64) { return score(c, on, way, split) }))
		}
	}
	return record.NewResults(all)
}

func TestEffectsPairSplitsAndPoolSizes(t *testing.T) {
	// Plain 70 + split. Masked: +1 if stopping follows F1, else −1; +2 at 90 %; plus a tenth of the split's number.
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
	splits, effects := effectsOf(t, q, results)
	require.Equal(t, []uint64{100, 101, 102}, splits)
	require.Len(t, effects, 48)
	stop := slices.IndexFunc(q.Axes, func(a Axis) bool { return a.Name == "stop" })
	for _, e := range effects {
		gain := -1.0 // -1 + 2/4 + {0, 0.1, 0.2}: mean -0.4, sd 0.1, t -6.93
		if e.Reading[stop] == 1 {
			gain = 1
		}
		want := gain + 0.5 + 0.1
		require.InDelta(t, want, e.Pooled.MeanDifference, 1e-9)
		require.InDelta(t, 0.1, e.Pooled.StdDev, 1e-9)
		require.InDelta(t, 71, e.Plain[0], 1e-9)
		require.InDelta(t, 71+gain+0.1, e.Masked[0], 1e-9)
	}
	// A split that one training lacks does not count.
	cells := cellsOf(t, ofBoth(t, "gat", Sizes()...))
	var all []record.Record
	for _, c := range cells {
		all = append(all, results.Trials(c)...)
	}
	results = record.NewResults(all[1:])
	splits, _ = effectsOf(t, q, results)
	other := asked(t, "gat", datasets.Transductive)
	rest, _ := effectsOf(t, other, results)
	require.ElementsMatch(t, []int{2, 3}, []int{len(splits), len(rest)})
}

func TestTunedArmsShareBudgetAndFreshSplits(t *testing.T) {
	d := DrawnDesign()
	for _, model := range d.Models {
		for _, arm := range slices.Concat(d.Arms, d.Added) {
			drawn := d.configurations(model.Name, arm)
			require.Len(t, drawn, 12, "%s, %s", model, arm)
			require.Equal(t, drawn, d.configurations(model.Name, arm))
			keys := map[string]bool{}
			for _, values := range drawn {
				c, err := d.cell(TunedQuestion{"cora", model, datasets.Inductive, 10}, values)
				require.NoError(t, err)
				keys[c.Key()] = true
				require.Equal(t, arm == ArmMasked || arm == ArmMaskedTuned, c.Parameters.KeepRate.Active())
				require.Equal(t, map[string]hyper.RegulariserName{ArmDropEdge: hyper.DropEdgeRegulariser,
					ArmDropGNN: hyper.DropGNNRegulariser}[arm], c.Parameters.Regulariser)
			}
			require.Len(t, keys, 12, "all different")
		}
	}

	q := TunedQuestion{"cora", TunedModel{Name: "gin"}, datasets.Transductive, 50}
	var all []record.Record
	for step := range 3 {
		tuned, err := d.Tuned(record.NewResults(all), q)
		require.NoError(t, err)
		require.Len(t, tuned.Arms, 6)
		if step == 2 {
			require.Empty(t, tuned.Next.Cells)
			require.Len(t, tuned.Arms[5].F1, 20)
			break
		}
		require.Equal(t, step, tuned.Stage)
		switch step {
		case 0:
			require.Len(t, tuned.Next.Cells, 6*12-3, "three are in the budgets of two arms")
			require.Equal(t, []uint64{200, 201, 202}, tuned.Next.Seeds)
		case 1:
			require.NotEmpty(t, tuned.Next.Cells)
			require.LessOrEqual(t, len(tuned.Next.Cells), 6)
			require.Len(t, tuned.Next.Seeds, 20)
			require.EqualValues(t, 300, tuned.Next.Seeds[0])
			require.Equal(t, "0.01", tuned.Arms[0].Chosen["lr"], "the better in validation")
			require.InDelta(t, 80, tuned.Arms[0].Validation, 1e-9)
			require.Nil(t, tuned.Arms[0].F1)
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

func TestContrastsAreOfScores(t *testing.T) {
	// Plain 70 and 69 from the cache; masked 73, and 72.5, 72.4 and 72.3 from the cache by split.
	results := trials(t, "gat", 3, func(c record.Cell, _ hyper.StopOn, _ datasets.Arrivals, split int) (float64, float64) {
		if c.Parameters.KeepRate.Active() {
			return 73, 72.5 - float64(split)/10
		}
		return 70, 69
	})
	q := asked(t, "gat", datasets.Inductive)
	for _, test := range []struct {
		of   func(Scores) float64
		want []float64
	}{
		{nil, []float64{3, 3, 3}},
		{func(s Scores) float64 { return s.Plain - s.PlainCached }, []float64{1, 1, 1}},
		{func(s Scores) float64 { return s.MaskedCached - s.Masked }, []float64{-0.5, -0.6, -0.7}},
	} {
		q.Contrast = Contrast{Of: test.of}
		_, effects := effectsOf(t, q, results)
		require.Len(t, effects, 48)
		for _, e := range effects {
			require.InDeltaSlice(t, test.want, e.Differences[0], 1e-9)
			require.InDelta(t, 70, e.Plain[0], 1e-9, "whatever is contrasted")
			require.InDelta(t, 73, e.Masked[0], 1e-9)
		}
	}
}
