package paper

import (
	"fmt"
	"math"
	"strings"

	"nodemask/datasets"
	"nodemask/paper/multiverse"
	"nodemask/record"
)

// loss is how much worse than without the cache node masking may be and still "not degrade": a margin of ours, in points.
const loss = 1.0

// claimsOfScale are about predicting new nodes from the cache of GIN.
func claimsOfScale(id, data string) []Claim {
	on := " (" + DataTitle(data) + ")."
	// compare makes a comparison for each size; it gets the row of the paper's table and both uncached scores.
	compare := func(one func(plain, masked record.Cell, p ScaleScore, uncached, uncachedMasked float64) comparison) []comparison {
		var all []comparison
		for _, p := range ofData(data) {
			plain := Cell(data, "gin", datasets.Inductive, p.TrainPercent)
			uncached, _ := GINScore(data, datasets.Inductive, p.TrainPercent, false)
			uncachedMasked, _ := GINScore(data, datasets.Inductive, p.TrainPercent, true)
			c := one(plain, plain.Masked(MaskedKeepRate), p, uncached, uncachedMasked)
			c.name = fmt.Sprintf("%d %%", p.TrainPercent)
			all = append(all, c)
		}
		return all
	}
	costs := compare(func(plain, _ record.Cell, p ScaleScore, uncached, _ float64) comparison {
		return between("", plain, record.MacroF1, plain, record.MacroF1Together, publish(uncached-p.Cached))
	})
	maskedCosts := compare(func(_, masked record.Cell, p ScaleScore, _, uncachedMasked float64) comparison {
		return between("", masked, record.MacroF1, masked, record.MacroF1Together, publish(uncachedMasked-p.Masked))
	})
	degrades := compare(func(_, masked record.Cell, p ScaleScore, _, uncachedMasked float64) comparison {
		return between("", masked, record.MacroF1Together, masked, record.MacroF1, publish(p.Masked-uncachedMasked))
	})
	var cheaper []comparison
	for i := range costs {
		published := *costs[i].published - *maskedCosts[i].published
		cheaper = append(cheaper, comparison{costs[i].name, func(r *record.Results) []record.Difference {
			return bySeed(costs[i].differences(r), maskedCosts[i].differences(r))
		}, &published})
	}
	usual := func(all []comparison) func(*Evidence) Verdict {
		return func(e *Evidence) Verdict { return judge(e.Records, points, all) }
	}
	return []Claim{
		{ID: id + "/costs", Subject: aboutCaching, Text: "Caching costs GIN F1" + on, Says: "the model performs worse with caching", Judge: usual(costs)},
		{ID: id + "/wins-back", Subject: aboutCaching, Text: "With node masking, caching does better than without" + on,
			Says: "F1 scores in bold are significantly better than their counterparts with p-value <0.05 under paired t-test",
			Judge: usual(compare(func(plain, masked record.Cell, p ScaleScore, _, _ float64) comparison {
				return between("", masked, record.MacroF1Together, plain, record.MacroF1Together, publish(p.Masked-p.Cached))
			}))},
		{ID: id + "/exceeds", Subject: aboutCaching, Text: "Caching with node masking exceeds GIN without caching" + on,
			Says: "when node masking is used, the performance in fact exceeds that of GIN without caching",
			Judge: usual(compare(func(plain, masked record.Cell, p ScaleScore, uncached, _ float64) comparison {
				return between("", masked, record.MacroF1Together, plain, record.MacroF1, publish(p.Masked-uncached))
			}))},
		{ID: id + "/cheaper", Subject: aboutCaching, Text: "Caching costs less F1 with node masking than without" + on,
			Says: "sensitizes the GNN to that structure of the aggregation trees that it may encounter at prediction time if caching is used", Judge: usual(cheaper)},
		{ID: id + "/not-degraded", Subject: aboutCaching, Text: "With node masking, caching does not degrade F1 by a point" + on,
			Says: "This approximation does not degrade the performance when node masking is employed",
			Rule: fmt.Sprintf("Reproduced if the pooled interval lies above −%v points; contradicted if it lies below; else inconclusive.", loss),
			Judge: func(e *Evidence) Verdict {
				t, ok := test(e.Records, points, degrades)
				if !ok {
					return t.Verdict
				}
				t.Holds = t.Of - t.Against // none of the others is worse
				switch {
				case t.Effect.Low > -loss:
					t.Grade = multiverse.Reproduced
				case t.Effect.High < -loss:
					t.Grade = multiverse.Contradicted
				default:
					t.Grade = multiverse.Inconclusive
				}
				return t.described()
			}},
		claimOfNodes(id+"/nodes", data, false), claimOfNodes(id+"/nodes-published", data, true), claimOfSaving(id+"/saving", data),
	}
}

// nodesCached are the nodes involved with caching, by size; ok is false if a size has no trial.
func nodesCached(e *Evidence, data string) (nodes []float64, ok bool) {
	for _, p := range ofData(data) {
		values := e.Records.Values(Cell(data, "gin", datasets.Inductive, p.TrainPercent), record.NodesCached)
		if len(values) == 0 {
			return nil, false
		}
		nodes = append(nodes, values[0]) // the same for every trial on a split
	}
	return nodes, true
}

// claimOfNodes counts nodes, which differ by the split alone: there is nothing to test.
func claimOfNodes(id, data string, asPublished bool) Claim {
	c := Claim{ID: id, Subject: aboutCaching, Text: "Caching involves fewer nodes, at every size (" + DataTitle(data) + ").",
		Says: "Caching consistently reduces the number of unique nodes involved", Rule: "Counts: reproduced if it holds at every size, contradicted if at none, else inconclusive."}
	if asPublished {
		c.Ours, c.Says, c.Text = true, "", "Caching involves as many nodes as published, within 1 % of all ("+DataTitle(data)+"; another split)."
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
			if asPublished && math.Abs(n-float64(p.NodesCached)) <= 0.01*float64(p.Nodes) || !asPublished && n < float64(p.Nodes) {
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
	return Claim{ID: id, Subject: aboutCaching, Text: "Caching saves more nodes, the fewer arrive (" + DataTitle(data) + ").",
		Says: "The gains in efficiency from caching are more pronounced when the number of nodes present at the training time is significantly more than the number of nodes entering at the test time",
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
