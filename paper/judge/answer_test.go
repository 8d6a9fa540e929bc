package judge_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

// trained makes trials of a part for a model on Cora, in both settings, with f1 by cell, split (from 0) and arrivals.
func trained(t *testing.T, part judge.Part, model string, splits int, f1 func(c record.Cell, arrivals datasets.Arrivals,
	split int) float64) *record.Results {
	t.Helper()
	var questions []judge.Question
	for _, setting := range datasets.Settings() {
		q, err := judge.QuestionOf(part, "cora", model, setting)
		require.NoError(t, err)
		questions = append(questions, q)
	}
	cells, err := judge.Cells(questions)
	require.NoError(t, err)
	var all []record.Record
	for _, c := range cells {
		for split := range splits {
			all = append(all, recordtest.Read(c, judge.FirstSplit+uint64(split),
				func(_ hyper.StopOn, way datasets.Arrivals) (float64, float64) { return f1(c, way, split), 0 }))
		}
	}
	return record.NewResults(all)
}

// noise averages to 0 over an even number of splits.
func noise(split int) float64 { return float64(split%2)*2 - 1 }

func of(t *testing.T, all []judge.Answer, data, model string, setting datasets.Setting) judge.Answer {
	t.Helper()
	for _, a := range all {
		if a.Data == data && a.Model == model && a.Setting == setting {
			return a
		}
	}
	t.Fatal("no such answer")
	return judge.Answer{}
}

func answers(r *record.Results, choice judge.Choice) ([]judge.Answer, error) {
	grid, err := judge.Answers(r, judge.WithChoice(choice))
	return slices.Concat(grid...), err
}

func TestVerdictsTakeAllSplitsAndHolmOverTheWholeFamily(t *testing.T) {
	r := trained(t, judge.Cited, "gin", judge.Splits, func(c record.Cell, _ datasets.Arrivals, split int) float64 {
		switch {
		case !c.Parameters.KeepRate.Active():
			return 70
		case c.Setting == datasets.Inductive:
			return 72 + noise(split)
		}
		return 70.1 + noise(split)
	})
	all, err := answers(r, judge.Choice{})
	require.NoError(t, err)
	require.Len(t, all, 18)
	gain := of(t, all, "cora", "gin", datasets.Inductive)
	require.Equal(t, judge.Helps, gain.Verdict)
	require.InDelta(t, 2, gain.Effect.Pooled.MeanDifference, 1e-9)
	require.InEpsilon(t, 18*gain.Effect.Pooled.P, gain.P, 1e-9, "the least of 18, most of them missing")
	none := of(t, all, "cora", "gin", datasets.Transductive)
	require.Equal(t, judge.Under, none.Verdict)
	require.Equal(t, 1.0, none.P)
	require.Equal(t, judge.Unmeasured, of(t, all, "pubmed", "gat", datasets.Inductive).Verdict)

	r = trained(t, judge.Cited, "gin", judge.Splits-1, func(c record.Cell, _ datasets.Arrivals, split int) float64 {
		return 70 + 2*c.Parameters.KeepRate.Probability() + noise(split)
	})
	all, err = answers(r, judge.Choice{})
	require.NoError(t, err)
	few := of(t, all, "cora", "gin", datasets.Inductive)
	require.Equal(t, judge.Unmeasured, few.Verdict, "a split is missing")
	require.Equal(t, judge.Splits-1, few.Splits)
	require.Equal(t, 1.0, few.P)
}

func TestChoicesAreReadWhereTheyMatter(t *testing.T) {
	r := trained(t, judge.Cited, "gat", judge.Splits, func(c record.Cell, arrivals datasets.Arrivals, split int) float64 {
		f1 := 70.0
		if !c.Parameters.KeepRate.Active() {
			if c.Parameters.AttentionDropout == 0 {
				f1 += 4
			}
			return f1
		}
		f1 += 3 + noise(split)/2
		if c.Parameters.SelfTerm != hyper.SelfKept {
			f1 -= 2
		}
		if c.Parameters.Rescale {
			f1 -= 0.5
		}
		if c.Setting == datasets.Inductive && arrivals == datasets.AllEdges {
			f1 -= 8
		}
		return f1
	})
	for choice, want := range map[judge.Choice][2]float64{ // inductive, transductive
		{}:                                 {3, 3},
		{AllEdges: true}:                   {-5, 3},
		{SelfMasked: true}:                 {1, 1},
		{AllEdges: true, SelfMasked: true}: {-7, 1},
		{Fair: true}:                       {-1, -1},
	} {
		all, err := answers(r, choice)
		require.NoError(t, err)
		for i, setting := range datasets.Settings() {
			require.InDelta(t, want[i], of(t, all, "cora", "gat", setting).Effect.Pooled.MeanDifference, 1e-9, "%v, %s", choice,
				setting)
		}
	}
}

