package nb

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/internal/checkout"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/evidence"
	"nodemask/paper/multiverse"
	"nodemask/paper/record"
	"nodemask/paper/recordstore"
	"nodemask/plots"
	"nodemask/stats"
)

// Readings shows what the paper leaves open for a model (gin, gat or sgat), as axes with their options, and the paper's
// sentence on each. The names of axes and options are those that [Reading] takes.
func Readings(model string) {
	axes := Must1(multiverse.AxesOf(model))
	t := plots.Table{ID: model + "-readings", Header: []string{"axis", "options", "the paper says"}, TextColumns: 3,
		Title: fmt.Sprintf("What the paper leaves open for %s: %d readings in the inductive setting, %d in the "+
			"transductive one", hyper.Title(model),
			len(multiverse.Readings(axes, datasets.Inductive)), len(multiverse.Readings(axes, datasets.Transductive)))}
	for _, axis := range axes {
		options := make([]string, len(axis.Options))
		for i, o := range axis.Options {
			options[i] = o.Name
		}
		t.Rows = append(t.Rows, plots.Fields(axis.Name, axis.Title+whereOf(axis)+": "+strings.Join(options, " | "), axis.Paper))
	}
	Table(t)
}

// whereOf says where an axis matters, if not everywhere. Titles of those that matter without masking say so.
func whereOf(axis multiverse.Axis) string {
	var where []string
	if axis.Setting != "" {
		where = append(where, string(axis.Setting))
	}
	if axis.Masked {
		where = append(where, "with masking")
	}
	if len(where) == 0 {
		return ""
	}
	return " (" + strings.Join(where, ", ") + ")"
}

// EveryReading shows what node masking does to a model on a data set in a setting, in every reading of the paper: the
// curve of all effects to look into, and what they say together. It reads what is recorded in results/multiverse, and
// says so where that is not complete. Calibrated readings are marked.
func EveryReading(data, model string, setting datasets.Setting) {
	results := recordedReadings()
	e := effectsOf(results, data, model, setting)
	if len(e.Effects) == 0 {
		Markdown(incomplete(results, data, model, setting))
		return
	}
	c := calibrationOf(results, model)
	showSpecification(curveOf(e, c))
	Table(togetherOf(e, c))
}

// recordedReadings returns the training runs of readings that came with the project: what 'nodemask multiverse' writes.
// Tests have others.
var recordedReadings = func() *record.Results {
	return readingsIn(filepath.Join(Must1(checkout.Root()), "results", evidence.MultiverseFolder))
}

func readingsIn(folder string) *record.Results {
	return recordstore.Open(folder).Results(nil, Must)
}

func effectsOf(r *record.Results, data, model string, setting datasets.Setting) *multiverse.Effects {
	return Must1(Must1(evidence.Ask(r, data, model, setting)).Effects(r))
}

// calibrationOf is on Cora, whatever the data set: the protocol calibrates there.
func calibrationOf(r *record.Results, model string) *multiverse.Calibration {
	return Must1(evidence.Calibrate(r, model))
}

// incomplete says what is missing before readings can be compared; without a setting, in both.
func incomplete(r *record.Results, data, model string, setting datasets.Setting) string {
	settings, where := datasets.Settings(), ""
	if setting != "" {
		settings, where = []datasets.Setting{setting}, ", "+string(setting)
	}
	var questions []multiverse.Question
	for _, one := range settings {
		questions = append(questions, Must1(evidence.Ask(r, data, model, one)))
	}
	cells := Must1(multiverse.Cells(questions))
	done, _, err := r.Count(cells, multiverse.Seeds(multiverse.FirstSplit, multiverse.Splits))
	Must(err)
	return fmt.Sprintf("*%s on %s%s: not all readings have two splits yet. %d of %d training runs are recorded; "+
		"`nodemask multiverse --data %s --model %s` runs the others.*",
		hyper.Title(model), evidence.DataTitle(data), where, done, len(cells)*multiverse.Splits, data, model)
}

// ofSplits says how many splits there are, and whether that is all.
func ofSplits(splits []uint64) string {
	if len(splits) < multiverse.Splits {
		return fmt.Sprintf("%d of %d splits so far", len(splits), multiverse.Splits)
	}
	return fmt.Sprintf("%d splits", len(splits))
}

// curveWidth of a specification curve fits the column of a page and of JupyterLab.
const curveWidth = 820

