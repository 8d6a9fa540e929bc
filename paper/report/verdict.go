package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

// Verdict is a grade with its evidence.
type Verdict struct {
	Grade judge.Grade
	// Of is the number of comparisons. Holds counts the comparisons that significantly agree with the claim, Against
	// those that significantly disagree. Significant means p < 0.05, or what the claim's own rule says.
	Holds, Against, Of int
	// Effect tests the mean effect over the comparisons; nil if there is no test. A mean above 0 supports the claim.
	Effect     *stats.TTest
	Unit       string
	Published  *float64 // the paper's mean effect over these comparisons, or nil
	Robust     string   // result in other interpretations of the paper; "" if there are none
	Detectable float64  // for CannotTell: the true difference that trials would find with a power of 80 %
	Figures    string   // the numbers behind the grade, on one line
	command    string   // command that shows the evidence; "" means the command of the claim's table
	files      []string // files of trials; nil means the files of the claim's table
}

const points = "points"

// Strict returns how many comparisons significantly agree with the claim, such as "4 of 14"; "" without comparisons.
func (v Verdict) Strict() string {
	if v.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", v.Holds, v.Of)
}

// EffectText returns the effect, such as "+0.16 [−0.20, 0.52] points (paper: +1.20)", or "" if there is none.
func (v Verdict) EffectText() string {
	if v.Effect == nil {
		return ""
	}
	text := intervalText(*v.Effect, digitsOf(v.Unit)) + " " + v.Unit
	if v.Published != nil {
		text += fmt.Sprintf(" (paper: %s)", plots.Signed(*v.Published, 2))
	}
	return text
}

func intervalText(t stats.TTest, digits int) string {
	return rangeText(t.MeanDifference, t.Low, t.High, digits)
}

func rangeText(x, low, high float64, digits int) string {
	unsigned := func(x float64) string { return strings.TrimPrefix(plots.Signed(x, digits), "+") }
	return fmt.Sprintf("%s [%s, %s]", plots.Signed(x, digits), unsigned(low), unsigned(high))
}

const crossEntropy = "cross-entropy"

func digitsOf(unit string) int {
	if unit == crossEntropy {
		return 4
	}
	return 2
}

// GradeText returns the grade and, if that is [judge.CannotTell], the detectable difference.
func (v Verdict) GradeText() string {
	if v.Grade == judge.CannotTell && v.Detectable > 0 {
		return fmt.Sprintf("%s (%.*f %s would have been found)", v.Grade, digitsOf(v.Unit), v.Detectable, v.Unit)
	}
	return string(v.Grade)
}

func notRun(format string, a ...any) Verdict {
	return Verdict{Grade: judge.NotRun, Figures: fmt.Sprintf(format, a...)}
}

type difference struct {
	seed  uint64
	value float64
}

func differences(r *record.Results, a record.Cell, ma record.Metric, b record.Cell,
	mb record.Metric) (all []difference) {
	for one, other := range r.Pairs(a, b) {
		x, ok := ma.Of(one)
		y, both := mb.Of(other)
		if ok && both {
			all = append(all, difference{one.Seed, x - y})
		}
	}
	return all
}

type comparison struct {
	name string
	// differences returns one difference per seed, above 0 if it agrees with the claim.
	differences func(*record.Results) []difference
	published   *float64 // the paper's effect, or nil
}

func between(name string, a record.Cell, ma record.Metric, b record.Cell, mb record.Metric,
	published *float64) comparison {
	return comparison{name, func(r *record.Results) []difference { return differences(r, a, ma, b, mb) }, published}
}

func overPairs(unit string, all []comparison) func(*Evidence) Verdict {
	return func(e *Evidence) Verdict { return judgePairs(e.Records, unit, all) }
}

