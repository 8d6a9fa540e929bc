package evidence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/internal/cited"
	"nodemask/internal/multiverse"
	"nodemask/paper"
	"nodemask/record"
)

// loss is how much worse than without the cache node masking may be and still "not degrade": a margin of ours, in
// points.
const loss = 1.0

// claimsOfScale are about predicting new nodes from the cache of GIN.
func claimsOfScale(id, data string) []Claim {
	plain, plainCached := multiverse.Score{Arm: multiverse.Plain}, multiverse.Score{Arm: multiverse.Plain, Cached: true}
	masked, maskedCached := multiverse.Score{Arm: multiverse.Masked}, multiverse.Score{Arm: multiverse.Masked,
		Cached: true}
	var claims []Claim
	for _, about := range []struct {
		name, text, says, rule string
		contrast               multiverse.Contrast
	}{
		{name: "costs", text: "Caching costs GIN F1", says: "the model performs worse with caching",
			contrast: multiverse.Contrast{Plus: []multiverse.Score{plain}, Minus: []multiverse.Score{plainCached}}},
		{name: "wins-back", text: "With node masking, caching does better than without",
			says:     "F1 scores in bold are significantly better than their counterparts with p-value <0.05 under paired t-test",
			contrast: multiverse.Contrast{Plus: []multiverse.Score{maskedCached}, Minus: []multiverse.Score{plainCached}}},
		{name: "exceeds", text: "Caching with node masking exceeds GIN without caching",
			says:     "when node masking is used, the performance in fact exceeds that of GIN without caching",
			contrast: multiverse.Contrast{Plus: []multiverse.Score{maskedCached}, Minus: []multiverse.Score{plain}}},
		{name: "cheaper", text: "Caching costs less F1 with node masking than without",
			says: "sensitizes the GNN to that structure of the aggregation trees that it may encounter at prediction time if " +
				"caching is used",
			contrast: multiverse.Contrast{Plus: []multiverse.Score{plain, maskedCached},
				Minus: []multiverse.Score{plainCached, masked}}},
		{name: "not-degraded", text: "With node masking, caching does not degrade F1 by a point",
			says: "This approximation does not degrade the performance when node masking is employed",
			rule: fmt.Sprintf("By the protocol, with −%v points for 0.", loss),
			contrast: multiverse.Contrast{Plus: []multiverse.Score{maskedCached}, Minus: []multiverse.Score{masked},
				Margin: loss}},
	} {
		claims = append(claims, Claim{ID: id + "/" + about.name, Subject: aboutCaching, Text: about.text + " (" +
			DataTitle(data) + ").", Says: about.says, Rule: about.rule,
			Judge: func(e *Evidence) Verdict {
				return e.judgeCited(data, "gin", datasets.Inductive, cited.Choice{}, about.contrast,
					publishedContrastOverReadings(data, about.contrast))
			}})
	}
	return append(claims, claimOfNodes(id+"/nodes", data, false), claimOfNodes(id+"/nodes-published", data, true),
		claimOfSaving(id+"/saving", data))
}

// publishedScore is what the paper prints of a score at a size.
func publishedScore(p ScaleScore, s multiverse.Score) float64 {
	switch {
	case s.Cached && s.Arm == multiverse.Masked:
		return p.Masked
	case s.Cached:
		return p.Cached
	}
	// it has all sizes of the table of caching
	return *Published(p.Data, "gin", datasets.Inductive, p.TrainPercent, s.Arm == multiverse.Masked)
}

// publishedContrast is the paper's own difference at a size.
func publishedContrast(p ScaleScore, c multiverse.Contrast) float64 {
	sum := 0.0
	for _, s := range c.Plus {
		sum += publishedScore(p, s)
	}
	for _, s := range c.Minus {
		sum -= publishedScore(p, s)
	}
	return sum
}

