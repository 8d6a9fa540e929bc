package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/stats"
)

// loss is the largest drop in macro F1, in points, that we still count as the paper's "not degrade".
const loss = 1.0

func claimsOfScale(id, data string) []Claim {
	var claims []Claim
	for _, about := range []struct {
		name, text, says, rule string
		contrast               judge.Contrast
	}{
		{name: "costs", text: "Caching costs GIN F1", says: "the model performs worse with caching",
			contrast: judge.Contrast{PlainOnly: true, Of: func(s judge.Scores) float64 { return s.Plain - s.PlainCached }}},
		{name: "wins-back", text: "With node masking, caching does better than without",
			says:     "F1 scores in bold are significantly better than their counterparts with p-value <0.05 under paired t-test",
			contrast: judge.Contrast{Of: func(s judge.Scores) float64 { return s.MaskedCached - s.PlainCached }}},
		{name: "exceeds", text: "Caching with node masking exceeds GIN without caching",
			says:     "when node masking is used, the performance in fact exceeds that of GIN without caching",
			contrast: judge.Contrast{Of: func(s judge.Scores) float64 { return s.MaskedCached - s.Plain }}},
		{name: "cheaper", text: "Caching costs less F1 with node masking than without",
			says: "sensitizes the GNN to that structure of the aggregation trees that it may encounter at prediction time if " +
				"caching is used",
			contrast: judge.Contrast{Of: func(s judge.Scores) float64 {
				return s.Plain + s.MaskedCached - s.PlainCached - s.Masked
			}}},
		{name: "not-degraded", text: "With node masking, caching does not degrade F1 by a point",
			says:     "This approximation does not degrade the performance when node masking is employed",
			rule:     fmt.Sprintf("As in the protocol, but the interval has to lie above −%v points.", loss),
			contrast: judge.Contrast{Of: func(s judge.Scores) float64 { return s.MaskedCached - s.Masked }, Margin: loss}},
	} {
		claims = append(claims, Claim{ID: id + "/" + about.name, Subject: aboutCaching, Text: about.text + " (" +
			DataTitle(data) + ").", Says: about.says, Rule: about.rule,
			Judge: func(e *Evidence) Verdict {
				return e.judgeCited(data, "gin", datasets.Inductive, judge.Choice{}, about.contrast,
					publishedContrast(data, about.contrast))
			}})
	}
	return append(claims, claimsOfNodes(id, data)...)
}

func publishedContrast(data string, c judge.Contrast) *float64 {
	p, mean := publishedCaching(data), 0.0
	for _, size := range judge.Sizes() {
		at := slices.Index(Sizes(), size)
		mean += c.Of(judge.Scores{Plain: *Published(data, "gin", datasets.Inductive, size, false),
			Masked:      *Published(data, "gin", datasets.Inductive, size, true),
			PlainCached: p.plain[at], MaskedCached: p.masked[at]}) / float64(len(judge.Sizes()))
	}
	return &mean
}

// No statistical test is needed: how many nodes caching involves depends only on the split.
func claimsOfNodes(id, data string) []Claim {
	p, on := publishedCaching(data), " ("+DataTitle(data)
	all := float64(p.nodes)
	printed := func(i int, n float64) string { return fmt.Sprintf("%.0f (paper: %d)", n, p.cached[i]) }
	const rule = "Counts: reproduced if it holds at every size, contradicted if at none, else we can't tell."
	return []Claim{
		{ID: id + "/nodes", Subject: aboutCaching, Text: "Caching involves fewer nodes, at every size" + on + ").",
			Says: "Caching consistently reduces the number of unique nodes involved", Rule: rule,
			Judge: counted(data, 0, func(i int, nodes []float64) bool { return nodes[i] < all }, printed)},
		{ID: id + "/nodes-published", Subject: aboutCaching, Ours: true, Rule: rule,
			Text: "Caching involves as many nodes as published, within 1 % of all" + on + "; another split).",
			Judge: counted(data, 0, func(i int, nodes []float64) bool {
				return math.Abs(nodes[i]-float64(p.cached[i])) <= 0.01*all
			}, printed)},
		{ID: id + "/saving", Subject: aboutCaching, Text: "Caching saves more nodes, the fewer arrive" + on + ").",
			Says: "The gains in efficiency from caching are more pronounced when the number of nodes present at the training " +
				"time is significantly more than the number of nodes entering at the test time",
			Rule: "Counts: from each size to the next, the share of nodes that caching saves grows.",
			Judge: counted(data, 1, func(i int, nodes []float64) bool { return nodes[i] < nodes[i-1] },
				func(_ int, n float64) string { return fmt.Sprintf("%.1f %% saved", 100*(1-n/all)) })},
	}
}

