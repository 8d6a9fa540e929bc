package nb

import (
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/nb/worker"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/evidence"
	"nodemask/paper/multiverse"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

// OneReading is one reading of the paper, for a model on a data set in a setting. [Reading] composes it.
type OneReading struct {
	question multiverse.Question
	reading  multiverse.Reading
}

// Reading composes a reading of the paper and shows where it stands among all: its effect, its rank, and its effect at
// each size of the train set, as far as results/multiverse has them. choices are pairs, an axis's name and an option's,
// as [Readings] lists them; an axis that is left out has its first option. [OneReading.Trials] trains it.
func Reading(data, model string, setting datasets.Setting, choices ...string) OneReading {
	results := recordedReadings()
	o := Must1(compose(data, model, setting, choices...))
	e := effectsOf(results, data, model, setting)
	effect, rank, found := e.Find(o.reading)
	switch {
	case !found && len(e.Effects) > 0:
		Markdown(o.words() + "\n\n*It is not calibrated, and " + evidence.DataTitle(data) +
			" is run on calibrated readings alone.*")
		return o
	case !found:
		Markdown(o.words() + "\n\n" + incomplete(results, data, model, setting))
		return o
	}
	c := calibrationOf(results, model)
	Markdown(o.words() + "\n\n" + stands(e, effect, rank, c.Has(e.Axes, setting, o.reading)))
	curve := curveOf(e, c)
	curve.MarkName = "this reading"
	for i, other := range e.Effects {
		curve.Readings[i].Marked = slices.Equal(other.Reading, o.reading)
	}
	showSpecification(curve)
	Table(o.bySize(e, effect))
	return o
}

func compose(data, model string, setting datasets.Setting, choices ...string) (OneReading, error) {
	q, err := multiverse.Ask(data, model, setting)
	if err != nil {
		return OneReading{}, err
	}
	r, err := multiverse.Compose(q.Axes, setting, choices...)
	return OneReading{q, r}, err
}

// words names the reading.
func (o OneReading) words() string {
	return fmt.Sprintf("**%s on %s, %s.** %s.", hyper.Title(o.question.Model), evidence.DataTitle(o.question.Data),
		o.question.Setting, o.reading.Words(o.question.Axes, o.question.Setting))
}

// stands says where a reading stands among all.
func stands(e *multiverse.Effects, effect multiverse.Effect, rank int, calibrated bool) string {
	side := "which includes 0"
	switch effect.Sign() {
	case 1:
		side = "above 0"
	case -1:
		side = "below 0"
	}
	is := "is not"
	if calibrated {
		is = "is"
	}
	return fmt.Sprintf("Masking changes its macro F1 by %s points, 95 %% interval %s to %s, %s (%s). By effect it is "+
		"number %d of %d readings, from the least. It %s among the calibrated ones.",
		plots.Signed(effect.Pooled.MeanDifference, 2), plots.Signed(effect.Pooled.Low, 2),
		plots.Signed(effect.Pooled.High, 2), side, ofSplits(e.Splits), rank, len(e.Effects), is)
}

// bySize is the reading's effect at each size of the train set, beside the paper's.
func (o OneReading) bySize(e *multiverse.Effects, effect multiverse.Effect) plots.Table {
	t := plots.Table{ID: "reading-sizes", Title: "By size of the train set: macro F1 in percent, mean over " +
		ofSplits(e.Splits),
		Header: []string{"train", "without", "with masking", "effect", "95 % interval", "paper: without", "with masking",
			"effect"}}
	for i, size := range e.Sizes {
		mean, low, high, err := stats.ConfidenceInterval95(effect.Differences[i])
		Must(err)
		row := plots.Fields(fmt.Sprintf("%d %%", size), fmt.Sprintf("%.2f", effect.Plain[i]), fmt.Sprintf("%.2f", effect.Masked[i]),
			plots.Signed(mean, 2), plots.Signed(low, 2)+" to "+plots.Signed(high, 2))
		cell := paper.Cell(e.Data, e.Model, e.Setting, size)
		plain, has := evidence.PublishedF1(cell)
		masked, both := evidence.PublishedF1(paper.Masked(cell, paper.MaskedKeepRate))
		published := plots.Fields("–", "–", "–")
		if has && both {
			published = plots.Fields(fmt.Sprintf("%.2f", plain), fmt.Sprintf("%.2f", masked), plots.Signed(masked-plain, 2))
		}
		t.Rows = append(t.Rows, append(row, published...))
	}
	t.Footer = plots.Fields("all sizes", fmt.Sprintf("%.2f", stats.Summarize(effect.Plain).Mean),
		fmt.Sprintf("%.2f", stats.Summarize(effect.Masked).Mean), plots.Signed(effect.Pooled.MeanDifference, 2),
		plots.Signed(effect.Pooled.Low, 2)+" to "+plots.Signed(effect.Pooled.High, 2), "", "", "")
	return t
}

// Trials trains the reading with and without masking on the first so many of the recorded splits, at sizes of the train
// set in percent (none: 10), and shows the scores beside those recorded. Trials that an earlier cell ran are not run
// again.
func (o OneReading) Trials(splits int, sizes ...int) {
	if splits < 1 || splits > multiverse.Splits {
		Must(fmt.Errorf("%d splits: expected 1 to %d", splits, multiverse.Splits))
	}
	if len(sizes) == 0 {
		sizes = []int{10}
	}
	var cells []record.Cell
	labels := map[string]string{}
	for _, size := range sizes {
		for _, arm := range []multiverse.Arm{multiverse.Plain, multiverse.Masked} {
			c := Must1(o.cell(arm, size))
			label := hyper.Title(o.question.Model)
			if arm == multiverse.Masked {
				label += " + NM"
			}
			if len(sizes) > 1 {
				label += fmt.Sprintf(", %d %%", size)
			}
			labels[c.Key()] = label
			cells = append(cells, c)
		}
	}
	trainShown(titleOf(cells), func(c record.Cell) string { return labels[c.Key()] },
		worker.Training{Cells: cells, Trials: splits, FirstSeed: multiverse.FirstSplit})
	Table(Must1(o.liveTable(Live(), recordedReadings(), splits, sizes)))
}

func (o OneReading) cell(arm multiverse.Arm, size int) (record.Cell, error) {
	return o.reading.Cell(o.question.Axes, arm, o.question.Data, o.question.Model, o.question.Setting, size)
}

// liveTable sets what was run here beside what is recorded, split by split.
func (o OneReading) liveTable(live *record.Results, recorded *record.Results,
	splits int, sizes []int) (plots.Table, error) {
	t := plots.Table{ID: "reading-live", Title: "This reading, run here and recorded: macro F1 in percent",
		Under:  []int{3, 5, 7},
		Header: []string{"train", "split", "without", "recorded", "with masking", "recorded", "effect", "recorded"},
		Caption: "On one kind of processor and backend a split gives the same numbers again; elsewhere they may differ a " +
			"little."}
	arms := []multiverse.Arm{multiverse.Plain, multiverse.Masked}
	for _, size := range sizes {
		var here, there [2]map[uint64]float64
		for i, arm := range arms {
			c, err := o.cell(arm, size)
			if err != nil {
				return t, err
			}
			here[i] = map[uint64]float64{}
			for _, trial := range live.Trials(c) {
				here[i][trial.Seed] = trial.MacroF1
			}
			if there[i], err = o.question.F1(recorded, o.reading, arm, size); err != nil {
				return t, err
			}
		}
		for seed := uint64(multiverse.FirstSplit); seed < multiverse.FirstSplit+uint64(splits); seed++ {
			row := plots.Fields(fmt.Sprintf("%d %%", size), fmt.Sprint(seed))
			for i := range arms {
				row = append(row, plots.Fields(scoreOf(here[i], seed), scoreOf(there[i], seed))...)
			}
			t.Rows = append(t.Rows, append(row, plots.Fields(effectText(here, seed), effectText(there, seed))...))
		}
	}
	t.TextColumns = 2
	return t, nil
}

// scoreOf is a split's score as text, or a dash.
func scoreOf(scores map[uint64]float64, seed uint64) string {
	if f1, ok := scores[seed]; ok {
		return fmt.Sprintf("%.2f", f1)
	}
	return "–"
}

// effectText is masked minus plain on a split as text, or a dash.
func effectText(arms [2]map[uint64]float64, seed uint64) string {
	plain, ok := arms[0][seed]
	masked, both := arms[1][seed]
	if !ok || !both {
		return "–"
	}
	return plots.Signed(masked-plain, 2)
}