// publishedContrastOverReadings is the paper's mean difference over the sizes at which readings are compared.
func publishedContrastOverReadings(data string, c multiverse.Contrast) *float64 {
	mean := 0.0
	for _, p := range ofData(data) {
		if slices.Contains(multiverse.Sizes(), p.TrainPercent) {
			mean += publishedContrast(p, c) / float64(len(multiverse.Sizes()))
		}
	}
	return &mean
}

// nodesCached are the nodes involved with caching, by size; ok is false if a size has no trial.
func nodesCached(e *Evidence, data string) (nodes []float64, ok bool) {
	for _, p := range ofData(data) {
		values := e.Records.Values(paper.Cell(data, "gin", datasets.Inductive, p.TrainPercent), record.NodesCached)
		if len(values) == 0 {
			return nil, false
		}
		nodes = append(nodes, values[0]) // the same for every trial on a split
	}
	return nodes, true
}

// claimOfNodes counts nodes, which differ by the split alone: there is nothing to test.
func claimOfNodes(id, data string, asPublished bool) Claim {
	c := Claim{ID: id, Subject: aboutCaching, Text: "Caching involves fewer nodes, at every size (" + DataTitle(data) +
		").",
		Says: "Caching consistently reduces the number of unique nodes involved",
		Rule: "Counts: reproduced if it holds at every size, contradicted if at none, else inconclusive."}
	if asPublished {
		c.Ours, c.Says, c.Text = true, "", "Caching involves as many nodes as published, within 1 % of all "+
			"("+DataTitle(data)+"; another split)."
	}
	c.Judge = func(e *Evidence) Verdict {
		nodes, ok := nodesCached(e, data)
		if !ok {
			return notRun("not all sizes have a trial")
		}
		v := Verdict{}
		var parts []string
		for _, p := range ofData(data) {
			n := nodes[v.Of]
			v.Of++
			if asPublished && math.Abs(n-float64(p.NodesCached)) <= 0.01*float64(p.Nodes) ||
				!asPublished && n < float64(p.Nodes) {
				v.Holds++
			}
			parts = append(parts, fmt.Sprintf("%d %%: %.0f (paper: %d)", p.TrainPercent, n, p.NodesCached))
		}
		v.Figures = strings.Join(parts, "; ")
		return counted(v)
	}
	return c
}

// counted grades what is counted, not tested.
func counted(v Verdict) Verdict {
	switch v.Holds {
	case v.Of:
		v.Grade = multiverse.Reproduced
	case 0:
		v.Grade = multiverse.Contradicted
	default:
		v.Grade = multiverse.Inconclusive
	}
	return v
}

func claimOfSaving(id, data string) Claim {
	return Claim{ID: id, Subject: aboutCaching, Text: "Caching saves more nodes, the fewer arrive (" + DataTitle(data) +
		").",
		Says: "The gains in efficiency from caching are more pronounced when the number of nodes present at the training " +
			"time is significantly more than the number of nodes entering at the test time",
		Rule: "Counts: from each size to the next, the share of nodes that caching saves grows.",
		Judge: func(e *Evidence) Verdict {
			nodes, ok := nodesCached(e, data)
			if !ok {
				return notRun("not all sizes have a trial")
			}
			v := Verdict{}
			var parts []string
			for i, p := range ofData(data) {
				if i > 0 {
					v.Of++
					if nodes[i] < nodes[i-1] {
						v.Holds++
					}
				}
				parts = append(parts, fmt.Sprintf("%d %%: %.1f %% saved", p.TrainPercent, 100*(1-nodes[i]/float64(p.Nodes))))
			}
			v.Figures = strings.Join(parts, "; ")
			return counted(v)
		}}
}

// ofData returns the rows of the paper's table of caching for a data set.
func ofData(data string) []ScaleScore {
	var rows []ScaleScore
	for _, p := range ScaleScores() {
		if p.Data == data {
			rows = append(rows, p)
		}
	}
	return rows
}
