package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
)

// loss is our bound, in points, for "not degrade".
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

// claimsOfNodes compares counts: only the split matters, so there is nothing to test.
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
