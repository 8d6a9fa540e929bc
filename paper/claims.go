package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/record"
)

// Outcome is what data say of a claim.
type Outcome string

// The outcomes there are.
const (
	Reproduced    Outcome = "reproduced"
	NotReproduced Outcome = "not reproduced"
	NotRun        Outcome = "not run"
)

// Verdict is an outcome with the figures that it rests on.
type Verdict struct {
	Outcome Outcome
	Figures string
	Brief   string // the figures in a line; "": Figures are brief enough
}

// InBrief returns the figures on one line.
func (v Verdict) InBrief() string {
	if v.Brief != "" {
		return v.Brief
	}
	return v.Figures
}

// Claim is a statement that results support or contradict.
type Claim struct {
	ID   string
	Text string
	// Ours is set where the paper does not make the claim: a fairer comparison beside one that it makes, or beyond it.
	Ours  bool
	Needs []record.Cell // beyond those of the artifact
	Judge func(*record.Results) Verdict
}

// pair is two cells whose metrics are compared.
type pair struct {
	name           string
	a, b           record.Cell
	metric, versus record.Metric // versus "": metric
}

// judge compares all pairs and lists the differences. The claim holds if it holds for each.
func judge(r *record.Results, holds func(record.Comparison) bool, pairs []pair) Verdict {
	var parts []string
	var differences []float64
	yes, run := 0, 0
	least := math.MaxInt
	for _, p := range pairs {
		versus := p.versus
		if versus == "" {
			versus = p.metric
		}
		c := r.Compare(p.a, p.metric, p.b, versus)
		if c.Trials < 2 {
			continue // one trial says nothing about significance
		}
		least = min(least, c.Trials)
		run++
		mark := ""
		if holds(c) {
			yes++
		} else {
			mark = " ✗"
		}
		differences = append(differences, c.Difference)
		parts = append(parts, fmt.Sprintf("%s %s (p %s)%s", p.name, signed(c.Difference, 2), probability(c.P), mark))
	}
	if run < len(pairs) {
		return Verdict{Outcome: NotRun, Figures: fmt.Sprintf("%d of %d comparisons have at least two trials", run, len(pairs))}
	}
	of := fmt.Sprintf("holds in %d of %d comparisons, %d trials each", yes, run, least)
	return Verdict{outcome(yes == run), of + ": " + strings.Join(parts, "; "), fmt.Sprintf("%s; differences from %s to %s, mean %s", of, signed(slices.Min(differences), 2), signed(slices.Max(differences), 2), signed(stat.Mean(differences, nil), 2))}
}

func probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// gains compares masked cells with plain ones, for sizes and settings.
func gains(data, model string, settings []datasets.Setting, sizes []int, against func(record.Cell) record.Cell) []pair {
	var pairs []pair
	for _, s := range settings {
		for _, size := range sizes {
			plain := record.NewCell(data, model, s, size)
			pairs = append(pairs, pair{name: fmt.Sprintf("%s %d %%", s, size), a: plain.Masked(MaskedKeepRate), b: against(plain), metric: record.MacroF1})
		}
	}
	return pairs
}

func asIs(c record.Cell) record.Cell { return c }

func masked(c record.Cell) record.Cell { return c.Masked(MaskedKeepRate) }