// judgePairs grades a claim by [grade]. The pooled effect averages [comparison].differences over comparisons, then
// over seeds.
func judgePairs(r *record.Results, unit string, comparisons []comparison) Verdict {
	v, run, trials, published := Verdict{Unit: unit}, 0, math.MaxInt, 0.0
	places, bySeed := make([][]float64, len(comparisons)), make([]map[uint64]float64, len(comparisons))
	var seeds []uint64
	for i, c := range comparisons {
		bySeed[i] = map[uint64]float64{}
		for _, d := range c.differences(r) {
			places[i], bySeed[i][d.seed] = append(places[i], d.value), d.value
			if i == 0 {
				seeds = append(seeds, d.seed)
			}
		}
		if len(places[i]) >= 2 {
			run, trials = run+1, min(trials, len(places[i]))
		}
		if c.published == nil {
			published = math.NaN()
		} else {
			published += *c.published / float64(len(comparisons))
		}
	}
	if run < len(comparisons) {
		return notRun("%d of %d comparisons have at least two trials", run, len(comparisons))
	}
	singles, err := v.tally(places, 0)
	if err != nil {
		return notRun("%v", err)
	}
	common := make([][]float64, len(comparisons))
	for _, seed := range seeds {
		if slices.ContainsFunc(bySeed, func(of map[uint64]float64) bool { _, ok := of[seed]; return !ok }) {
			continue
		}
		for i, of := range bySeed {
			common[i] = append(common[i], of[seed])
		}
	}
	pooled, err := stats.Pooled(common)
	if err != nil {
		return notRun("fewer than two seeds are in all %d comparisons", len(comparisons))
	}
	v.Effect = &pooled
	if !math.IsNaN(published) {
		v.Published = &published
	}
	v.Grade = grade(pooled, v.Holds, v.Against, v.Of, v.Published)
	if v.Grade == judge.CannotTell && unit == points && judge.VerdictOf(pooled, pooled.P) == judge.Under {
		v.Grade = judge.UnderAPoint
	}
	against := ""
	if v.Against > 0 {
		against = fmt.Sprintf(", %d the other way", v.Against)
	}
	var parts []string
	for i, single := range singles {
		parts = append(parts, fmt.Sprintf("%s %s (p %s)%s", comparisons[i].name, plots.Signed(single.MeanDifference, digitsOf(unit)),
			stats.ProbabilityText(single.P), []string{" ✗", "", " ✓"}[1+side(single)]))
	}
	v.Figures = fmt.Sprintf("%s, p %s; significant in %s%s, %d or more trials each%s: %s", v.EffectText(),
		stats.ProbabilityText(pooled.P), v.Strict(), against, trials, v.detect(), strings.Join(parts, "; "))
	return v
}

func side(t stats.TTest) int {
	switch {
	case t.P >= significant:
		return 0
	case t.MeanDifference > 0:
		return 1
	case t.MeanDifference < 0:
		return -1
	}
	return 0
}

const significant = 0.05

func (v *Verdict) tally(places [][]float64, zero float64) (singles []stats.TTest, err error) {
	for _, differences := range places {
		single, err := stats.PairedTTest(differences, slices.Repeat([]float64{zero}, len(differences)))
		if err != nil {
			return nil, err
		}
		v.Of++
		switch side(single) {
		case 1:
			v.Holds++
		case -1:
			v.Against++
		}
		singles = append(singles, single)
	}
	return singles, nil
}

func (v *Verdict) detect() string {
	if v.Grade != judge.CannotTell {
		return ""
	}
	least, err := stats.Detectable(v.Effect.StdDev, v.Effect.N)
	if err != nil {
		return ""
	}
	v.Detectable = least
	if least == 0 {
		return ""
	}
	return fmt.Sprintf("; a true difference of %.*f %s would have been found with a power of 80 %%", digitsOf(v.Unit), least,
		v.Unit)
}

// grade grades a claim from n comparisons: k are significantly above 0 and m significantly below (p < 0.05). pooled is
// the comparisons' mean with a 95 % interval over seeds. The grade is the first whose condition holds:
//
//   - reproduced: pooled is significantly above 0, 2k ≥ n and m = 0.
//   - same direction: pooled is significantly above 0.
//   - contradicted: pooled is significantly below 0, or its interval ends below half of the published effect.
//   - can't tell: none of these. [judgePairs] changes this to "under a point" if the 90 % interval is within ±1 points.
func grade(pooled stats.TTest, k, m, n int, published *float64) judge.Grade {
	sure := pooled.P < significant
	switch {
	case sure && pooled.MeanDifference > 0 && 2*k >= n && m == 0:
		return judge.Reproduced
	case sure && pooled.MeanDifference > 0:
		return judge.SameDirection
	case sure, published != nil && *published > 0 && pooled.High < *published/2:
		return judge.Contradicted
	}
	return judge.CannotTell
}