func counted(data string, from int, holds func(i int, nodes []float64) bool,
	words func(i int, n float64) string) func(*Evidence) Verdict {
	return func(e *Evidence) Verdict {
		var nodes []float64
		var parts []string
		for i, size := range Sizes() {
			values := e.Records.Values(paper.Cell(data, "gin", datasets.Inductive, size), record.NodesCached)
			if len(values) == 0 {
				return notRun("not all sizes have a trial")
			}
			nodes = append(nodes, values[0]) // equal in all trials of a split
			parts = append(parts, percent(size)+": "+words(i, nodes[i]))
		}
		v := Verdict{Grade: judge.CannotTell, Figures: strings.Join(parts, "; "), Of: len(nodes) - from}
		for i := from; i < len(nodes); i++ {
			if holds(i, nodes) {
				v.Holds++
			}
		}
		switch v.Holds {
		case v.Of:
			v.Grade = judge.Reproduced
		case 0:
			v.Grade = judge.Contradicted
		}
		return v
	}
}

func smoothness(metric record.Metric, above, below trained) []comparison {
	var all []comparison
	for _, model := range []string{"gat", "sgat"} {
		for i, s := range datasets.Settings() {
			c := paper.Cell("cora", model, s, 10)
			published := above.published(model)[i] - below.published(model)[i]
			all = append(all, between(strings.ToUpper(model)+" "+string(s), above.cell(c), metric, below.cell(c), metric,
				&published))
		}
	}
	return all
}

type trained struct {
	cell            func(record.Cell) record.Cell
	dropout, masked bool
}

func (t trained) published(model string) [2]float64 {
	all := smoothnessScores()
	return all[slices.IndexFunc(all, func(p smoothnessScore) bool {
		return p.model == model && p.dropout == t.dropout && p.masked == t.masked
	})].mad
}

func claimsOfMAD(id string) []Claim {
	none, dropout := trained{record.Cell.Fair, false, false}, trained{asIs, true, false}
	masking := trained{masked, false, true}
	return []Claim{
		{ID: id + "/order", Subject: aboutMAD, Text: "MAD with node masking is above MAD with attention dropout (GAT and " +
			"SGAT on Cora, 10 %).",
			Says: "We see that node masking is significantly better at alleviating over-smoothing than the stochastic " +
				"exclusion of edges",
			Rule:  overThree,
			Judge: overSmoothness(masking, dropout)},
		{ID: id + "/dropout", Subject: aboutMAD, Text: "Attention dropout raises MAD a little.", Rule: overThree,
			Says:  "the dropout on attention coefficients to not be a very effective tool against over-smoothing",
			Judge: overSmoothness(dropout, none)},
		{ID: id + "/fair", Subject: aboutMAD, Ours: true, Text: "MAD with node masking is above MAD with neither.",
			Rule:  overThree,
			Judge: overSmoothness(masking, none)},
	}
}

const overThree = "MAD is taken of three representations, each graded by itself. Over them, the lowest grade counts if " +
	"the claim holds in all of them, and if it is contradicted in all; if it holds in some it \u201cdepends\u201d; else we " +
	"can't tell."

func overSmoothness(above, below trained) func(*Evidence) Verdict {
	return func(e *Evidence) Verdict {
		return overRepresentations(func(metric record.Metric) Verdict {
			v := judgePairs(e.Records, "MAD", smoothness(metric, above, below))
			if v.Grade != judge.NotRun {
				v.Figures = fmt.Sprintf("%s, %s", v.EffectText(), v.Strict())
			}
			return v
		})
	}
}

