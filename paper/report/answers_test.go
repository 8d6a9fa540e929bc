package report

import (
	"html/template"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/paper/record"
)

// citedOf is evidence of the cited part on Cora: macro F1 is 60, plus gain (by split from 0) with masking. Caching
// costs a point.
func citedOf(t *testing.T, gain func(c record.Cell, split int) float64, models ...string) *Evidence {
	t.Helper()
	return partsOf(t, []judge.Part{judge.Cited}, func(c record.Cell, split int) float64 {
		if c.Parameters.KeepRate.Active() {
			return 60 + gain(c, split)
		}
		return 60
	}, models...)
}

// partsOf is evidence of parts on Cora, with macro F1 by cell and split.
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

func TestTheGridCallsEachComparisonByItsVerdict(t *testing.T) {
	e := citedOf(t, func(c record.Cell, split int) float64 {
		if c.Setting == datasets.Inductive {
			return 2 + wobble(split%10)/10
		}
		return wobble(split%10) / 10
	}, "gin", "gat", "sgat")
	grid, err := e.Grid()
	require.NoError(t, err)
	require.NoError(t, grid.Check())
	require.Len(t, grid.Rows, 8)
	assert.Equal(t, []string{"helps", "under a point", "not run"},
		[]string{grid.Rows[0][1].Text, grid.Rows[0][2].Text, grid.Rows[0][3].Text}, "CiteSeer has not run")
	assert.Equal(t, "GIN with raw features†", grid.Rows[3][0].Text)
	assert.Equal(t, "SGAT against no attention dropout", grid.Rows[7][0].Text)
}

func TestWordsThatTheNumbersContradictAreAnError(t *testing.T) {
	e := citedOf(t, func(_ record.Cell, split int) float64 { return 2 + wobble(split%10)/10 }, "gin")
	text, err := e.fill("a.md", `{{$x := gain "gin" "cora" "new" ""}}{{say "adds" (rises $x)}} {{abs $x.MeanDifference}}`)
	require.NoError(t, err)
	require.Equal(t, "adds 2.0", text)
	_, err = e.fill("a.md", "\n"+`{{say "costs" (falls (gain "gin" "cora" "new" ""))}}`)
	require.ErrorContains(t, err, `a.md:2:`)
	require.ErrorContains(t, err, `"costs" is false of these numbers`)
	text, err = e.fill("a.md", `{{say "costs" (falls (gain "gat" "cora" "new" ""))}}`)
	require.NoError(t, err)
	require.Equal(t, notMeasured, text)
}

func TestProseBecomesHTML(t *testing.T) {
	assert.Equal(t, template.HTML("<p><b>a</b> &lt; <em>b</em> <code>c</code> d</p>\n<ul>\n<li>e f</li>\n<li>g</li>\n</ul>\n"+
		"<div class=\"scroll\" tabindex=\"0\"><table>\n<tr><th>h</th><th>i</th></tr>\n<tr><th>j</th><td>1</td></tr>\n</table></div>\n"),
		proseHTML("**a** < *b*\n`c` [d](x.md)\n\n- e\n  f\n- g\n\n| h | i |\n|---|---|\n| j | 1 |\n"))
}

func TestTheLeadingFigureHasOursAndThePublishedGains(t *testing.T) {
	e := citedOf(t, func(_ record.Cell, split int) float64 { return 2 + wobble(split%10)/10 }, "gin")
	p, err := e.Gains()
	require.NoError(t, err)
	require.NoError(t, p.Check())
	require.Len(t, p.Rows, 2)
	gin := p.Rows[0][0]
	assert.Equal(t, "GIN, new nodes", gin.Title)
	require.Len(t, gin.Series, 3, "each trial is stopped on macro F1, too")
	assert.Equal(t, []float64{10, 25, 50, 90}, gin.Series[0].X)
	assert.InDelta(t, 2, gin.Series[0].Y[0], 0.1)
	assert.InDelta(t, 56.38-52.91, gin.Series[2].Y[0], 1e-9, "published, at 10 %")
	assert.Len(t, p.Rows[0][1].Series, 1, "GAT has not been run")
}

func TestDeparturesOfGINStandBesideTheCitedReading(t *testing.T) {
	// Masking adds 2 points to 60 on new nodes, and 0.5 with raw features; 4 more at 90 %.
	e := partsOf(t, []judge.Part{judge.Cited, judge.Stated}, func(c record.Cell, split int) float64 {
		f1, gain := 60.0, 2.0
		if !c.Parameters.NormalizeFeatures {
			f1, gain = 66, 0.5
		}
		if c.Setting == datasets.Inductive && c.Parameters.KeepRate.Active() {
			f1 += gain + wobble(split%10)/10
		}
		if c.TrainPercent == 90 {
			f1 += 4
		}
		return f1 + wobble(split%10)/10
	}, "gin", "gat", "sgat")
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
	assert.Equal(t, "nodemask report cited --data cora --model gin", v.command)
	assert.Equal(t, "3 above, 0 below of 3", v.Robust, "itself, with all edges, and rescaled")
	assert.Equal(t, judge.Contradicted, claim(t, "table-gin-cora/gain-transductive").Judge(e).Grade)
	assert.Equal(t, judge.Reproduced, claim(t, "table-scale-cora/costs").Judge(e).Grade)
	assert.Equal(t, judge.CannotTell, claim(t, "table-scale-cora/not-degraded").Judge(e).Grade,
		"it costs a point, which is the margin")
	assert.Equal(t, judge.NotRun, claim(t, "table-gin-pubmed/gain-inductive").Judge(e).Grade)
}

// pairs is a graph of joined pairs, or of single nodes, all with the same single feature.
func pairs(t *testing.T, n int, joined bool) *datasets.Graph {
	t.Helper()
	features := datasets.Features{Rows: n, Width: 1, Dense: make([]float32, n)}
	labels := make([]int32, n)
	var edges []csr.Edge
	for v := range n {
		features.Dense[v], labels[v] = 1, int32(v/2%2)
		if joined && v%2 == 1 {
			edges = append(edges, csr.Edge{Node: int32(v - 1), Neighbour: int32(v)})
		}
	}
	g, _, err := csr.FromEdges(n, edges, csr.Options{})
	require.NoError(t, err)
	return &datasets.Graph{Name: "pairs", Edges: g, Features: features, Labels: labels, Classes: []string{"a", "b"}}
}

func TestAggregatesShrinkByWhatIsMasked(t *testing.T) {
	ratio := func(g *datasets.Graph, mean bool, setting datasets.Setting) float64 {
		r, err := aggregateRatio(g, g.Features.Matrix(), mean, setting, 50)
		require.NoError(t, err)
		return r
	}
	alone, joined := pairs(t, 2000, false), pairs(t, 2000, true)
	for _, setting := range datasets.Settings() {
		assert.InDelta(t, 1, ratio(alone, false, setting), 1e-12, "a node without neighbours sums up itself, masked or not")
		assert.InDelta(t, 1, ratio(alone, true, setting), 1e-12)
	}
	// A node's partner is a train node in half of the pairs, and masked in half of those: sums of 2 average 1.75.
	assert.InDelta(t, 2/1.75, ratio(joined, false, datasets.Transductive), 0.01)
	assert.InDelta(t, 1/0.875, ratio(joined, true, datasets.Transductive), 0.01, "a mean keeps its denominator")
	// Inductively only train nodes send messages: 1.5 in testing, 1.25 in training.
	assert.InDelta(t, 1.5/1.25, ratio(joined, false, datasets.Inductive), 0.01)
}
