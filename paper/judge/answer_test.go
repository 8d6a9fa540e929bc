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
