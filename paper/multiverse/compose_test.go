package multiverse

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

func TestUnnamedChoicesTakeTheFirstOption(t *testing.T) {
	axes := axesOf(t, "gin")
	r, err := Compose(axes, datasets.Inductive, "body", "two, norm inside", "stop", "MACRO f1")
	require.NoError(t, err)
	require.Equal(t, "body: two, norm inside; readout: last layer; dropout: none; features: raw; rates: 0.01, 5e-4; stop: macro F1; arrivals: all edges", r.Words(axes, datasets.Inductive))
	first, err := Compose(axes, datasets.Transductive)
	require.NoError(t, err)
	require.Equal(t, make(Reading, len(axes)), first)
}

func TestChoicesThatCannotBeAreRefusedWithWhatThereIs(t *testing.T) {
	axes := axesOf(t, "gat")
	for want, choices := range map[string][]string{
		`no axis "stopp": expected one of ["attention dropout" "self" "masked" "stop"]`:                                                           {"stopp", "loss"},
		`axis "self" has no option "keep": expected one of ["masked" "kept"]`:                                                                     {"self", "keep"},
		`axis "self" has no option after it: expected one of ["masked" "kept"]`:                                                                   {"stop", "loss", "self"},
		`axis "arrivals" does not matter in the transductive setting: leave it out, or choose among ["attention dropout" "self" "masked" "stop"]`: {"arrivals", "all edges"},
		`axis "stop" is named twice: expected it once`:                                                                                            {"stop", "loss", "STOP", "loss"},
	} {
		_, err := Compose(axes, datasets.Transductive, choices...)
		require.EqualError(t, err, want)
	}
}

func TestAReadingIsFoundWithItsRankAndItsScores(t *testing.T) {
	// Masking adds 3 where stopping follows F1, and 1 where a masked node's own term is kept.
	r := trials(t, "gat", 2, func(c record.Cell, on hyper.StopOn, way datasets.Arrivals, split int) (float64, float64) {
		f1 := 50 + float64(split)
		if c.Parameters.KeepRate.Active() {
			if on == hyper.StopOnF1 {
				f1 += 3
			}
			if c.Parameters.SelfTerm == hyper.SelfKept {
				f1++
			}
		}
		return f1, f1
	})
	q := asked(t, "gat", datasets.Inductive)
	e := effectsOf(t, q, r)
	reading, err := Compose(q.Axes, q.Setting, "stop", "macro F1")
	require.NoError(t, err)
	effect, rank, found := e.Find(reading)
	require.True(t, found)
	require.Equal(t, 3.0, effect.Pooled.MeanDifference)
	// Of 48 readings, 36 do not stop on F1, and have an effect of 0 or 1; 12 do, half of them with 3.
	require.Equal(t, 37, rank)
	_, _, found = (&Effects{Question: q}).Find(reading)
	require.False(t, found)

	scores, err := q.F1(r, reading, Masked, 25)
	require.NoError(t, err)
	require.Equal(t, map[uint64]float64{100: 53, 101: 54}, scores)
	cells := cellsOf(t, ofBoth(t, "gat", 10))
	trials, complete, err := r.Count(cells, Seeds(FirstSplit, 2))
	require.NoError(t, err)
	require.Equal(t, 20, trials, "4 trainings in the inductive setting, 6 in the transductive one, 2 splits")
	require.Equal(t, 10, complete)
	trials, complete, err = r.Count(cells, Seeds(FirstSplit, 3))
	require.NoError(t, err)
	require.Equal(t, 20, trials)
	require.Zero(t, complete)
	trials, _, err = record.NewResults(nil).Count(cells, Seeds(FirstSplit, 2))
	require.NoError(t, err)
	require.Zero(t, trials)
}
