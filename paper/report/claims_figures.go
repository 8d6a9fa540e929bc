package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
)

// inPaper excludes keep rate 1, which the paper's figures lack.
func inPaper(p float64) bool { return p < 1 }

func unmasked(p float64) bool { return !inPaper(p) }

func (c Curve) best(r *record.Results, include func(p float64) bool) (at Point, mean float64, fewest int) {
	mean, fewest = math.Inf(-1), math.MaxInt
	for _, p := range c.Points {
		if !include(p.X) {
			continue
		}
		values := r.Values(p.Entry.Cell, p.Entry.Metric)
		fewest = min(fewest, len(values))
		if len(values) > 0 && stat.Mean(values, nil) > mean {
			at, mean = p, stat.Mean(values, nil)
		}
	}
	return at, mean, fewest
}

// bestAgainst compares, for each seed, two keep rates: the best for which include is true, and the best of the paper's
// other keep rates. Both are chosen by the trials of all other seeds, because choosing and judging on the same trial
// would favour the side with more rates.
func (c Curve) bestAgainst(include func(p float64) bool) comparison {
	return comparison{name: c.Name, differences: func(r *record.Results) (all []difference) {
		for _, seed := range c.seeds(r) {
			a, n := c.bestElsewhere(r, seed, include)
			b, m := c.bestElsewhere(r, seed, func(p float64) bool { return inPaper(p) && !include(p) })
			if n == 0 || m == 0 {
				return nil
			}
			all = append(all, difference{seed, a - b})
		}
		return all
	}}
}

func (c Curve) seeds(r *record.Results) (all []uint64) {
	for i, p := range slices.DeleteFunc(slices.Clone(c.Points), func(p Point) bool { return !inPaper(p.X) }) {
		var of []uint64
		for _, trial := range r.Trials(p.Entry.Cell) {
			if i == 0 || slices.Contains(all, trial.Seed) {
				of = append(of, trial.Seed)
			}
		}
		all = of
	}
	return all
}

// bestElsewhere returns seed's score at the keep rate with the best mean over other seeds (others counts them).
// include filters keep rates.
func (c Curve) bestElsewhere(r *record.Results, seed uint64, include func(p float64) bool) (score float64, others int) {
	best := math.Inf(-1)
	for _, p := range c.Points {
		if !include(p.X) {
			continue
		}
		var own, sum float64
		n := 0
		for _, trial := range r.Trials(p.Entry.Cell) {
			switch x, ok := p.Entry.Metric.Of(trial); {
			case !ok:
			case trial.Seed == seed:
				own = x
			default:
				sum += x
				n++
			}
		}
		if n > 0 && sum/float64(n) > best {
			best, score, others = sum/float64(n), own, n
		}
	}
	return score, others
}

