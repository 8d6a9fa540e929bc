package evidence

import (
	"fmt"
	"strings"

	"nodemask/datasets"
	"nodemask/internal/cited"
	"nodemask/nmgnn/hyper"
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
