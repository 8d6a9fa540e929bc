package evidence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/internal/cited"
	"nodemask/internal/multiverse"
	"nodemask/record"
	"nodemask/stats"
)

// Verdict is a grade with the figures that it rests on.
type Verdict struct {
	Grade multiverse.Grade
	// Holds, Against and Of count comparisons: those that are as the claim says and those that are the other way, at p <
	// 0.05 or by the claim's own rule, of how many.
	Holds, Against, Of int
	// Effect is the mean over all comparisons with its interval, above 0 if it is as the claim says; nil: there is none.
	Effect     *stats.TTest
	Unit       string   // of Effect
	Published  *float64 // the paper's own mean over the same comparisons; nil: it has none
	Robust     string   // what the readings around the cited one say; "": they were not asked
	Detectable float64  // of Inconclusive: the true difference that would have been found with a power of 80 %
	Figures    string   // all there is to say, in a line
	command    string   // computes what it rests on; "": the command of the claim's table
	files      []string // of results, with the trials that it rests on; nil: those with the cells of the claim's table
}

// points is the unit of differences in F1.
const points = "points"

// Strict returns the paper's own rule in numbers, "4 of 14"; "" if nothing was compared.
func (v Verdict) Strict() string {
	if v.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", v.Holds, v.Of)
}

// EffectText returns the effect with its interval and the published one, "+0.16 [−0.20, 0.52] points (paper: +1.20)";
// "" if there is none.
func (v Verdict) EffectText() string {
	if v.Effect == nil {
		return ""
	}
	digits := digitsOf(v.Unit)
	text := fmt.Sprintf("%s [%s, %s] %s", signed(v.Effect.MeanDifference, digits), unsigned(v.Effect.Low, digits),
		unsigned(v.Effect.High, digits), v.Unit)
	if v.Published != nil {
		text += fmt.Sprintf(" (paper: %s)", signed(*v.Published, 2))
	}
	return text
}

func unsigned(x float64, digits int) string { return strings.TrimPrefix(signed(x, digits), "+") }

// crossEntropy is the unit of losses, which differ by thousandths.
const crossEntropy = "cross-entropy"

// digitsOf is how many digits after the point are told of a number in a unit.
func digitsOf(unit string) int {
	if unit == crossEntropy {
		return 4
	}
	return 2
}

// GradeText returns the grade, and of an inconclusive one what would have been found.
func (v Verdict) GradeText() string {
	switch {
	case v.Grade == multiverse.Inconclusive && v.Detectable > 0:
		return fmt.Sprintf("%s (%.*f %s would have been found)", v.Grade, digitsOf(v.Unit), v.Detectable, v.Unit)
	}
	return string(v.Grade)
}

// notRun is the verdict where something is missing.
func notRun(format string, a ...any) Verdict {
	return Verdict{Grade: multiverse.NotRun, Figures: fmt.Sprintf(format, a...)}
}

// comparison is one place at which a claim is tested.
type comparison struct {
	name string
	// differences, one for each pair of trials, are above 0 if they are as the claim says.
	differences func(*record.Results) []record.Difference
	published   *float64 // the paper's own difference; nil: it has none
}

// between compares a metric of a with one of b: the claim is that a's is above.
func between(name string, a record.Cell, ma record.Metric, b record.Cell, mb record.Metric,
	published *float64) comparison {
	return comparison{name, func(r *record.Results) []record.Difference { return r.Differences(a, ma, b, mb) }, published}
}

// tested is what a claim's comparisons give.
type tested struct {
	Verdict
	trials int
	parts  []string
}

// test compares each pair of trials, one place at a time and all together: each seed counts once, by its mean over the
// comparisons. The grade is left open. ok is false if something is missing; the verdict says what.
func test(r *record.Results, unit string, comparisons []comparison) (t tested, ok bool) {
	t.Unit, t.Of, t.trials = unit, len(comparisons), math.MaxInt
	run, published := 0, 0.0
	all := make([]map[uint64]float64, len(comparisons))
	for i, c := range comparisons {
		differences := c.differences(r)
		if len(differences) < 2 {
			continue // one trial says nothing about significance
		}
		run++
		t.trials = min(t.trials, len(differences))
		values := make([]float64, len(differences))
		all[i] = map[uint64]float64{}
		for k, d := range differences {
			values[k], all[i][d.Seed] = d.Value, d.Value
		}
		single, err := stats.PairedTTest(values, make([]float64, len(values)))
		if err != nil {
			t.Verdict = notRun("%s: %v", c.name, err)
			return t, false
		}
		mark := ""
		switch {
		case single.P < 0.05 && single.MeanDifference > 0:
			t.Holds++
			mark = " ✓"
		case single.P < 0.05 && single.MeanDifference < 0:
			t.Against++
			mark = " ✗"
		}
		t.parts = append(t.parts, fmt.Sprintf("%s %s (p %s)%s", c.name, signed(single.MeanDifference, digitsOf(unit)),
			stats.ProbabilityText(single.P), mark))
		if c.published != nil && !math.IsNaN(published) {
			published += *c.published / float64(len(comparisons))
		} else {
			published = math.NaN()
		}
	}
	if run < len(comparisons) {
		t.Verdict = notRun("%d of %d comparisons have at least two trials", run, len(comparisons))
		return t, false
	}
	var differences [][]float64
	for i := range comparisons {
		differences = append(differences, nil)
		for _, d := range comparisons[0].differences(r) { // in the order of seeds
			everywhere := true
			for _, other := range all {
				_, is := other[d.Seed]
				everywhere = everywhere && is
			}
			if everywhere {
				differences[i] = append(differences[i], all[i][d.Seed])
			}
		}
	}
	pooled, err := stats.Pooled(differences)
	if err != nil {
		t.Verdict = notRun("fewer than two seeds are in all %d comparisons", len(comparisons))
		return t, false
	}
	t.Effect = &pooled
	if !math.IsNaN(published) {
		t.Published = &published
	}
	return t, true
}