// overRepresentations combines the grades for three representations, as the paper does not say which one its MAD is of.
func overRepresentations(each func(record.Metric) Verdict) Verdict {
	v := Verdict{Unit: "MAD"}
	var grades []judge.Grade
	var parts []string
	for _, metric := range []record.Metric{record.MADSoftmax, record.MADLogits, record.MADHidden} {
		one := each(metric)
		if one.Grade == judge.NotRun {
			return one
		}
		v.Holds, v.Against, v.Of = v.Holds+one.Holds, v.Against+one.Against, v.Of+one.Of
		grades = append(grades, one.Grade)
		parts = append(parts, fmt.Sprintf("%s (%s): %s", representation(metric), one.Grade, one.Figures))
	}
	v.Grade = overReadings(grades)
	v.Figures = strings.Join(parts, "; ")
	return v
}

func representation(m record.Metric) string { return strings.TrimPrefix(string(m), "MAD of the ") }

func overReadings(grades []judge.Grade) judge.Grade {
	rank := func(a, b judge.Grade) int {
		return cmp.Compare(slices.Index(judge.Grades(), a), slices.Index(judge.Grades(), b))
	}
	holds := func(g judge.Grade) bool { return rank(g, judge.SameDirection) <= 0 }
	best, worst := slices.MinFunc(grades, rank), slices.MaxFunc(grades, rank)
	switch {
	case holds(worst), best == judge.Contradicted:
		return worst
	case holds(best):
		return judge.Depends
	}
	return judge.CannotTell
}

// The paper's section 5.4 gives GIN a MAD of 0.65. Two MADs that differ by at most tolerance are "almost identical", in
// the paper's words.
const (
	publishedMADOfGIN = 0.65
	tolerance         = 0.05
)

func claimOfGINSmoothness(id string) Claim {
	return Claim{ID: id + "/mad", Subject: aboutMAD, Text: "MAD of GIN and GIN + NM is almost identical, 0.65 (Cora, 10 " +
		"%).",
		Says: "We found the MAD values for GIN and GIN+NM to be almost identical, e.g., 0.65 for Cora with a train set of " +
			"size 10%",
		Rule: fmt.Sprintf("%s A representation is reproduced if in both settings both means are within %v of %v, and of "+
			"one another; same direction if of one another alone; contradicted if in either setting the difference's "+
			"interval lies beyond.", overThree, tolerance, publishedMADOfGIN),
		Judge: func(e *Evidence) Verdict {
			v := overRepresentations(func(metric record.Metric) Verdict { return judgeGINSmoothness(e.Records, metric) })
			if v.Grade != judge.NotRun {
				v.Figures += fmt.Sprintf(" (paper: %v)", publishedMADOfGIN)
			}
			return v
		}}
}

func judgeGINSmoothness(r *record.Results, metric record.Metric) Verdict {
	var v Verdict
	var parts []string
	near, apart := 0, false
	for _, s := range datasets.Settings() {
		c := paper.Cell("cora", "gin", s, 10)
		var values []float64
		for _, d := range differences(r, masked(c), metric, c, metric) {
			values = append(values, d.value)
		}
		mean, low, high, err := stats.ConfidenceInterval(values, 0.05)
		if err != nil {
			return notRun("not all comparisons have at least two trials")
		}
		a, b := stat.Mean(r.Values(c, metric), nil), stat.Mean(r.Values(masked(c), metric), nil)
		v.Of++
		if math.Abs(mean) <= tolerance {
			v.Holds++
			if math.Abs(a-publishedMADOfGIN) <= tolerance && math.Abs(b-publishedMADOfGIN) <= tolerance {
				near++
			}
		}
		apart = apart || low > tolerance || high < -tolerance
		parts = append(parts, fmt.Sprintf("%s: %.2f without, %.2f with masking, difference %s", s, a, b,
			rangeText(mean, low, high, 2)))
	}
	switch {
	case near == v.Of:
		v.Grade = judge.Reproduced
	case apart:
		v.Grade = judge.Contradicted
	case v.Holds == v.Of:
		v.Grade = judge.SameDirection
	default:
		v.Grade = judge.CannotTell
	}
	v.Figures = strings.Join(parts, ", ")
	return v
}
