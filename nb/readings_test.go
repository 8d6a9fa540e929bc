package nb

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/evidence"
	"nodemask/paper/multiverse"
	"nodemask/paper/record"
	"nodemask/paper/recordstore"
	"nodemask/paper/recordtest"
	"nodemask/plots"
)

// readingsOfGAT are results that have every reading of GAT on two splits. Without masking, macro F1 is the paper's
// rounded to a whole number, one less on the first split and one more on the second; 10 less if new nodes arrive with
// edges to train nodes, and 2 more without attention dropout. Masking adds 3 where stopping follows F1, and 1 where a
// masked node's own term is kept. They are what is recorded until the test ends.
func readingsOfGAT(t *testing.T) *record.Results {
	t.Helper()
	folder := t.TempDir()
	store := recordstore.Open(folder)
	var questions []multiverse.Question
	for _, setting := range datasets.Settings() {
		q, err := multiverse.Ask("cora", "gat", setting)
		require.NoError(t, err)
		questions = append(questions, q)
	}
	cells, err := multiverse.Cells(questions)
	require.NoError(t, err)
	for _, c := range cells {
		for split := range 2 {
			trial := recordtest.Read(c, uint64(multiverse.FirstSplit+split), func(on hyper.StopOn,
				way datasets.Arrivals) (float64, float64) {
				x := math.Round(*evidence.Published("cora", "gat", c.Setting, c.TrainPercent, false)) + float64(2*split-1)
				switch {
				case c.Parameters.KeepRate.Active():
					if on == hyper.StopOnF1 {
						x += 3
					}
					if c.Parameters.SelfTerm == hyper.SelfKept {
						x++
					}
				case c.Parameters.AttentionDropout == 0:
					x += 2
				}
				if way == datasets.TrainEdges {
					x -= 10
				}
				return x, x
			})
			trial.Protocol = "rules"
			require.NoError(t, store.Add(trial))
		}
	}
	r, before := readingsIn(folder), recordedReadings
	recordedReadings = func() *record.Results { return r }
	t.Cleanup(func() { recordedReadings = before })
	return r
}

// texts are a table's cells, row by row.
func textOf(t plots.Table) (rows [][]string) {
	for _, row := range t.Rows {
		var cells []string
		for _, field := range row {
			cells = append(cells, field.Text)
		}
		rows = append(rows, cells)
	}
	return rows
}

func TestTheCurveHasEveryReadingWithItsEffect(t *testing.T) {
	r := readingsOfGAT(t)
	e, c := effectsOf(r, "cora", "gat", datasets.Inductive), calibrationOf(r, "gat")
	s := curveOf(e, c)
	require.NoError(t, s.Check())
	require.Len(t, s.Readings, 2*2*4*3)
	var names []string
	for _, axis := range s.Axes {
		names = append(names, axis.Name)
	}
	require.Equal(t, []string{"attention dropout", "self", "stop", "arrivals"}, names,
		"not the nodes to be masked, which are the train nodes")
	marked := 0
	for _, reading := range s.Readings {
		effect := -2 * float64(reading.Choices[0])
		effect += float64(reading.Choices[1])
		if s.Axes[2].Options[reading.Choices[2]] == "macro F1" {
			effect += 3
		}
		assert.Equal(t, effect, reading.Effect)
		if reading.Marked {
			marked++
			assert.NotEqual(t, "edges to train nodes", s.Axes[3].Options[reading.Choices[3]], "they are 10 points off")
		}
	}
	assert.Equal(t, 32, marked, "two arrivals of three")

	// Effects are -2, -1, 0 and 1, nine each, where stopping does not follow F1, and 1, 2, 3 and 4, three each, where it
	// does. 21 are above 0 and 18 below. Of the four patterns of signs, ++ alone has 21 above, but −− has 21 below.
	together := textOf(togetherOf(e, c))
	assert.Equal(t, []string{"all", "48", "0.00", "1.000", "44 %", "0.250", "38 %", "0.500"}, together[0])
	assert.Equal(t, []string{"calibrated", "32"}, together[1][:2])
	text := printed(t, func() { EveryReading("cora", "gat", datasets.Inductive) })
	assert.Contains(t, text, "Node masking in every reading of the paper: GAT on Cora, inductive")
	assert.Contains(t, text, "All readings together: GAT on Cora, inductive, 2 of 10 splits so far")
}

