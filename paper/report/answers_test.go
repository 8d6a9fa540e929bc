package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/paper/record"
)

// citedOf is evidence of the cited part for models on Cora: gain is what masking adds to a plain F1 of 60 on a split,
// by its number from 0. Caching costs a point.
func citedOf(t *testing.T, gain func(c record.Cell, split int) float64, models ...string) *Evidence {
	t.Helper()
	return partsOf(t, []judge.Part{judge.Cited}, func(c record.Cell, split int) float64 {
		if c.Parameters.KeepRate.Active() {
			return 60 + gain(c, split)
		}
		return 60
	}, models...)
}

// partsOf is evidence of parts of the second protocol for models on Cora, with a macro F1 by cell and split.
func partsOf(t *testing.T, parts []judge.Part, f1 func(c record.Cell, split int) float64, models ...string) *Evidence {
	t.Helper()
	var questions []judge.Question
	for _, part := range parts {
		for _, model := range models {
			for _, setting := range datasets.Settings() {
				q, err := judge.QuestionOf(part, leadingData, model, setting)
				require.NoError(t, err)
				questions = append(questions, q)
			}
		}
	}
	cells, err := judge.Cells(questions)
	require.NoError(t, err)
	var all []record.Record
	for _, c := range cells {
		for split := range judge.Splits {
			all = append(all, readAlike(judge.SecondProtocol(), c, judge.FirstSplit+uint64(split), f1(c, split)))
		}
	}
	return newEvidence(t, all)
}

func TestTheHeadlineNamesWhoGainsAndWhen(t *testing.T) {
	e := citedOf(t, func(c record.Cell, split int) float64 {
		switch {
		case c.Setting == datasets.Inductive && c.Parameters.Model != "sgat":
			return 2 + wobble(split%10)/10
		case c.Parameters.Model == "gin":
			return 1 + wobble(split%10)/10
		}
		return wobble(split%10) / 10
	}, "gin", "gat", "sgat")
	a, err := e.Answer()
	require.NoError(t, err)
	assert.Equal(t, "On Cora it helps GIN on new and known nodes; and GAT on new nodes.", a.Headline)
	assert.Equal(t, "In GIN masking raises macro F1 by 2.0 points on new nodes, and raises macro F1 by 1.0 points on known "+
		"ones; with rescaling as in dropout it gains 1.0 points there.", a.Sentences[0])
	grid, err := e.Grid()
	require.NoError(t, err)
	require.NoError(t, grid.Check())
	assert.Equal(t, "gains", grid.Rows[0][1].Text)
	assert.Equal(t, "SGAT against no attention dropout", grid.Rows[7][0].Text)
	assert.True(t, grid.Rows[0][1].Bold)
	assert.Equal(t, "not run", grid.Rows[3][1].Text, "raw features")
	assert.False(t, grid.Rows[4][1].Bold, "a gain against attention dropout may be had without masking")
	assert.Equal(t, "no difference", grid.Rows[7][1].Text)
	assert.Equal(t, "not run", grid.Rows[0][3].Text, "CiteSeer")

	few, err := citedOf(t, func(record.Cell, int) float64 { return 1 }, "gin").Answer()
	require.NoError(t, err)
	assert.Equal(t, "Not everything has been measured yet.", few.Headline)
}

func TestTheLeadingFigureHasOursAndThePublishedGains(t *testing.T) {
	e := citedOf(t, func(_ record.Cell, split int) float64 { return 2 + wobble(split%10)/10 }, "gin")
	p, err := e.Gains()
	require.NoError(t, err)
	require.NoError(t, p.Check())
	require.Len(t, p.Rows, 2)
	gin := p.Rows[0][0]
	assert.Equal(t, "GIN, new nodes", gin.Title)
	require.Len(t, gin.Series, 4, "rescaled, and each trial is stopped on macro F1, too")
	assert.Equal(t, []float64{10, 25, 50, 90}, gin.Series[0].X)
	assert.InDelta(t, 2, gin.Series[0].Y[0], 0.1)
	assert.InDelta(t, 56.38-52.91, gin.Series[1].Y[0], 1e-9, "published, at 10 %")
	assert.Len(t, p.Rows[0][1].Series, 1, "GAT has not been run")
}

func TestWhatDroppingNoAttentionGainsIsNotMaskings(t *testing.T) {
	all := []judge.Answer{}
	for _, model := range judge.Models() {
		for _, s := range datasets.Settings() {
			a := judge.Answer{Verdict: judge.NoDifference}
			if s == datasets.Inductive {
				a.Verdict = judge.Gains
			}
			a.Data, a.Model, a.Setting = leadingData, model, s
			all = append(all, a)
		}
	}
	fair := slices.Clone(all)
	for i := range fair {
		fair[i].Verdict = judge.NoDifference
	}
	better := []string{"early stopping on validation F1", "raw features"}
	replaced := "GAT and SGAT do as well with neither masking nor attention dropout."
	assert.Equal(t, "On Cora it helps GIN on new nodes. But "+replaced,
		headline(all, fair, nil, false))
	assert.Equal(t, "On Cora it helps GIN on new nodes. But on average GIN gains more from early "+
		"stopping on validation F1 or raw features, and "+replaced, headline(all, fair, better, false))
	assert.Equal(t, "On Cora it helps GIN, GAT and SGAT on new nodes.",
		headline(all, all, nil, false))
	assert.Equal(t, "On Cora it does not help.", headline(fair, fair, better, false))
	assert.Equal(t, "On Cora it helps GIN on new nodes and, with rescaling as in dropout, on "+
		"known nodes too. But "+replaced, headline(all, fair, nil, true))
	for i := range fair {
		fair[i].Verdict = judge.Inconclusive
	}
	assert.Equal(t, "On Cora it helps GIN on new nodes.", headline(all, fair, nil, false),
		"what is not known is not said")
	fair[len(fair)-1].Verdict = judge.NotRun
	assert.Equal(t, "Not everything has been measured yet.", headline(all, fair, nil, false))
}