func tops(r *record.Results, curves []Curve) string {
	var parts []string
	for _, c := range curves {
		at, mean, fewest := c.best(r, inPaper)
		if fewest == 0 {
			continue
		}
		part := fmt.Sprintf("%s: best at p = %v with %.2f", c.Name, at.X, mean)
		if _, none, n := c.best(r, unmasked); n > 0 {
			part += fmt.Sprintf(", without masking %.2f", none)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func claimsOfKeepRates(a Artifact) []Claim {
	c := Claim{ID: a.ID + "/above-half", Subject: aboutKeepRates,
		Text: "The best keep rate of GIN + NM is above 0.5, in both settings (Cora, 10 %).",
		Says: "GIN+NM achieves the best performance under both the transductive setting as well as the inductive setting " +
			"at p > 0.5",
		Rule: "The best p above 0.5 against the best of the others, each chosen by the trials of the other seeds; " +
			"same direction at most where no masking is better still."}
	include := func(p float64) bool { return inPaper(p) && p > paper.MaskedKeepRate }
	switch a.ID {
	case "fig-keep-rate-others":
		c.Text = "The best keep rate of GIN + NM is above 0.5 on CiteSeer and PubMed too (10 %)."
		c.Says = "The analyses presented in this section are with the Cora dataset but the observed trends hold across all " +
			"the datasets"
	case "fig-keep-rate-gat":
		c.ID, c.Text = a.ID+"/half", "The best keep rate of GAT + NM and SGAT + NM is 0.5 (Cora, 10 %, inductive)."
		c.Says = "GAT+NM and SGAT+NM achieve the best performance at p=0.5 only"
		c.Rule = "0.5 against the best of the others, chosen by the trials of the other seeds; same " +
			"direction at most where no masking is better still."
		include = func(p float64) bool { return p == paper.MaskedKeepRate }
	}
	var all []comparison
	for _, curve := range a.Curves {
		all = append(all, curve.bestAgainst(include))
	}
	c.Judge = func(e *Evidence) Verdict {
		v := judgePairs(e.Records, points, all)
		if v.Grade != judge.NotRun {
			if v.Grade == judge.Reproduced && belowNone(e.Records, a.Curves) {
				v.Grade = judge.SameDirection
			}
			v.Figures = tops(e.Records, a.Curves) + "; " + v.Figures
		}
		return v
	}
	return []Claim{c}
}

func belowNone(r *record.Results, curves []Curve) bool {
	for _, c := range curves {
		_, best, _ := c.best(r, inPaper)
		if _, none, n := c.best(r, unmasked); n > 0 && best < none {
			return true
		}
	}
	return false
}

// A network counts as trained if its F1 is at least this part of the shallowest network's.
const trains = 0.5

const untrained = "%s reaches %.2f at best, where %s reaches %.2f: it does not train"

func claimsOfDepth(a Artifact) []Claim {
	const rule = "Settings in which a depth does not reach half of what 2 layers do are left out; without any it cannot " +
		"be tested. In each other one, for each split the slope of its best keep rate over the binary logarithm of the " +
		"number of layers."
	falls := func(sign float64) func(*Evidence) Verdict {
		return func(e *Evidence) Verdict { return judgeDepth(e.Records, a.Curves, sign) }
	}
	return []Claim{
		{ID: a.ID + "/falls", Subject: aboutKeepRates, Text: "The best p falls as GIN gets deeper, with p the probability " +
			"of keeping (Cora, 10 %).", Rule: rule, Judge: falls(-1),
			Says: "as the depth increases, the p at which the optimal performance is achieved decreases"},
		{ID: a.ID + "/falls-dropping", Subject: aboutKeepRates, Ours: true, Rule: rule, Judge: falls(1),
			Text: "The best p falls as GIN gets deeper, with p the probability of dropping (Cora, 10 %)."},
		{ID: a.ID + "/two", Subject: aboutKeepRates, Text: "Two layers are best for GIN (Cora, 10 %, without masking).",
			Says:  "Akin to GAT, we found a 2-layer GIN to be optimal for all the datasets",
			Rule:  "Against those depths that reach half of what two layers do.",
			Judge: func(e *Evidence) Verdict { return judgeTwoLayers(e.Records, a.Curves) }},
	}
}

func depths(curves []Curve) (panels [][]Curve) {
	for _, c := range curves {
		if n := len(panels); n == 0 || panels[n-1][0].Panel != c.Panel {
			panels = append(panels, nil)
		}
		panels[len(panels)-1] = append(panels[len(panels)-1], c)
	}
	return panels
}

// judgeDepth tests whether the keep rate with the best score rises (sign 1) or falls (-1) with depth.
func judgeDepth(r *record.Results, curves []Curve, sign float64) Verdict {
	var all []comparison
	var said, out []string
	for _, panel := range depths(curves) {
		shallow, words := 0.0, ""
		for i, c := range panel {
			_, mean, fewest := c.best(r, func(float64) bool { return true })
			if fewest < 2 {
				return notRun("not all keep rates of %s, %s have at least two trials", c.Name, c.Panel)
			}
			if i == 0 {
				shallow = mean
			}
			if mean < trains*shallow && words == "" {
				words = fmt.Sprintf(untrained, c.Panel+": "+c.Name, mean, panel[0].Name, shallow)
			}
		}
		if words != "" {
			out = append(out, words)
			continue
		}
		said = append(said, panel[0].Panel+": "+tops(r, panel))
		all = append(all, comparison{name: panel[0].Panel, differences: func(r *record.Results) []difference {
			return slopes(r, panel, sign)
		}})
	}
	return judgeTrained(r, "of keep rate each time the depth doubles", all, said, out)
}

func judgeTrained(r *record.Results, unit string, all []comparison, said, out []string) Verdict {
	if len(all) == 0 {
		return Verdict{Grade: judge.CannotTest, Figures: strings.Join(out, "; ")}
	}
	v := judgePairs(r, unit, all)
	if v.Grade == judge.Contradicted && len(all) == 1 {
		v.Grade = judge.CannotTell
	}
	v.Figures = strings.Join(slices.Concat([]string{v.Figures}, said, out), "; ")
	return v
}

// slopes fits a line per split: the best keep rate over log₂ of the number of layers. It returns the slopes times
// sign, or nil if the panel's points differ in splits.
func slopes(r *record.Results, panel []Curve, sign float64) (all []difference) {
	first := r.Trials(panel[0].Points[0].Entry.Cell)
	for split, of := range first {
		var depths, rates []float64
		for _, curve := range panel {
			best, at := math.Inf(-1), 0.0
			for _, p := range curve.Points {
				trials := r.Trials(p.Entry.Cell)
				if len(trials) != len(first) || trials[split].Seed != of.Seed {
					return nil
				}
				if f1 := trials[split].MacroF1; f1 > best {
					best, at = f1, p.X
				}
			}
			layers := curve.Points[0].Entry.Cell.Parameters.Layers
			depths, rates = append(depths, math.Log2(float64(layers))), append(rates, at)
		}
		_, slope := stat.LinearRegression(depths, rates, nil, false)
		all = append(all, difference{of.Seed, sign * slope})
	}
	return all
}

func judgeTwoLayers(r *record.Results, curves []Curve) Verdict {
	plain := func(c Curve) (Point, float64, int) { return c.best(r, unmasked) }
	var all []comparison
	var out []string
	for _, panel := range depths(curves) {
		two, shallow, _ := plain(panel[0])
		for _, c := range panel[1:] {
			at, mean, n := plain(c)
			if n == 0 {
				return notRun("no trial of %s, %s without masking", c.Name, c.Panel)
			}
			if mean < trains*shallow {
				out = append(out, fmt.Sprintf(untrained, c.Panel+": "+c.Name, mean, panel[0].Name, shallow))
				continue
			}
			all = append(all, between(c.Panel+", against "+c.Name, two.Entry.Cell, record.MacroF1, at.Entry.Cell, record.MacroF1,
				nil))
		}
	}
	return judgeTrained(r, points, all, nil, out)
}

func rise(t record.Record) float64 {
	last := t.ValidationLosses[max(0, len(t.ValidationLosses)-10):]
	return 100 * (stat.Mean(last, nil)/slices.Min(t.ValidationLosses) - 1)
}

func losses(data string, compare func(plain, masked record.Record) float64) []comparison {
	var all []comparison
	for _, s := range datasets.Settings() {
		c := paper.Cell(data, "gin", s, 10)
		all = append(all, comparison{name: string(s), differences: func(r *record.Results) (all []difference) {
			for plain, with := range r.Pairs(c, masked(c)) {
				if len(plain.ValidationLosses) > 0 && len(with.ValidationLosses) > 0 {
					all = append(all, difference{plain.Seed, compare(plain, with)})
				}
			}
			return all
		}})
	}
	return all
}

func claimsOfLoss(id, data string) []Claim {
	on := " (" + DataTitle(data) + ", GIN, 10 %)."
	const percent = "% of the least loss"
	return []Claim{
		{ID: id + "/train", Subject: aboutLosses, Text: "The training loss is higher with node masking" + on,
			Says: "node masking leads to higher training losses in both the transductive and inductive settings",
			Rule: "The mean over the epochs that both trials of a seed have.",
			Judge: overPairs(crossEntropy, losses(data, func(plain, masked record.Record) float64 {
				n := min(len(plain.TrainLosses), len(masked.TrainLosses))
				return stat.Mean(masked.TrainLosses[:n], nil) - stat.Mean(plain.TrainLosses[:n], nil)
			}))},
		{ID: id + "/lower", Subject: aboutLosses, Text: "The least validation loss is lower with node masking" + on,
			Says: "the model is able to achieve a lower validation loss meaning that it generalizes better",
			Judge: overPairs(crossEntropy, losses(data, func(plain, masked record.Record) float64 {
				return slices.Min(plain.ValidationLosses) - slices.Min(masked.ValidationLosses)
			}))},
		{ID: id + "/regularises", Subject: aboutLosses, Text: "The validation loss rises less after its minimum with node " +
			"masking" + on,
			Says: "the validation losses go up sharply after a point when node masking is not used, clearly indicating that " +
				"the model has over-fit. With node masking, such an over-fitting phenomenon is neither observed in the " +
				"transductive setting nor in the inductive setting",
			Rule: "The rise is the mean of the last ten epochs before training stops over the least.",
			Judge: overPairs(percent, losses(data, func(plain, masked record.Record) float64 {
				return rise(plain) - rise(masked)
			}))},
		{ID: id + "/overfits", Subject: aboutLosses, Ours: true,
			Text:  "Without node masking it rises by more than 5 % of its minimum" + on,
			Rule:  "The rise less 5 %.",
			Judge: overPairs(percent, losses(data, func(plain, _ record.Record) float64 { return rise(plain) - 5 }))},
	}
}

func claimsOfScores(id string) []Claim {
	return []Claim{{ID: id + "/agree", Subject: aboutLosses, Text: "Micro F1 and accuracy change with masking in the " +
		"direction in which macro F1 does (Cora).", Says: "we noted that all the trends are consistent with micro F1 and " +
		"accuracy too",
		Rule: "They disagree where the two differ in sign and one of them is significant. Reproduced if none does; " +
			"contradicted if half do; else we can't tell.",
		Judge: func(e *Evidence) Verdict { return judgeScores(e.Records) }}}
}

func judgeScores(r *record.Results) Verdict {
	v := Verdict{}
	var parts []string
	for _, model := range judge.Models() {
		for _, c := range fewCells(model) {
			macro := r.Compare(masked(c), record.MacroF1, c, record.MacroF1)
			micro := r.Compare(masked(c), record.MicroF1, c, record.MicroF1)
			if macro.Trials < 2 {
				return notRun("not all comparisons have at least two trials")
			}
			v.Of++
			if macro.Difference*micro.Difference >= 0 {
				v.Holds++
				continue
			}
			within := "within noise"
			if macro.P < significant || micro.P < significant {
				v.Against++
				within = "significant"
			} else {
				v.Holds++
			}
			parts = append(parts, fmt.Sprintf("%s %s: macro %s, micro %s, %s", strings.ToUpper(model), place(c),
				plots.Signed(macro.Difference, 2), plots.Signed(micro.Difference, 2), within))
		}
	}
	switch {
	case v.Against == 0:
		v.Grade = judge.Reproduced
	case 2*v.Against >= v.Of:
		v.Grade = judge.Contradicted
	default:
		v.Grade = judge.CannotTell
	}
	v.Figures = strings.Join(append([]string{v.Strict() + " agree"}, parts...), "; ")
	return v
}