func TestWhatIsNotCompleteIsSaid(t *testing.T) {
	readingsOfGAT(t)
	const missing = "*SGAT on Cora, inductive: not all readings have two splits yet. 0 of 160 training runs are " +
		"recorded; `nodemask multiverse --data cora --model sgat` runs the others.*\n"
	assert.Equal(t, missing, printed(t, func() { EveryReading("cora", "sgat", datasets.Inductive) }))
	assert.Contains(t, printed(t, func() { Reading("cora", "sgat", datasets.Inductive) }), missing)
	assert.Contains(t, printed(t, func() { WhatMatters("cora", "sgat") }), missing)
	assert.Contains(t, printed(t, func() { Calibration("sgat") }),
		"*SGAT on Cora: not all readings have two splits yet. 0 of 400 training runs")
}

func TestWhatExplainsTheSpreadIsInPercentOfTheVariance(t *testing.T) {
	readingsOfGAT(t)
	text := printed(t, func() { WhatMatters("cora", "gat") })
	// Variances: 3²·¼·¾ = 1.6875 of stopping, 2²·½·½ = 1 of attention dropout, ¼ of the own term; 2.9375 in
	// all.
	for _, row := range []string{
		"│ stop              │        57 │           57 │",
		"│ attention dropout │        34 │           34 │",
		"│ self              │         9 │            9 │",
		"│ masked            │         – │            0 │",
		"│ all, added up     │       100 │          100 │",
	} {
		assert.Contains(t, text, row)
	}
	assert.Less(t, strings.Index(text, "│ stop "), strings.Index(text, "│ attention dropout "),
		"what explains most comes first")
}

func TestCalibrationShowsTheNearestReadingsBesideThePaper(t *testing.T) {
	readingsOfGAT(t)
	text := printed(t, func() { Calibration("gat") })
	assert.Contains(t, text, "8 of 12 readings are calibrated: without masking, within 3.0 points of the paper's GAT in "+
		"each setting")
	// Published: 40.74, 74.12, 84.77 and 86.86; rounded, they are off by 0.26, -0.12, 0.23 and 0.14: 0.20 in the root mean
	// square.
	assert.Contains(t, text, "│ stop                   │ loss      │ loss                     │ macro F1  │")
	assert.Contains(t, text, "│ calibrated             │ yes       │ yes                      │ yes       │")
	assert.Contains(t, text, "│ distance, inductive    │ 0.20      │ 0.20                     │ 0.20      │")
	assert.NotContains(t, text, "│ self", "masks alone have to do with it")
	assert.Contains(t, text, "The best calibrated reading without masking: macro F1 in percent")
	assert.Contains(t, text, "│ inductive    │ 10 %  │ 41.00 ± 1.41 │ 40.74 │")
}

func TestAReadingShowsWhereItStandsAndItsEffectBySize(t *testing.T) {
	readingsOfGAT(t)
	text := printed(t, func() { Reading("cora", "gat", datasets.Inductive, "stop", "macro F1", "self", "kept") })
	assert.Contains(t, text, "**GAT on Cora, inductive.** attention dropout: 0.6; self: kept; stop: macro F1; arrivals: "+
		"all edges.")
	assert.Contains(t, text, "Masking changes its macro F1 by +4.00 points, 95 % interval +4.00 to +4.00, above 0 (2 of "+
		"10 splits so far). "+
		"By effect it is number 46 of 48 readings, from the least. It is among the calibrated ones.")
	assert.Contains(t, text, "│ 10 %      │   41.00 │        45.00 │  +4.00 │ +4.00 to +4.00 │          "+
		"40.74 │        51.25 │ +10.51 │")
	assert.Contains(t, text, "│ all sizes │   71.75 │        75.75 │  +4.00 │ +4.00 to +4.00 │              "+
		"  │              │        │")
	assert.Equal(t, 1, strings.Count(text, " this reading: "), "the one that is marked")
	_, err := compose("cora", "gat", datasets.Inductive, "self", "hidden")
	assert.EqualError(t, err, `axis "self" has no option "hidden": expected one of ["masked" "kept"]`)
	_, err = compose("cora", "gcn", datasets.Inductive)
	assert.ErrorContains(t, err, "expected gin, gat or sgat")
}