func TestRobustnessCountsStatedReadingsAndTheOtherChoices(t *testing.T) {
	r := trained(t, judge.Stated, "gin", judge.Splits, func(c record.Cell, arrivals datasets.Arrivals, split int) float64 {
		f1 := 70.0
		if c.Parameters.KeepRate.Active() {
			f1 += 2*noise(split)/10 + 1
			if c.Parameters.Rescale {
				f1 -= 2
			}
			if c.Setting == datasets.Inductive && arrivals == datasets.AllEdges {
				f1 += 0.5
			}
		}
		return f1
	})
	readings, above, below, err := judge.Robust(r, "cora", "gin", datasets.Inductive, judge.Contrast{})
	require.NoError(t, err)
	require.Equal(t, []int{17, 9, 8}, []int{readings, above, below}, "sixteen stated readings, and all edges")
	readings, _, _, err = judge.Robust(r, "pubmed", "gin", datasets.Inductive, judge.Contrast{})
	require.NoError(t, err)
	require.Zero(t, readings)
}

func TestThePartScaleTakesItsOwnSplitsAlone(t *testing.T) {
	r := trained(t, judge.Scale, "gin", judge.Splits, func(c record.Cell, _ datasets.Arrivals, split int) float64 {
		if c.Parameters.KeepRate.Active() && split >= 10 {
			return 90
		}
		return 70 + noise(split)
	})
	q, err := judge.QuestionOf(judge.Scale, "cora", "gin", datasets.Inductive)
	require.NoError(t, err)
	all, err := judge.Each(r, q)
	require.NoError(t, err)
	require.Len(t, all, 4)
	for _, a := range all {
		require.Equal(t, 10, a.Splits)
		require.Zero(t, a.Effect.Pooled.MeanDifference, "what later splits have does not count")
	}
}

func TestTheCitedReadingIsWhatTheProtocolsTableSays(t *testing.T) {
	q, err := judge.QuestionOf(judge.Cited, "cora", "gin", datasets.Transductive)
	require.NoError(t, err)
	first := q.Readings[0]
	require.Equal(t, make(judge.Reading, len(q.Axes)), first)
	require.Equal(t, "the cited reading", judge.Departure(q.Axes, first))
	c, err := first.Cell(q.Axes, judge.Masked, "cora", "gin", datasets.Transductive, 10)
	require.NoError(t, err)
	require.NoError(t, c.Parameters.Check())
	require.Equal(t, hyper.Parameters{Preset: "standard", Model: "gin", Layers: 2, Hidden: 64, MLPLayers: 2,
		Norm: hyper.NormBoth, Readout: hyper.ReadoutAll, Dropout: 0.5, DropoutOn: hyper.DropoutOnScores,
		KeepRate: 0.5, MaskOver: hyper.MaskTrain, LearningRate: 0.01, NormalizeFeatures: true, MaxEpochs: 1000, Patience: 50,
		StopOn: hyper.StopOnEither}, c.Parameters)

	q, err = judge.QuestionOf(judge.Cited, "cora", "gat", datasets.Inductive)
	require.NoError(t, err)
	for arm, want := range map[judge.Arm]hyper.Parameters{
		judge.Plain: {KeepRate: 1, MaskOver: hyper.MaskAll, AttentionDropout: 0.6},
		// inductively only train nodes exist
		judge.Masked: {KeepRate: 0.5, MaskOver: hyper.MaskAll, SelfTerm: hyper.SelfKept},
	} {
		want.Preset, want.Model, want.Layers, want.Hidden, want.Heads, want.MLPLayers, want.Dropout = "gat", "gat", 2, 64, 8,
			1, 0.6
		want.LearningRate, want.WeightDecay, want.NormalizeFeatures, want.MaxEpochs, want.Patience, want.StopOn = 0.005, 5e-4,
			true, 1000, 50, hyper.StopOnEither
		c, err := q.Readings[0].Cell(q.Axes, arm, "cora", "gat", datasets.Inductive, 10)
		require.NoError(t, err)
		require.Equal(t, want, c.Parameters)
		require.Equal(t, datasets.TrainEdges, c.Arrivals)
	}
}