// judgeCited grades a claim by PROTOCOL-2.md. The grade is [judge.NotRun] while splits are missing. published is
// contrast's mean over train set sizes in the paper; nil if there is none.
func (e *Evidence) judgeCited(data, model string, setting datasets.Setting, choice judge.Choice,
	contrast judge.Contrast, published *float64) Verdict {
	a, err := judge.Ask(e.cited, data, model, setting, choice, contrast)
	if err != nil {
		return notRun("%v", err)
	}
	v := Verdict{Grade: judge.NotRun, Unit: points, Published: published}
	command := fmt.Sprintf(" cited --data %s --model %s", data, model)
	if !a.Complete() {
		v.Figures = fmt.Sprintf("%d of %d splits", a.Splits, judge.Splits)
		v.command = "nodemask reproduce" + command
		return v
	}
	v.command = "nodemask report" + command
	v.files = []string{trialsFile(SecondFolder, data, model)}
	p, err := e.corrected(a, choice, contrast)
	if err != nil {
		return notRun("%v", err)
	}
	if err := v.gradeCited(a.Effect.Differences, a.Effect.Pooled, p, -contrast.Margin); err != nil {
		return notRun("%v", err)
	}
	v.Figures = fmt.Sprintf("%s, p %s over %d splits, significant in %s sizes: %s", v.EffectText(),
		stats.ProbabilityText(a.Effect.Pooled.P), a.Splits, v.Strict(), choice) + v.detect()
	if choice != (judge.Choice{}) {
		return v
	}
	readings, above, below, err := judge.Robust(e.cited, data, model, setting, contrast)
	if err != nil {
		return notRun("%v", err)
	}
	if v.Effect.Low > 0 && (v.Grade == judge.Reproduced || v.Grade == judge.SameDirection) && below > 0 {
		v.Grade = judge.Depends
	}
	if readings > 1 {
		v.Robust = fmt.Sprintf("%d above, %d below of %d", above, below, readings)
	}
	return v
}

func (e *Evidence) corrected(a judge.Answer, choice judge.Choice, contrast judge.Contrast) (float64, error) {
	at := slices.IndexFunc(judge.Rows(), func(r judge.Row) bool { return r.Model == a.Model && r.Choice == choice })
	if at < 0 || contrast.Of != nil {
		return a.Effect.Pooled.P, nil
	}
	grid, err := e.grid()
	if err != nil {
		return 0, err
	}
	return find(grid[at], a.Data, a.Setting).P, nil
}

// gradeCited grades the claim that an effect is above threshold: 0 or, for the claim "loses at most one point", -1
// point. The effect is clearly above or below 0 if [judge.VerdictOf] returns "helps" or "hurts". It is clearly above
// or below -1 if its whole 95 % interval is. The first condition that holds decides:
//
//   - reproduced: clearly above threshold, unless v.Published > 0 and the whole interval is above 2·v.Published or
//     below v.Published/2.
//   - contradicted: clearly below threshold.
//   - under a point: for threshold 0, [judge.VerdictOf] returns this verdict.
//   - same direction: clearly above threshold, or at least nine in ten single comparisons have means above threshold.
//   - can't tell: none of these.
func (v *Verdict) gradeCited(places [][]float64, pooled stats.TTest, p, threshold float64) error {
	singles, err := v.tally(places, threshold)
	if err != nil {
		return err
	}
	above := 0
	for _, single := range singles {
		if single.MeanDifference > 0 {
			above++
		}
	}
	v.Effect = &pooled
	verdict := judge.VerdictOf(pooled, p)
	switch {
	case threshold != 0 && pooled.Low > threshold:
		verdict = judge.Helps
	case threshold != 0 && pooled.High < threshold:
		verdict = judge.Hurts
	case threshold != 0:
		verdict = judge.Unclear
	}
	otherSize := v.Published != nil && *v.Published > 0 && (pooled.Low > 2**v.Published || pooled.High < *v.Published/2)
	switch {
	case verdict == judge.Helps && !otherSize:
		v.Grade = judge.Reproduced
	case verdict == judge.Hurts:
		v.Grade = judge.Contradicted
	case verdict == judge.Under:
		v.Grade = judge.UnderAPoint
	case verdict == judge.Helps, 10*above >= 9*v.Of:
		v.Grade = judge.SameDirection
	default:
		v.Grade = judge.CannotTell
	}
	return nil
}