func TestRunHereStandsBesideRecorded(t *testing.T) {
	recorded := readingsOfGAT(t)
	o, err := compose("cora", "gat", datasets.Inductive, "stop", "macro F1")
	require.NoError(t, err)
	var here []record.Record
	for arm, f1 := range map[multiverse.Arm]float64{multiverse.Plain: 40.5, multiverse.Masked: 44} {
		c, err := o.cell(arm, 10)
		require.NoError(t, err)
		here = append(here, record.Record{Cell: c.Key(), Seed: 100, MacroF1: f1, Backend: "go"})
	}
	table, err := o.liveTable(record.NewResults(here), recorded, 3, []int{10})
	require.NoError(t, err)
	require.NoError(t, table.Check())
	assert.Equal(t, [][]string{
		{"10 %", "100", "40.50", "40.00", "44.00", "43.00", "+3.50", "+3.00"},
		{"10 %", "101", "–", "42.00", "–", "45.00", "–", "+3.00"},
		{"10 %", "102", "–", "–", "–", "–", "–", "–"},
	}, textOf(table))
}

func TestAReadingIsTrainedOnTheProtocolsSplits(t *testing.T) {
	t.Setenv("NODEMASK_LIVE", t.TempDir())
	t.Setenv("GOMLX_BACKEND", "go")
	o, err := compose("sbm:nodes=90,classes=3", "gin", datasets.Transductive, "stop", "macro F1")
	require.NoError(t, err)
	text := printed(t, func() { o.Trials(2, 50) })
	assert.Contains(t, text, "4 of 4 trials run in ")
	assert.Contains(t, printed(t, func() { o.Trials(2, 50) }), "none was left to run")
	c, err := o.cell(multiverse.Masked, 50)
	require.NoError(t, err)
	all := Live().Trials(c)
	require.Len(t, all, 2)
	assert.EqualValues(t, []uint64{100, 101}, []uint64{all[0].Seed, all[1].Seed})
	assert.NotEqual(t, all[0].SplitHash, all[1].SplitHash, "each trial has a split of its own")
	assert.Contains(t, text, "│ 50 %  │ 100   │")
}

func TestTheTableOfAxesHasEveryOptionAndWhereItMatters(t *testing.T) {
	text := printed(t, func() { Readings("gat") })
	assert.Contains(t, text, "What the paper leaves open for GAT: 48 readings in the inductive setting, 32 in the "+
		"transductive one")
	assert.Contains(t, text, "│ masked            │ Nodes that can be masked (transductive, with masking): all | "+
		"train nodes")
	assert.Contains(t, text, "│ attention dropout │ Attention dropout without masking: 0.6 | none")
}

func TestCalibratedReadingsComeFirst(t *testing.T) {
	axes, err := multiverse.AxesOf("gin")
	require.NoError(t, err)
	c := &multiverse.Calibration{Limit: 3.5, Splits: make([]uint64, 10)}
	for i, f := range []multiverse.Fit{{Inductive: 1, Transductive: 1, Both: 1, CacheCost: -0.5},
		{Inductive: 2, Transductive: 2, Both: 2, CacheCost: 1, Calibrated: true}, {Inductive: 4, Transductive: 3,
			Both: 3.54}} {
		f.Reading = make(multiverse.Reading, len(axes))
		f.Reading[0] = i
		c.Fits = append(c.Fits, f)
	}
	table := fitsOf("gin", c)
	assert.Equal(t, "1 of 3 readings are calibrated: without masking, within 3.5 points of the paper's GIN in each "+
		"setting", table.Title)
	assert.Contains(t, table.Caption, "10 splits. 1 more are as near, but the cache does not cost them between 0 and 3 "+
		"points.")
	rows := textOf(table)
	assert.Equal(t, []string{"body", "two linear", "one linear", "two, norm inside"}, rows[0])
	assert.Equal(t, []string{"calibrated", "yes", "no", "no"}, rows[len(rows)-5])
	assert.Equal(t, []string{"cost of the cache", "+1.00", "−0.50", "0.00"}, rows[len(rows)-1])
}
