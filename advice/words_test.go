package advice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/paper/judge"
	"nodemask/paper/record"
)

func TestTheSentenceNamesTheGainTheRateAndWhatToUse(t *testing.T) {
	a := advised(t, options("gin", "gcn"), noisy(3, func(c record.Cell) float64 {
		gain := 0.0
		if c.Parameters.Model == "gcn" {
			gain -= 8
		}
		if c.Parameters.Model == "gin" && c.Parameters.KeepRate == 0.7 {
			gain += 4
		}
		return gain
	}))
	assert.Regexp(t, `^On my-graph, with GIN, transductive, node masking with p = 0\.7 helps, by \+[34]\.\d points \(\+\d\.\d `+
		`to \+\d\.\d\) on \d+ splits\. With GCN, transductive, nothing helps by a point; node masking with p = 0\.9 changes it `+
		`by under a point, by .0\.\d points \(−0\.\d to \+0\.\d\) on \d+ splits\. Use GIN with node masking, p = 0\.7 `+
		`\(transductive\): 8[2345]\.\d\.$`, a.Sentence)
	assert.Contains(t, a.Command, "nodemask train --data my-graph --model gin --setting transductive --train 10 ")
	assert.Contains(t, a.Command, "--keep-rate 0.7")
	assert.NotContains(t, a.Command, "--json")
	for _, q := range a.Questions {
		for _, arm := range q.Arms {
			assert.Contains(t, arm.Command, "nodemask train --data my-graph --model "+q.Model, arm.Name)
			assert.Equal(t, arm.Name == "DropEdge", strings.Contains(arm.Command, "--regulariser dropedge:"), arm.Command)
		}
	}
	assert.True(t, a.Settled)
	assert.Empty(t, a.Rest())
}

func TestWhenTheBudgetEndsWhatIsOpenIsSaid(t *testing.T) {
	lab := noisy(2, nil)
	o := options("gin")
	o.Budget = time.Nanosecond
	a := advised(t, o, lab)
	assert.False(t, a.Settled)
	assert.Equal(t, "On my-graph, with GIN, transductive, nothing is compared yet.", a.Sentence)

	a = stopped(t, options("gin"), lab, 4)
	assert.Equal(t, "On my-graph, with GIN, transductive, nothing is compared yet.", a.Sentence)
	assert.Regexp(t, `^4 of 4 comparisons are not settled: about \d+s more, by the same command with --budget `, a.Rest())

	a = stopped(t, options("gin"), lab, 110)
	assert.Contains(t, a.Sentence, "the splits can't tell yet what helps")
	assert.Regexp(t, `^[1-4] of 4 comparisons are not settled: about [\dms]+ more, by the same command with `+
		`--budget [\dms]+, which goes on from here\.$`, a.Rest())
}

func TestTheTableHasARowForEachArmAndMarksWhatToUse(t *testing.T) {
	a := advised(t, options("gin", "gcn"), noisy(1, masked(3)))
	table := a.Table()
	require.NoError(t, table.Check())
	require.Len(t, table.Rows, 10)
	for i, row := range table.Rows {
		bold := strings.HasPrefix(row[1].Text, maskingArm)
		assert.Equal(t, bold, row[1].Bold, "row %d", i)
	}
	f, any := a.Forest()
	require.True(t, any)
	require.NoError(t, f.Check())
	require.Len(t, f.Groups, 2)
}

// dropping favours one dropout rate in every arm.
func dropping(rate float64) func(record.Cell) float64 {
	return func(c record.Cell) float64 {
		if c.Parameters.Dropout == rate {
			return 6
		}
		return 0
	}
}

func TestWhatDropoutThePlainModelHasIsSaid(t *testing.T) {
	a := advised(t, options("gin"), noisy(1, dropping(0.5)))
	assert.Contains(t, a.Sentence, " Use plain GIN, dropout 0.5 (transductive): 8")
	assert.Contains(t, a.Table().Caption, "; dropout 0.5, unless a row says otherwise.")
	assert.Equal(t, "plain, dropout 0.5", a.Table().Rows[0][1].Text)

	a = advised(t, options("gin"), noisy(1, dropping(0)))
	assert.Contains(t, a.Sentence, " Use plain GIN, no dropout (transductive): 8")
	assert.Contains(t, a.Table().Caption, "; no dropout, unless a row says otherwise.")
	assert.Equal(t, "plain, no dropout", a.Table().Rows[0][1].Text)
}