// curveOf is the curve of effects, with axes by the names that [Reading] takes.
func curveOf(e *multiverse.Effects, c *multiverse.Calibration) plots.Specification {
	s := (&evidence.Readings{All: e, Calibration: c}).Specification()
	s.Width = curveWidth
	k := 0
	for _, axis := range e.Axes {
		if axis.Matters(e.Setting) {
			s.Axes[k].Name = axis.Name
			k++
		}
	}
	return s
}

// togetherOf tables the effect over all readings, and over the calibrated ones.
func togetherOf(e *multiverse.Effects, c *multiverse.Calibration) plots.Table {
	t := plots.Table{ID: fmt.Sprintf("together-%s-%s-%s", e.Data, e.Model, e.Setting),
		Title: fmt.Sprintf("All readings together: %s on %s, %s, %s", hyper.Title(e.Model), evidence.DataTitle(e.Data),
			e.Setting, ofSplits(e.Splits)),
		Header: []string{"readings", "how many", "median effect", "p", "above 0", "p", "below 0", "p"}, Under: []int{3, 5, 7},
		Caption: "Effects in points. Above and below 0 are those that are so significantly (p < 0.05). The small p is of a " +
			"joint test, which turns the signs of whole splits: the probability of as much if masking did nothing in any " +
			"reading."}
	for _, which := range []struct {
		name    string
		effects *multiverse.Effects
	}{{"all", e}, {"calibrated", e.Calibrated(c)}} {
		row := []string{which.name, fmt.Sprint(len(which.effects.Effects)), "–", "–", "–", "–", "–", "–"}
		if len(which.effects.Effects) > 0 {
			joint := Must1(which.effects.Joint())
			p := func(x float64) string { return fmt.Sprintf("%.3f", x) }
			row = append(row[:2], plots.Signed(joint.Median, 2), p(joint.MedianP), percent(joint.Positive)+" %", p(joint.PositiveP),
				percent(joint.Negative)+" %", p(joint.NegativeP))
		}
		t.Rows = append(t.Rows, plots.Fields(row...))
	}
	return t
}

// showSpecification shows a specification curve to look into, or in plain text its readings.
func showSpecification(s plots.Specification) {
	showHTML(Must1(s.HTML()), Must1(s.Table().Render(plots.FormatText)))
}

// WhatMatters shows how much of the variance of effects over readings each axis explains, in both settings. All
// combinations of options are there equally often, so that an axis explains as much beyond the others as by itself, and
// shares add up.
func WhatMatters(data, model string) {
	results := recordedReadings()
	t := plots.Table{ID: fmt.Sprintf("matters-%s-%s", data, model),
		Title: fmt.Sprintf("What explains how effects differ between readings: %s on %s, percent of the variance",
			hyper.Title(model), evidence.DataTitle(data)),
		Header:  []string{"axis", "inductive", "transductive"},
		Caption: "Dash: it does not matter there. What is left of 100 is axes working together, and noise."}
	shares := map[datasets.Setting]map[string]float64{}
	additive := map[datasets.Setting]string{}
	for _, setting := range datasets.Settings() {
		e := effectsOf(results, data, model, setting)
		if len(e.Effects) == 0 {
			Markdown(incomplete(results, data, model, setting))
			additive[setting] = "–"
			continue
		}
		names, explained, err := e.Explained()
		Must(err)
		shares[setting] = map[string]float64{}
		total := 0.0
		for i, share := range explained {
			shares[setting][names[i]] = share
			total += share
		}
		additive[setting] = percent(total)
	}
	if len(shares) == 0 {
		return
	}
	settings := []datasets.Setting{datasets.Inductive, datasets.Transductive}
	axes := Must1(multiverse.AxesOf(model))
	most := func(name string) float64 {
		return max(shares[datasets.Inductive][name], shares[datasets.Transductive][name])
	}
	slices.SortStableFunc(axes, func(a, b multiverse.Axis) int { return cmp.Compare(most(b.Name), most(a.Name)) })
	for _, axis := range axes {
		row := []string{axis.Name, "–", "–"}
		for i, setting := range settings {
			if share, ok := shares[setting][axis.Name]; ok {
				row[i+1] = percent(share)
			}
		}
		t.Rows = append(t.Rows, plots.Fields(row...))
	}
	t.Footer = plots.Fields("all, added up", additive[datasets.Inductive], additive[datasets.Transductive])
	Table(t)
}