func claimsOf(a Artifact) []Claim {
	switch a.ID {
	case "table-gat", "table-gat-citeseer":
		data := "cora"
		if a.ID != "table-gat" {
			data = "citeseer"
		}
		return claimsOfGAT(a.ID, data)
	case "table-mad":
		return claimsOfMAD()
	case "table-gin-cora":
		return append(claimsOfGIN(a.ID, "cora"), claimOfGINSmoothness())
	case "table-gin-pubmed":
		return claimsOfGIN(a.ID, "pubmed")
	case "table-gin-citeseer":
		return claimsOfGIN(a.ID, "citeseer")
	case "table-scale-cora":
		return claimsOfScale(a.ID, "cora")
	case "table-scale-pubmed":
		return claimsOfScale(a.ID, "pubmed")
	case "fig-keep-rate-gin":
		return []Claim{{ID: a.ID + "/not-half", Text: "The best keep rate of GIN + NM is not necessarily 0.5.", Judge: func(r *record.Results) Verdict {
			return judgeBest(r, a.Curves, func(best []float64) bool {
				for _, p := range best {
					if p != MaskedKeepRate {
						return true
					}
				}
				return false
			})
		}}}
	case "fig-keep-rate-gat":
		return []Claim{{ID: a.ID + "/half", Text: "The best keep rate of GAT + NM and SGAT + NM is 0.5.", Judge: func(r *record.Results) Verdict {
			return judgeBest(r, a.Curves, func(best []float64) bool {
				for _, p := range best {
					if p != MaskedKeepRate {
						return false
					}
				}
				return true
			})
		}}}
	case "fig-depth":
		return []Claim{{ID: a.ID + "/falls", Text: "The best keep rate falls as the model gets deeper.", Judge: func(r *record.Results) Verdict {
			return judgeBest(r, a.Curves, func(best []float64) bool {
				for i := 1; i < len(best); i++ {
					if best[i] > best[i-1] {
						return false
					}
				}
				return best[len(best)-1] < best[0]
			})
		}}}
	case "fig-loss-cora":
		return claimsOfLoss(a.ID, "cora")
	case "fig-loss-pubmed":
		return claimsOfLoss(a.ID, "pubmed")
	case "table-scores":
		return []Claim{claimOfScores(a.ID)}
	case "table-regularisers":
		return claimsOfRegularisers(a.ID)
	case "table-models":
		return claimsOfModels(a.ID)
	}
	return nil
}

func claimsOfGAT(id, data string) []Claim {
	gained := Sizes()[:5] // the sizes at which the paper finds all gains significant
	var claims []Claim
	for _, model := range []string{"gat", "sgat"} {
		name := strings.ToUpper(model)
		claims = append(claims,
			Claim{ID: id + "/" + model, Text: fmt.Sprintf("%s + NM beats %s at every size up to 50 %%, in both settings (p < 0.05).", name, name), Judge: func(r *record.Results) Verdict {
				return judge(r, record.Comparison.Better, gains(data, model, datasets.Settings(), gained, asIs))
			}},
			Claim{ID: id + "/" + model + "-fair", Ours: true, Text: fmt.Sprintf("%s + NM also beats %[1]s without attention dropout.", name), Judge: func(r *record.Results) Verdict {
				return judge(r, record.Comparison.Better, gains(data, model, datasets.Settings(), gained, record.Cell.Fair))
			}})
	}
	if data == "cora" {
		claims = append(claims, Claim{ID: id + "/inductive", Text: "The gains are larger inductively, and for small train sets.", Judge: func(r *record.Results) Verdict {
			var parts []string
			holds := true
			for _, model := range []string{"gat", "sgat"} {
				gain := func(s datasets.Setting, size int) (float64, bool) {
					plain := record.NewCell(data, model, s, size)
					c := r.Compare(plain.Masked(MaskedKeepRate), record.MacroF1, plain, record.MacroF1)
					return c.Difference, c.Trials >= 2
				}
				small, a := gain(datasets.Inductive, 10)
				large, b := gain(datasets.Inductive, 90)
				other, c := gain(datasets.Transductive, 10)
				if !a || !b || !c {
					return Verdict{Outcome: NotRun, Figures: "not all comparisons have at least two trials"}
				}
				holds = holds && small > large && small > other
				parts = append(parts, fmt.Sprintf("%s: inductive 10 %% %+.2f, 90 %% %+.2f; transductive 10 %% %+.2f", strings.ToUpper(model), small, large, other))
			}
			return Verdict{Outcome: outcome(holds), Figures: strings.Join(parts, "; ")}
		}})
	}
	return claims
}

func outcome(holds bool) Outcome {
	if holds {
		return Reproduced
	}
	return NotReproduced
}