func TestEachPartAsksAboutTheReadingsThatTheProtocolLists(t *testing.T) {
	for _, c := range []struct {
		part        judge.Part
		data, model string
		setting     datasets.Setting
		readings    int
		trained     int // of one size, both arms
	}{
		{judge.Cited, "cora", "gin", datasets.Inductive, 2 * 2, 3},                 // arrivals × rescaling
		{judge.Cited, "cora", "gin", datasets.Transductive, 2, 3},                  // rescaling
		{judge.Cited, "pubmed", "gat", datasets.Inductive, 2 * 2 * 2 * 2, 6},       // × own term × attention dropout
		{judge.Departures, "cora", "gin", datasets.Transductive, 1 + 3 + 3 + 1, 9}, // body, stopping, masked nodes
		// body, stopping, arrivals, and raw features, which its half of the stated readings lacks
		{judge.Departures, "pubmed", "gin", datasets.Inductive, 1 + 3 + 3 + 2 + 1, 10},
		// stopping, arrivals, own term and attention dropout
		{judge.Departures, "cora", "sgat", datasets.Inductive, 1 + 3 + 2 + 2, 4},
		{judge.Stated, "citeseer", "gin", datasets.Inductive, 2 * 2 * 2 * 2, 24},
		{judge.Stated, "pubmed", "gin", datasets.Inductive, 4 * 2, 12},
		{judge.Scale, "cora", "gin", datasets.Inductive, 2 * 2, 6},
		{judge.Scale, "cora", "sgat", datasets.Inductive, 2, 3},
		{judge.Stated, "cora", "gat", datasets.Inductive, 2, 3},
	} {
		q, err := judge.QuestionOf(c.part, c.data, c.model, c.setting)
		require.NoError(t, err)
		require.Len(t, q.Readings, c.readings, "%+v", c)
		seen := map[string]bool{}
		for _, r := range q.Readings {
			require.False(t, seen[judge.Departure(q.Axes, r)], "twice: %v", r)
			seen[judge.Departure(q.Axes, r)] = true
		}
		require.Contains(t, seen, "the cited reading")
		q.Sizes = []int{10}
		cells, err := judge.Cells([]judge.Question{q})
		require.NoError(t, err)
		require.Len(t, cells, c.trained, "%+v", c)
	}
	_, err := judge.QuestionOf("luck", "cora", "gin", datasets.Inductive)
	require.ErrorContains(t, err, `no part "luck"`)
	_, err = judge.QuestionOf(judge.Cited, "cora", "gcn", datasets.Inductive)
	require.ErrorContains(t, err, `no cited reading of "gcn"`)
}

func TestBalancedArmsShareConfigurations(t *testing.T) {
	d := judge.BalancedDesign()
	require.Len(t, d.Questions(), 6*3*2*2)
	require.Len(t, d.Protocol().Questions(), 4*3*2*2, "two were added")
	own := map[string]int{judge.ArmPlain: 0, judge.ArmMaskedTuned: 8 * 16, judge.ArmDropEdge: 4 * 16,
		judge.ArmDropout: 4 * 8, judge.ArmDropGNN: 4 * 16}
	for _, model := range d.Models {
		q := judge.TunedQuestion{Data: "cora", Model: model, Setting: datasets.Inductive, TrainPercent: 10}
		tuned, err := d.Tuned(record.NewResults(nil), q)
		require.NoError(t, err)
		require.Len(t, tuned.Arms, len(own))
		require.Equal(t, []uint64{600, 601, 602}, tuned.Next.Seeds)
		found := map[string]int{}
		for _, c := range tuned.Next.Cells {
			p := c.Parameters
			arm := judge.ArmPlain
			switch {
			case p.KeepRate.Active():
				arm = judge.ArmMaskedTuned
			case p.Regulariser == hyper.DropEdgeRegulariser:
				arm = judge.ArmDropEdge
			case p.Regulariser == hyper.DropGNNRegulariser:
				arm = judge.ArmDropGNN
			case p.Dropout != 0 && p.Dropout != 0.5:
				arm = judge.ArmDropout
			}
			found[arm]++
			require.Zero(t, p.AttentionDropout)
			if model.Name != "gin" {
				continue
			}
			want := hyper.NormBoth
			if model.With == judge.OneLayer {
				want = ""
			}
			require.Equal(t, want, p.Norm, "%s", c.Key())
			require.Equal(t, hyper.DropoutOnScores, p.DropoutOn)
			require.Equal(t, model.With != judge.RawFeatures, p.NormalizeFeatures)
		}
		own[judge.ArmPlain] = 16
		require.Equal(t, own, found)
	}
}

func TestSplitsOfTheBalancedComparisonAreNoReadings(t *testing.T) {
	r := trained(t, judge.Cited, "gin", judge.Splits, func(record.Cell, datasets.Arrivals, int) float64 { return 70 })
	more := trained(t, judge.Cited, "gin", 120, func(record.Cell, datasets.Arrivals, int) float64 { return 70 })
	q, err := judge.QuestionOf(judge.Cited, "cora", "gin", datasets.Inductive)
	require.NoError(t, err)
	want, _, err := q.Effects(r)
	require.NoError(t, err)
	found, _, err := q.Effects(more)
	require.NoError(t, err)
	require.Equal(t, want, found)
}