func TestDeparturesOfGINStandBesideTheCitedReading(t *testing.T) {
	// Masking adds 2 points to 60 where nodes arrive, and half a point with raw features; at 90 % there are 4 more.
	with := func(raw float64) *Evidence {
		return partsOf(t, []judge.Part{judge.Cited, judge.Stated}, func(c record.Cell, split int) float64 {
			f1, gain := 60.0, 2.0
			if !c.Parameters.NormalizeFeatures {
				f1, gain = raw, 0.5
			}
			if c.Setting == datasets.Inductive && c.Parameters.KeepRate.Active() {
				f1 += gain + wobble(split%10)/10
			}
			if c.TrainPercent == 90 {
				f1 += 4
			}
			return f1 + wobble(split%10)/10
		}, "gin", "gat", "sgat")
	}
	e := with(66)
	a, err := e.Answer()
	require.NoError(t, err)
	assert.Contains(t, a.Headline, "But on average GIN gains more from raw features.")
	assert.Equal(t, "With early stopping on validation F1, GIN without masking is 0.0 points better on new nodes, and masking adds "+
		"2.0 to that.", a.Sentences[1], "the evidence is alike for all ways of stopping")
	assert.Equal(t, "With raw features, GIN without masking is 6.0 points better on new nodes, and masking adds 0.5 to that.", a.Limits[0])
	assert.Contains(t, a.Limits, "With rescaling as in dropout, what masking adds has an interval above 0 in 1 "+
		"of 2 places in GIN, in 1 of 2 places in GIN stopped on validation F1, in 1 of 2 places in GIN with raw features, in 2 "+
		"of 4 places in GAT and SGAT against attention dropout and in 2 of 4 places in these against none.")
	grid, err := e.Grid()
	require.NoError(t, err)
	assert.Equal(t, "GIN with raw features", grid.Rows[3][0].Text)
	assert.Equal(t, "gains", grid.Rows[3][1].Text)
	assert.Equal(t, "no difference", grid.Rows[3][2].Text)
	gains, err := e.Gains()
	require.NoError(t, err)
	assert.Equal(t, "here, GIN with rescaling as in dropout", gains.Rows[0][0].Series[2].Name)
	assert.Equal(t, "here, GIN with early stopping on validation F1", gains.Rows[0][0].Series[3].Name)

	beside, err := e.GINTable()
	require.NoError(t, err)
	require.NoError(t, beside.Check())
	var row []string
	for _, field := range beside.Rows[0] {
		row = append(row, field.Text)
	}
	assert.Equal(t, []string{"Cora, new nodes", "74.0", "+2.41"}, row[:3])
	assert.Equal(t, "61.0 (17.6)", row[3], "√((7.09² + 14.71² + 23.07² + 21.13²)/4)")
	assert.Equal(t, "67.0 (13.9)", row[8])
	assert.Regexp(t, `^\+0\.5\d \[`, row[9])
	assert.Equal(t, "–", beside.Rows[2][3].Text, "CiteSeer has not been run")

	levels, err := e.Levels()
	require.NoError(t, err)
	require.NoError(t, levels.Check())
	require.Len(t, levels.Rows[0], 1, "Cora alone has run")
	series := levels.Rows[0][0].Series
	require.Len(t, series, 3)
	assert.Equal(t, "raw features", series[2].Name)
	assert.Len(t, series[2].X, 8, "dropout, rates and rescaling vary")
	assert.InDelta(t, 67, series[2].X[0], 0.1)
	assert.InDelta(t, 0.5, series[2].Y[0], 0.1)

	a, err = with(61.9).Answer()
	require.NoError(t, err)
	assert.NotContains(t, a.Headline, "raw", "no better than with masking")
}

func TestClaimsAreGradedOnceAllSplitsAreThere(t *testing.T) {
	e := citedOf(t, func(c record.Cell, split int) float64 {
		if c.Setting == datasets.Transductive {
			return -1 + wobble(split%10)/10
		}
		return 2 + wobble(split%10)/10
	}, "gin")
	v := claim(t, "table-gin-cora/gain-inductive").Judge(e)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.Equal(t, "4 of 4", v.Strict())
	assert.Equal(t, "nodemask multiverse --part cited --data cora --model gin --summary", v.command)
	assert.Equal(t, "3 above, 0 below of 3", v.Robust, "itself, with all edges, and rescaled")
	assert.Equal(t, judge.Contradicted, claim(t, "table-gin-cora/gain-transductive").Judge(e).Grade)
	assert.Equal(t, judge.Reproduced, claim(t, "table-scale-cora/costs").Judge(e).Grade)
	assert.Equal(t, judge.Inconclusive, claim(t, "table-scale-cora/not-degraded").Judge(e).Grade,
		"it costs a point, which is the margin")
	assert.Equal(t, judge.NotRun, claim(t, "table-gin-pubmed/gain-inductive").Judge(e).Grade)
}