func claimsOfMAD() []Claim {
	compare := func(metric record.Metric, a, b func(record.Cell) record.Cell) []pair {
		var pairs []pair
		for _, model := range []string{"gat", "sgat"} {
			for _, s := range datasets.Settings() {
				plain := record.NewCell("cora", model, s, 10)
				pairs = append(pairs, pair{name: strings.ToUpper(model) + " " + string(s), a: a(plain), b: b(plain), metric: metric})
			}
		}
		return pairs
	}
	var claims []Claim
	for _, m := range []struct {
		id     string
		metric record.Metric
	}{{"softmax", record.MADSoftmax}, {"logits", record.MADLogits}, {"hidden", record.MADHidden}} {
		claims = append(claims, Claim{ID: "table-mad/" + m.id, Text: "MAD with node masking is above MAD with attention dropout (" + strings.TrimPrefix(string(m.metric), "MAD of ") + ").",
			Judge: func(r *record.Results) Verdict {
				return judge(r, record.Comparison.Better, compare(m.metric, masked, asIs))
			}})
	}
	return append(claims,
		Claim{ID: "table-mad/dropout", Text: "Attention dropout raises MAD a little (class probabilities).",
			Judge: func(r *record.Results) Verdict {
				return judge(r, record.Comparison.Better, compare(record.MADSoftmax, asIs, record.Cell.Fair))
			}},
		Claim{ID: "table-mad/fair", Ours: true, Text: "MAD with node masking is above MAD with neither (class probabilities).",
			Judge: func(r *record.Results) Verdict {
				return judge(r, record.Comparison.Better, compare(record.MADSoftmax, masked, record.Cell.Fair))
			}})
}

func claimsOfGIN(id, data string) []Claim {
	sizes := Sizes()
	text := "GIN + NM beats GIN at every size, in both settings (p < 0.05)."
	all := func() []pair { return gains(data, "gin", datasets.Settings(), sizes, asIs) }
	if data == "pubmed" {
		text = "GIN + NM beats GIN at every size but transductive 75 and 90 %, in both settings (p < 0.05)."
		all = func() []pair {
			return append(gains(data, "gin", datasets.Settings()[:1], sizes, asIs), gains(data, "gin", datasets.Settings()[1:], sizes[:5], asIs)...)
		}
	}
	return []Claim{
		{ID: id + "/gain", Text: text, Judge: func(r *record.Results) Verdict { return judge(r, record.Comparison.Better, all()) }},
		{ID: id + "/harmless", Ours: true, Text: "GIN + NM is nowhere significantly worse than GIN.", Judge: func(r *record.Results) Verdict {
			return judge(r, func(c record.Comparison) bool { return !c.Worse() }, gains(data, "gin", datasets.Settings(), sizes, asIs))
		}},
	}
}

func claimOfGINSmoothness() Claim {
	return Claim{ID: "table-gin-cora/mad", Text: "MAD of GIN and GIN + NM is almost the same on Cora, 10 % (class probabilities, within 0.05).", Judge: func(r *record.Results) Verdict {
		var pairs []pair
		for _, s := range datasets.Settings() {
			plain := record.NewCell("cora", "gin", s, 10)
			pairs = append(pairs, pair{name: string(s), a: plain.Masked(MaskedKeepRate), b: plain, metric: record.MADSoftmax})
		}
		return judge(r, func(c record.Comparison) bool { return math.Abs(c.Difference) <= 0.05 }, pairs)
	}}
}

