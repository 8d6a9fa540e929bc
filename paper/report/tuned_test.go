package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
)

// answered runs a cell's tuned comparison with scores from f1.
func answered(t *testing.T, d judge.Design, q judge.TunedQuestion, f1 func(c record.Cell,
	seed uint64) float64) []record.Record {
	t.Helper()
	var all []record.Record
	protocol := judge.FirstProtocol()
	if d.Budget == 0 {
		protocol = judge.SecondProtocol()
	}
	for stage := 0; ; stage++ {
		answer, err := d.Tuned(record.NewResults(all), q)
		require.NoError(t, err)
		if len(answer.Next.Cells) == 0 {
			break
		}
		require.GreaterOrEqual(t, answer.Stage, stage, "every stage comes once")
		stage = answer.Stage
		for _, c := range answer.Next.Cells {
			for _, seed := range answer.Next.Seeds {
				all = append(all, readAlike(protocol, c, seed, f1(c, seed)))
			}
		}
	}
	return all
}

// tunedOn has 10 % train nodes.
func tunedOn(data, model string, setting datasets.Setting) judge.TunedQuestion {
	return judge.TunedQuestion{Data: data, Model: judge.TunedModel{Name: model}, Setting: setting,
		TrainPercent: 10}
}

func TestTunedComparisonNeedsEveryArm(t *testing.T) {
	q := tunedOn("cora", "gcn", datasets.Transductive)
	all := answered(t, judge.DrawnDesign(), q, func(c record.Cell, seed uint64) float64 {
		score := 70 + wobble(int(seed%10))
		if c.Parameters.KeepRate == 0.9 {
			score += 2 + 0.1*wobble(int(seed*3%10)) // best keep rate
		}
		if c.Parameters.Regulariser != "" {
			score++
		}
		return score
	})
	e := newEvidence(t, all)
	require.Len(t, e.tuned(tunedID).cells, 1)
	found := artifact(t, "table-tuned")
	table, err := e.Table(found)
	require.NoError(t, err)
	require.NoError(t, table.Check())
	require.Len(t, table.Rows, 1)
	row := table.Rows[0]
	assert.Equal(t, "GCN", row[0].Text)
	assert.Equal(t, "Cora, transductive, 10 %", row[1].Text)
	assert.Equal(t, "70.00 ± 0.15", row[2].Text)
	assert.False(t, row[3].Bold, "p = 0.5 gains nothing here")
	assert.Equal(t, "72.00 ± 0.15", row[4].Text)
	assert.True(t, row[4].Bold)
	assert.Contains(t, row[4].Note, "keep 0.9")
	assert.Contains(t, row[4].Note, "+2.00 against plain, p < 0.001")
	assert.Contains(t, table.Caption, "Run so far: 1 of 60 rows.")

	worse := newEvidence(t, answered(t, judge.DrawnDesign(), q, func(c record.Cell, seed uint64) float64 {
		score := 70 + wobble(int(seed%10))
		if c.Parameters.Regulariser == hyper.DropEdgeRegulariser {
			score -= 2 + 0.1*wobble(int(seed*3%10))
		}
		return score
	}))
	table, err = worse.Table(found)
	require.NoError(t, err)
	dropEdge := table.Rows[0][slices.Index(table.Header, judge.ArmDropEdge)]
	assert.True(t, dropEdge.Bold && dropEdge.Down, "what is significantly below plain is marked, as the caption says")

	v := claim(t, "table-tuned/gcn").Judge(e)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.InDelta(t, 2, v.Effect.MeanDifference, 0.05)
	v = claim(t, "table-tuned/dropedge").Judge(e)
	assert.Equal(t, judge.Reproduced, v.Grade)
	assert.InDelta(t, 1, v.Effect.MeanDifference, 0.05)
	assert.Equal(t, judge.NotRun, claim(t, "table-tuned/gin").Judge(e).Grade)

	// Comparison waits for all trials of the protocol's arms.
	all = slices.DeleteFunc(all, func(r record.Record) bool {
		return r.Parameters.Regulariser == hyper.DropEdgeRegulariser && r.Seed == 319
	})
	e = newEvidence(t, all)
	require.Empty(t, e.tuned(tunedID).cells)
}

func TestTheBalancedComparisonIsCompleteWithoutAddedArms(t *testing.T) {
	f1 := func(c record.Cell, seed uint64) float64 {
		score := 70 + wobble(int(seed%10))
		if c.Parameters.KeepRate == 0.9 && c.Parameters.Rescale {
			score += 2 + 0.1*wobble(int(seed*3%10))
		}
		return score
	}
	var all []record.Record
	for _, model := range judge.BalancedDesign().Models[:2] {
		q := tunedOn("cora", "", datasets.Inductive)
		q.Model = model
		all = append(all, answered(t, judge.BalancedDesign(), q, f1)...)
	}
	all = append(all, answered(t, judge.DrawnDesign(), tunedOn("cora", "gin", datasets.Transductive), f1)...)
	e := newEvidence(t, all)
	assert.Equal(t, judge.Reproduced, claim(t, "table-balanced/gin-one-linear-layer").Judge(e).Grade)
	assert.Equal(t, judge.NotRun, claim(t, "table-balanced/gat").Judge(e).Grade)
	assert.Equal(t, judge.NotRun, claim(t, "table-gin-cora/gain-inductive").Judge(e).Grade, "tuning is no reading")

	table, err := e.Table(tableTuned(balancedID))
	require.NoError(t, err)
	require.Len(t, table.Rows, 3)
	assert.Contains(t, table.Caption, "Run so far: 3 of 72 rows.")

	assert.Contains(t, table.Caption, "exploratory (paper/ADDITIONS.md): DropGNN, tuned.")
	// A row is complete without added arms.
	e = newEvidence(t, slices.DeleteFunc(all, func(r record.Record) bool {
		return r.Parameters.Regulariser == hyper.DropGNNRegulariser
	}))
	table, err = e.Table(tableTuned(balancedID))
	require.NoError(t, err)
	require.Len(t, table.Rows, 3)
	require.Len(t, table.Header, 2+len(judge.BalancedDesign().Arms))
}