func percent(share float64) string { return fmt.Sprintf("%.0f", 100*share) }

// Calibration shows which readings of a model come near the paper's numbers without masking, on Cora: the five best,
// calibrated ones before others, and the scores of the first one beside the published ones. No result with masking
// plays any part.
func Calibration(model string) {
	results := recordedReadings()
	c := calibrationOf(results, model)
	if len(c.Fits) == 0 {
		Markdown(incomplete(results, "cora", model, ""))
		return
	}
	Table(fitsOf(model, c))
	Table(plainOf(results, model, c))
}

// mostFits is the number of fits that are shown.
const mostFits = 5

func fitsOf(model string, c *multiverse.Calibration) plots.Table {
	var passed, others []multiverse.Fit // nearest first
	costly := 0
	for _, f := range c.Fits {
		switch {
		case f.Calibrated:
			passed = append(passed, f)
			continue
		case f.Inductive <= c.Limit && f.Transductive <= c.Limit:
			costly++
		}
		others = append(others, f)
	}
	best := slices.Concat(passed, others)
	best = best[:min(mostFits, len(best))]
	t := plots.Table{ID: model + "-fits", Header: []string{"reading"},
		Title: fmt.Sprintf("%d of %d readings are calibrated: without masking, within %.1f points of the paper's %s in "+
			"each setting", len(passed), len(c.Fits), c.Limit, hyper.Title(model)),
		Caption: fmt.Sprintf("The best %d, a column each. Distances are root mean squares over sizes of the train set, in "+
			"points of macro F1; %s.", len(best), ofSplits(c.Splits))}
	if costly > 0 {
		t.Caption += fmt.Sprintf(" %d more are as near, but the cache does not cost them between 0 and %.0f points.", costly,
			multiverse.MostCacheCost)
	}
	axes := Must1(multiverse.AxesOf(model))
	add := func(name string, of func(multiverse.Fit) string) {
		row := []string{name}
		for _, f := range best {
			row = append(row, of(f))
		}
		t.Rows = append(t.Rows, plots.Fields(row...))
	}
	for i, axis := range axes {
		if axis.Matters(datasets.Inductive) && !axis.Masked {
			add(axis.Name, func(f multiverse.Fit) string { return axis.Options[f.Reading[i]].Name })
		}
	}
	t.Groups = []int{len(t.Rows)}
	distance := func(x float64) string { return fmt.Sprintf("%.2f", x) }
	add("calibrated", func(f multiverse.Fit) string {
		if f.Calibrated {
			return "yes"
		}
		return "no"
	})
	add("distance, inductive", func(f multiverse.Fit) string { return distance(f.Inductive) })
	add("distance, transductive", func(f multiverse.Fit) string { return distance(f.Transductive) })
	add("distance, both", func(f multiverse.Fit) string { return distance(f.Both) })
	add("cost of the cache", func(f multiverse.Fit) string { return plots.Signed(f.CacheCost, 2) })
	for i := range t.Rows[0][1:] {
		t.Header = append(t.Header, fmt.Sprintf("no. %d", i+1))
	}
	t.TextColumns = len(t.Header)
	return t
}

// plainOf sets the nearest reading's scores without masking beside the published ones.
func plainOf(r *record.Results, model string, c *multiverse.Calibration) plots.Table {
	fit, calibrated := c.Best()
	which := "The best calibrated reading"
	if !calibrated {
		fit, which = c.Fits[0], "The nearest reading, which is not calibrated,"
	}
	t := plots.Table{ID: model + "-plain", Title: which + " without masking: macro F1 in percent",
		Header: []string{"setting", "train", "here", "paper"}, TextColumns: 2}
	for _, setting := range datasets.Settings() {
		q := Must1(multiverse.Ask("cora", model, setting))
		for _, size := range q.Sizes {
			scores := Must1(q.F1(r, fit.Reading, multiverse.Plain, size))
			var f1 []float64
			for _, seed := range c.Splits {
				f1 = append(f1, scores[seed])
			}
			t.Rows = append(t.Rows, plots.Fields(string(setting), fmt.Sprintf("%d %%", size), stats.Summarize(f1).Text(2),
				publishedText(paper.Cell("cora", model, setting, size))))
		}
	}
	return t
}