func claimsOfScale(id, data string) []Claim {
	compare := func(make func(plain, masked record.Cell) pair) []pair {
		var pairs []pair
		for _, size := range Sizes() {
			plain := record.NewCell(data, "gin", datasets.Inductive, size)
			p := make(plain, plain.Masked(MaskedKeepRate))
			p.name = fmt.Sprintf("%d %%", size)
			pairs = append(pairs, p)
		}
		return pairs
	}
	return []Claim{
		{ID: id + "/costs", Text: "Caching costs F1 at every size (p < 0.05).", Judge: func(r *record.Results) Verdict {
			return judge(r, record.Comparison.Worse, compare(func(plain, _ record.Cell) pair {
				return pair{a: plain, metric: record.MacroF1Together, b: plain, versus: record.MacroF1}
			}))
		}},
		{ID: id + "/wins-back", Text: "With node masking, caching does better than without (p < 0.05).", Judge: func(r *record.Results) Verdict {
			return judge(r, record.Comparison.Better, compare(func(plain, masked record.Cell) pair {
				return pair{a: masked, metric: record.MacroF1Together, b: plain, versus: record.MacroF1Together}
			}))
		}},
		{ID: id + "/exceeds", Text: "Caching with node masking exceeds GIN without caching, at every size.", Judge: func(r *record.Results) Verdict {
			return judge(r, func(c record.Comparison) bool { return c.Difference > 0 }, compare(func(plain, masked record.Cell) pair {
				return pair{a: masked, metric: record.MacroF1Together, b: plain, versus: record.MacroF1}
			}))
		}},
		{ID: id + "/nodes", Text: "Caching needs fewer nodes, and as many as published within 1 % of all (another split).", Judge: func(r *record.Results) Verdict {
			var parts []string
			holds := true
			for _, p := range ScaleScores() {
				if p.Data != data {
					continue
				}
				values := r.Values(record.NewCell(data, "gin", datasets.Inductive, p.TrainPercent), record.NodesCached)
				if len(values) == 0 {
					return Verdict{Outcome: NotRun, Figures: "not all sizes have a trial"}
				}
				holds = holds && values[0] < float64(p.Nodes) && math.Abs(values[0]-float64(p.NodesCached)) <= 0.01*float64(p.Nodes)
				parts = append(parts, fmt.Sprintf("%d %%: %.0f (published %d)", p.TrainPercent, values[0], p.NodesCached))
			}
			return Verdict{Outcome: outcome(holds), Figures: strings.Join(parts, "; ")}
		}},
	}
}

// judgeBest finds the keep rate with the best mean on each curve.
func judgeBest(r *record.Results, curves []Curve, holds func(best []float64) bool) Verdict {
	var best []float64
	var parts []string
	for _, c := range curves {
		top, at, fewest := math.Inf(-1), 0.0, math.MaxInt
		for _, p := range c.Points {
			values := r.Values(p.Entry.Cell, p.Entry.Metric)
			fewest = min(fewest, len(values))
			if len(values) == 0 {
				return Verdict{Outcome: NotRun, Figures: fmt.Sprintf("no trial of %s at p = %v", c.Name, p.X)}
			}
			if m := stat.Mean(values, nil); m > top {
				top, at = m, p.X
			}
		}
		best = append(best, at)
		parts = append(parts, fmt.Sprintf("%s: best at p = %v with %.2f", c.Name, at, top))
		if fewest < 2 {
			return Verdict{Outcome: NotRun, Figures: "not all keep rates have at least two trials"}
		}
	}
	return Verdict{Outcome: outcome(holds(best)), Figures: strings.Join(parts, "; ")}
}

// rises is how far the validation loss of a cell's trials stands above its least when training ends, in percent of the
// least, by the mean of the trials.
func rises(r *record.Results, c record.Cell) (percent float64, trials int) {
	for _, trial := range r.Trials(c) {
		if len(trial.ValidationLosses) == 0 {
			continue
		}
		least := math.Inf(1)
		for _, loss := range trial.ValidationLosses {
			least = min(least, loss)
		}
		last := trial.ValidationLosses[max(0, len(trial.ValidationLosses)-10):]
		percent += 100 * (stat.Mean(last, nil)/least - 1)
		trials++
	}
	return percent / float64(max(trials, 1)), trials
}

func claimsOfLoss(id, data string) []Claim {
	return []Claim{
		{ID: id + "/overfits", Text: "Without node masking, the validation loss rises again after its minimum (by 5 % of it or more before training stops).", Judge: func(r *record.Results) Verdict {
			return judgeRise(r, data, 1, func(percent float64) bool { return percent >= 5 })
		}},
		{ID: id + "/regularises", Text: "With node masking, it rises less.", Judge: func(r *record.Results) Verdict {
			var parts []string
			holds := true
			for _, s := range datasets.Settings() {
				plain, n := rises(r, record.NewCell(data, "gin", s, 10))
				masked, m := rises(r, record.NewCell(data, "gin", s, 10).Masked(MaskedKeepRate))
				if n < 2 || m < 2 {
					return Verdict{Outcome: NotRun, Figures: "not all cells have at least two trials"}
				}
				holds = holds && masked < plain
				parts = append(parts, fmt.Sprintf("%s: %+.1f %% without, %+.1f %% with", s, plain, masked))
			}
			return Verdict{Outcome: outcome(holds), Figures: strings.Join(parts, "; ")}
		}},
	}
}