// judge grades a claim in one reading, by what [grade] says.
func judge(r *record.Results, unit string, comparisons []comparison) Verdict {
	t, ok := test(r, unit, comparisons)
	if !ok {
		return t.Verdict
	}
	t.Grade = grade(*t.Effect, t.Holds, t.Against, t.Of, t.Published)
	return t.described()
}

// grade is the rule for a claim that something is above something else, in one reading: of n comparisons k are
// significantly above 0 and m below, p < 0.05, and the pooled effect is their mean with its 95 % interval over seeds.
//
//   - reproduced: the pooled effect is significantly above 0, 2k ≥ n and m = 0.
//   - same direction: it is significantly above 0, otherwise.
//   - contradicted: it is significantly below 0, or its interval ends below half of the published pooled effect and
//     does not leave 0 out.
//   - inconclusive: otherwise.
func grade(pooled stats.TTest, k, m, n int, published *float64) multiverse.Grade {
	significant := pooled.P < 0.05
	switch {
	case significant && pooled.MeanDifference > 0 && 2*k >= n && m == 0:
		return multiverse.Reproduced
	case significant && pooled.MeanDifference > 0:
		return multiverse.SameDirection
	case significant, published != nil && *published > 0 && pooled.High < *published/2:
		return multiverse.Contradicted
	}
	return multiverse.Inconclusive
}

// described fills in what stands beside the grade.
func (t tested) described() Verdict {
	if t.Grade == multiverse.Inconclusive {
		if least, err := stats.Detectable(t.Effect.StdDev, t.Effect.N); err == nil {
			t.Detectable = least
		}
	}
	against := ""
	if t.Against > 0 {
		against = fmt.Sprintf(", %d the other way", t.Against)
	}
	t.Figures = fmt.Sprintf("%s, p %s; significant in %s%s, %d or more trials each", t.EffectText(),
		stats.ProbabilityText(t.Effect.P), t.Strict(), against, t.trials)
	if t.Detectable > 0 {
		t.Figures += fmt.Sprintf("; a true difference of %.*f %s would have been found with a power of 80 %%",
			digitsOf(t.Unit), t.Detectable, t.Unit)
	}
	t.Figures += ": " + strings.Join(t.parts, "; ")
	return t.Verdict
}

// judgeCited grades a claim in the cited reading, or another of the choices that its protocol gives side by side, by
// the rule of PROTOCOL-2.md. As long as splits are missing it has not been run. published is the paper's mean over the
// protocol's sizes; nil: it has none.
func (e *Evidence) judgeCited(data, model string, setting datasets.Setting, choice cited.Choice,
	contrast multiverse.Contrast, published *float64) Verdict {
	a, err := cited.Ask(e.cited, data, model, setting, choice, contrast)
	if err != nil {
		return notRun("%v", err)
	}
	v := Verdict{Grade: multiverse.NotRun, Unit: points, Published: published,
		command: fmt.Sprintf("nodemask multiverse --part cited --data %s --model %s", data, model)}
	if a.Effect == nil || a.Splits < cited.Splits {
		v.Figures = fmt.Sprintf("%d of %d splits", a.Splits, cited.Splits)
		return v
	}
	zero := -contrast.Margin
	v.Effect, v.files = &a.Effect.Pooled, []string{trialsFile(CitedFolder, data, model)}
	v.command += " --summary"
	above, err := v.tally(a.Effect.Differences, zero)
	if err != nil {
		return notRun("%v", err)
	}
	v.Grade = gradeCited(a.Effect.Pooled, zero, above, v.Of)
	v.Figures = fmt.Sprintf("%s, p %s over %d splits, significant in %s sizes: %s", v.EffectText(),
		stats.ProbabilityText(a.Effect.Pooled.P), a.Splits, v.Strict(), choice)
	if v.Grade == multiverse.Inconclusive {
		if least, err := stats.Detectable(a.Effect.Pooled.StdDev, a.Effect.Pooled.N); err == nil {
			v.Detectable = least
			v.Figures += fmt.Sprintf("; a true difference of %.2f points would have been found with a power of 80 %%", least)
		}
	}
	if choice != (cited.Choice{}) {
		return v
	}
	robust, err := cited.Robust(e.cited, data, model, setting, contrast)
	if err != nil {
		return notRun("%v", err)
	}
	if robust.Readings > 1 {
		v.Robust = fmt.Sprintf("%d above, %d below of %d", robust.Above, robust.Below, robust.Readings)
	}
	return v
}

// tally counts the places at which differences are significantly above and below zero, and returns at how many they are
// above at all.
func (v *Verdict) tally(places [][]float64, zero float64) (above int, err error) {
	for _, differences := range places {
		v.Of++
		single, err := stats.PairedTTest(differences, slices.Repeat([]float64{zero}, len(differences)))
		if err != nil {
			return 0, err
		}
		if single.MeanDifference > 0 {
			above++
		}
		switch {
		case single.P >= 0.05:
		case single.MeanDifference > 0:
			v.Holds++
		default:
			v.Against++
		}
	}
	return above, nil
}

// gradeCited is PROTOCOL-2.md's rule for a claim that something is above zero: of n places so many are.
func gradeCited(pooled stats.TTest, zero float64, above, n int) multiverse.Grade {
	switch {
	case pooled.Low > zero:
		return multiverse.Reproduced
	case pooled.High < zero:
		return multiverse.Contradicted
	case 10*above >= 9*n:
		return multiverse.SameDirection
	}
	return multiverse.Inconclusive
}
