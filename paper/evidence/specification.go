package evidence

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/cited"
	"nodemask/paper/multiverse"
	"nodemask/plots"
)

// Specification returns the effects of all readings as a curve, with the calibrated ones marked and each told in words.
func (r *Readings) Specification() plots.Specification {
	q := r.All.Question
	which := "every reading"
	if q.Among != nil {
		which = "every calibrated reading"
	}
	s := plots.Specification{ID: fmt.Sprintf("readings-%s-%s-%s", q.Model, q.Data, q.Setting),
		YLabel: "effect of node masking (points of macro F1)", MarkName: "calibrated",
		Title: fmt.Sprintf("Node masking in %s of the paper: %s on %s, %s", which, hyper.Title(q.Model), DataTitle(q.Data),
			q.Setting),
		Caption: fmt.Sprintf("Each reading's effect, pooled over %s %% of the nodes to train on, with a 95 %% interval "+
			"over %d splits. Calibrated: without masking, within %.1f points of the published scores.",
			numbers(q.Sizes), len(r.All.Splits), r.Calibration.Limit)}
	var matter []int
	for i, axis := range q.Axes {
		if !axis.Matters(q.Setting) {
			continue
		}
		matter = append(matter, i)
		named := plots.SpecificationAxis{Name: axis.Title}
		for _, option := range axis.Options {
			named.Options = append(named.Options, option.Name)
		}
		s.Axes = append(s.Axes, named)
	}
	for _, e := range r.All.Effects {
		reading := plots.SpecificationReading{Effect: e.Pooled.MeanDifference, Low: e.Pooled.Low, High: e.Pooled.High,
			Marked: r.Calibration.Has(q.Axes, q.Setting, e.Reading)}
		for _, i := range matter {
			reading.Choices = append(reading.Choices, e.Reading[i])
		}
		var parts []string
		for i, size := range q.Sizes {
			parts = append(parts, fmt.Sprintf("%d %%: %.1f without, %.1f with", size, e.Plain[i], e.Masked[i]))
		}
		reading.Text = "F1 at " + strings.Join(parts, "; ")
		s.Readings = append(s.Readings, reading)
	}
	return s
}

// numbers lists them: "10, 25, 50 and 90".
func numbers(all []int) string {
	var parts []string
	for _, n := range all {
		parts = append(parts, fmt.Sprint(n))
	}
	return and(parts)
}

// Specifications returns the curves of all that has been run in every reading: GIN first, then by data set and setting.
func (e *Evidence) Specifications() []plots.Specification {
	var all []plots.Specification
	for _, model := range cited.Models() {
		for _, data := range cited.Data() {
			for _, s := range datasets.Settings() {
				if readings, ok := e.Readings(data, model, s); ok {
					all = append(all, readings.Specification())
				}
			}
		}
	}
	return all
}

// PartForest returns what masking does in each reading of a part of the second protocol on Cora, with its intervals:
// the departures from the cited reading, or scale.
func (e *Evidence) PartForest(part cited.Part) (plots.Forest, error) {
	title := map[cited.Part]string{cited.Departures: "One step away from the cited reading",
		cited.Scale: "Normalisation and rescaling"}[part]
	f := plots.Forest{ID: string(part), Title: title + ": what node masking changes on Cora", Width: 1000,
		XLabel: "gain, mean over the four sizes (points of macro F1)",
		Caption: "The first reading of each is the cited one; the others say what differs. Points with 95 % intervals over " +
			"splits; at each share of nodes to train on, macro F1 without masking, and what masking adds."}
	for _, size := range multiverse.Sizes() {
		f.Columns = append(f.Columns, fmt.Sprintf("%d %%", size))
	}
	for _, model := range cited.Models() {
		for _, setting := range datasets.Settings() {
			answers, err := e.each(part, leadingData, model, setting)
			if err != nil {
				return f, err
			}
			group := plots.ForestGroup{Name: hyper.Title(model) + ", " + nodesOf(setting)}
			for _, a := range answers {
				row := plots.Effect{Label: cited.Departure(a.Axes, a.Reading), TextOnly: true,
					Fields: slices.Repeat([]string{"–"}, len(f.Columns))}
				gains, err := a.BySize()
				if err != nil {
					return f, err
				}
				if a.Effect != nil {
					pooled := a.Effect.Pooled
					row.TextOnly, row.Value, row.Low, row.High = false, pooled.MeanDifference, pooled.Low, pooled.High
				}
				for i := range gains {
					row.Fields[i] = fmt.Sprintf("%.1f, %s", gains[i].Plain, plots.Signed(gains[i].Mean, 1))
				}
				group.Rows = append(group.Rows, row)
			}
			f.Groups = append(f.Groups, group)
		}
	}
	return f, nil
}