func judgeRise(r *record.Results, data string, keepRate hyper.KeepRate, holds func(percent float64) bool) Verdict {
	var parts []string
	all := true
	for _, s := range datasets.Settings() {
		percent, n := rises(r, record.NewCell(data, "gin", s, 10).Masked(keepRate))
		if n < 2 {
			return Verdict{Outcome: NotRun, Figures: "not all cells have at least two trials"}
		}
		all = all && holds(percent)
		parts = append(parts, fmt.Sprintf("%s: %+.1f %% at the end, %d trials", s, percent, n))
	}
	return Verdict{Outcome: outcome(all), Figures: strings.Join(parts, "; ")}
}

func claimOfScores(id string) Claim {
	return Claim{ID: id + "/agree", Text: "Micro F1 and accuracy change with masking in the direction in which macro F1 does.", Judge: func(r *record.Results) Verdict {
		same, all := 0, 0
		var parts []string
		for _, model := range []string{"gin", "gat", "sgat"} {
			for _, s := range datasets.Settings() {
				for _, size := range fewSizes() {
					plain := record.NewCell("cora", model, s, size)
					macro := r.Compare(plain.Masked(MaskedKeepRate), record.MacroF1, plain, record.MacroF1)
					micro := r.Compare(plain.Masked(MaskedKeepRate), record.MicroF1, plain, record.MicroF1)
					if macro.Trials < 2 {
						return Verdict{Outcome: NotRun, Figures: "not all comparisons have at least two trials"}
					}
					all++
					if macro.Difference*micro.Difference >= 0 {
						same++
					} else {
						parts = append(parts, fmt.Sprintf("%s %s %d %%: macro %+.2f, micro %+.2f", strings.ToUpper(model), s, size, macro.Difference, micro.Difference))
					}
				}
			}
		}
		return Verdict{Outcome: outcome(same == all), Figures: strings.TrimSuffix(fmt.Sprintf("%d of %d agree; %s", same, all, strings.Join(parts, "; ")), "; ")}
	}}
}

func claimsOfRegularisers(id string) []Claim {
	without := func(c record.Cell) record.Cell { return c.With(func(s *hyper.Parameters) { s.Dropout = 0 }) }
	var claims []Claim
	for _, other := range []hyper.RegulariserName{hyper.DropEdgeRegulariser, hyper.DropNodeRegulariser, hyper.DropoutRegulariser} {
		claims = append(claims, Claim{ID: id + "/" + string(other), Ours: other != hyper.DropEdgeRegulariser,
			Text: fmt.Sprintf("Node masking alone does better than %s alone, on GIN and SGAT.", other), Judge: func(r *record.Results) Verdict {
				var pairs []pair
				for _, model := range []string{"gin", "sgat"} {
					for _, s := range datasets.Settings() {
						for _, size := range fewSizes() {
							plain := record.NewCell("cora", model, s, size)
							against := without(plain.Fair()).With(func(s *hyper.Parameters) { s.Regulariser, s.RegulariserRate = other, 0.5 })
							pairs = append(pairs, pair{name: fmt.Sprintf("%s %s %d %%", strings.ToUpper(model), s, size), a: without(plain.Masked(MaskedKeepRate)), b: against, metric: record.MacroF1})
						}
					}
				}
				return judge(r, record.Comparison.Better, pairs)
			}})
	}
	return claims
}

func claimsOfModels(id string) []Claim {
	var claims []Claim
	for _, model := range []string{"gcn", "sage", "gatv2"} {
		claims = append(claims, Claim{ID: id + "/" + model, Text: fmt.Sprintf("Node masking helps %s too.", hyper.Title(model)), Judge: func(r *record.Results) Verdict {
			return judge(r, record.Comparison.Better, gains("cora", model, datasets.Settings(), fewSizes(), record.Cell.Fair))
		}})
	}
	return claims
}