func TestArmsWhoseDropoutIsNotThePlainModelsSaySo(t *testing.T) {
	q := Question{Model: "gin", Arms: []*Arm{{Name: plain, Chosen: map[string]string{"dropout": "0.5"}}}}
	arm := func(name, words, dropout string) *Arm {
		return &Arm{Name: name, Words: words, Chosen: map[string]string{"dropout": dropout}}
	}
	assert.Equal(t, "node masking with p = 0.7", q.name(arm(maskingArm, "p = 0.7", "0.5")))
	assert.Equal(t, "node masking with p = 0.7 without dropout", q.name(arm(maskingArm, "p = 0.7", "0")))
	assert.Equal(t, "DropEdge 0.3 without dropout", q.name(arm("DropEdge", "0.3", "0")))
	assert.Equal(t, "dropout 0.1", q.name(arm(dropoutArm, "0.1", "0.1")))
	q.Arms[0].Chosen["dropout"] = "0"
	assert.Equal(t, "node masking with p = 0.7 and dropout 0.5", q.name(arm(maskingArm, "p = 0.7", "0.5")))
	assert.Equal(t, "DropEdge 0.3 with dropout 0.5", q.name(arm("DropEdge", "0.3", "0.5")))
}

func TestAnArmThatIsThePlainModelIsNotComparedWithIt(t *testing.T) {
	a := advised(t, options("gin"), noisy(1, dropping(0.5)))
	arm := armOf(t, a, dropoutArm)
	require.Equal(t, "0.5", arm.Words)
	assert.Equal(t, Same, arm.Verdict)
	assert.Nil(t, arm.Effect)
	assert.True(t, a.Settled)
	row := a.Table().Rows[slices.Index(a.Questions[0].Arms, arm)]
	assert.Equal(t, []string{"", "", "is the plain model"}, []string{row[3].Text, row[4].Text, row[len(row)-1].Text})
}

func TestARowsMeansAreOfTheSplitsThatItsDifferenceRestsOn(t *testing.T) {
	lab := noisy(6, masked(1))
	a := advised(t, options("gin"), lab)
	arm, cell := armOf(t, a, maskingArm), a.Questions[0].Arms[0].cell
	require.Greater(t, len(arm.F1), 12)
	// An interrupted round: the plain model lacks the last look's splits.
	lab.trained[cell.Key()] = slices.DeleteFunc(lab.trained[cell.Key()], func(r record.Record) bool {
		return r.Seed >= firstFresh+13
	})
	a = stopped(t, options("gin"), lab, lab.trials+1)
	table := a.Table()
	require.NotNil(t, armOf(t, a, maskingArm).Effect)
	for k, arm := range a.Questions[0].Arms {
		if len(arm.F1) < 12 || arm.Effect == nil {
			continue
		}
		assert.Len(t, arm.F1, arm.Effect.Splits, arm.Name)
		row := table.Rows[k]
		assert.Equal(t, "12", row[6].Text, "%s: splits that the plain model has too", arm.Name)
		plainThere := arm.Score().Mean - arm.Effect.Mean
		assert.Equal(t, fmt.Sprintf("%.1f", plainThere), row[3].Text, arm.Name)
	}
}

func TestWhenAllSplitsAreUsedTheRestStaysOpen(t *testing.T) {
	// Masking's gain changes its sign between splits: more splits never settle it.
	wild := func(c record.Cell, split uint64) float64 {
		if c.Parameters.KeepRate.Active() {
			return 60 + 30*noise(1, c.Key(), split)
		}
		return 60 + noise(1, c.Key(), split)
	}
	a := advised(t, options("gin"), &fake{trained: map[string][]record.Record{}, score: wild})
	require.Equal(t, judge.Unclear, armOf(t, a, maskingArm).Verdict)
	require.Len(t, armOf(t, a, maskingArm).F1, 135)
	assert.Contains(t, a.Sentence, "with GIN, transductive, all 135 splits can't tell what helps; node masking")
	assert.NotRegexp(t, `Until then|yet`, a.Sentence)
	assert.Equal(t, "1 of 4 comparisons are not settled: all 135 splits are used, and more time won't tell.", a.Rest())
}

// A loss is bounded as a gain is: by an interval within ±1.
func TestUnderAPointIsTwoSided(t *testing.T) {
	for gain, want := range map[float64]judge.Verdict{-3: judge.Hurts, 3: judge.Helps, 0: judge.Under, -0.5: judge.Under} {
		a := advised(t, options("gin"), &fake{trained: map[string][]record.Record{}, score: func(c record.Cell, split uint64) float64 {
			f1 := 80 + 2*noise(1, "split", split) + 0.7*noise(1, c.Key(), split)
			if c.Parameters.KeepRate.Active() {
				f1 += gain
			}
			return f1
		}})
		assert.Equal(t, want, armOf(t, a, maskingArm).Verdict, "%v", gain)
	}
}
