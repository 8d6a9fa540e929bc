package report

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/floats"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/stats"
)

// Claim is a statement that results support or contradict.
type Claim struct {
	ID      string
	Subject string
	Text    string
	Says    string // the paper's words; "" for our claims
	// Ours marks claims that the paper does not make.
	Ours  bool
	Rule  string // how the claim is judged; "" means by docs/CLAIMS.md
	Judge func(*Evidence) Verdict
}

const (
	aboutGIN       = "GIN"
	aboutAttention = "GAT and SGAT"
	aboutMAD       = "Smoothness (MAD)"
	aboutCaching   = "Caching"
	aboutKeepRates = "Keep rate and depth"
	aboutLosses    = "Losses and scores"
	aboutBeyond    = "Beyond the paper"
)

// Subjects returns the subjects of claims in their order in reports.
func Subjects() []string {
	return []string{aboutGIN, aboutAttention, aboutMAD, aboutCaching, aboutKeepRates, aboutLosses, aboutBeyond}
}

func asIs(c record.Cell) record.Cell { return c }

func gains(data, model string, settings []datasets.Setting, sizes []int,
	against func(record.Cell) record.Cell) []comparison {
	var all []comparison
	for _, c := range plainCells(data, model, settings, sizes) {
		published := publishedGain(data, model, c.Setting, c.TrainPercent)
		if against(c).Key() != c.Key() {
			published = nil
		}
		all = append(all, between(place(c), masked(c), record.MacroF1, against(c), record.MacroF1, published))
	}
	return all
}

func publishedGain(data, model string, s datasets.Setting, size int) *float64 {
	plain, with := Published(data, model, s, size, false), Published(data, model, s, size, true)
	if plain == nil || with == nil {
		return nil
	}
	return new(*with - *plain)
}

func publishedOverReadings(data, model string, s datasets.Setting) *float64 {
	mean := 0.0
	for _, size := range judge.Sizes() {
		gain := publishedGain(data, model, s, size)
		if gain == nil {
			return nil
		}
		mean += *gain / float64(len(judge.Sizes()))
	}
	return &mean
}

const (
	saysGIN = "node masking helps boost performance across almost all splits in both the transductive and inductive " +
		"settings"
	saysCiteSeer = "The observed trends also hold for the CiteSeer dataset but we omitted it for brevity"
	saysGAT      = "GAT+NM and SGAT+NM outperform their counterparts across several splits in both the transductive and " +
		"inductive settings"
)

func inCited(data, model string, setting datasets.Setting, fair bool) func(*Evidence) Verdict {
	var published *float64
	if !fair {
		published = publishedOverReadings(data, model, setting)
	}
	return func(e *Evidence) Verdict {
		return e.judgeCited(data, model, setting, judge.Choice{Fair: fair}, judge.Contrast{}, published)
	}
}

func claimsOfGIN(id, data string) []Claim {
	var claims []Claim
	for _, setting := range datasets.Settings() {
		c := Claim{ID: id + "/gain-" + string(setting), Subject: aboutGIN, Says: saysGIN,
			Text:  fmt.Sprintf("GIN + NM beats GIN on %s, %s.", DataTitle(data), setting),
			Judge: inCited(data, "gin", setting, false)}
		switch {
		case data == "reddit" && setting == datasets.Transductive:
			continue // the paper could not run Reddit transductively
		case data == "reddit":
			c.Judge = overPairs(points, gains(data, "gin", []datasets.Setting{setting}, Sizes()[:5], asIs))
		case data == "citeseer":
			c.Says = saysCiteSeer
		}
		claims = append(claims, c)
	}
	return claims
}

func claimsOfGAT(id, data string) []Claim {
	var claims []Claim
	says := saysGAT
	if data == "citeseer" {
		says = saysCiteSeer
	}
	for _, model := range []string{"gat", "sgat"} {
		name := strings.ToUpper(model)
		for _, setting := range datasets.Settings() {
			on := fmt.Sprintf(" on %s, %s.", DataTitle(data), setting)
			of := fmt.Sprintf("%s/%s-%s", id, model, setting)
			claims = append(claims,
				Claim{ID: of, Subject: aboutAttention, Says: says, Text: name + " + NM beats " + name + on,
					Judge: inCited(data, model, setting, false)},
				Claim{ID: of + "-fair", Subject: aboutAttention, Ours: true,
					Text:  name + " + NM beats " + name + " without attention dropout" + on,
					Judge: inCited(data, model, setting, true)})
		}
	}
	return claims
}

func claimOfMoreInductively(id string) Claim {
	return Claim{ID: id + "/inductive", Subject: aboutAttention,
		Text: "The gains of GAT and SGAT are larger inductively, and for small train sets (Cora).",
		Says: "As expected, the gains are more pronounced in the inductive setting and amongst smaller sizes of the train " +
			"set",
		Rule:  "Over eight pairs of gains.",
		Judge: (*Evidence).judgeMoreInductively}
}

func (e *Evidence) judgeMoreInductively() Verdict {
	v := Verdict{Unit: points, command: "nodemask report cited --data cora"}
	const ten, fifty, ninety = 0, 2, 3 // indices in judge.Sizes
	var all [][]float64
	for _, model := range []string{"gat", "sgat"} {
		gain := map[datasets.Setting][][]float64{}
		for _, setting := range datasets.Settings() {
			a, err := judge.Ask(e.cited, leadingData, model, setting, judge.Choice{}, judge.Contrast{})
			if err != nil {
				return notRun("%v", err)
			}
			if !a.Complete() {
				return notRun("%d of %d splits of %s, %s", a.Splits, judge.Splits, model, setting)
			}
			gain[setting] = a.Effect.Differences
		}
		in, trans := gain[datasets.Inductive], gain[datasets.Transductive]
		for _, pair := range [][2][]float64{{in[ten], trans[ten]}, {in[fifty], trans[fifty]}, {in[ten], in[ninety]},
			{trans[ten], trans[ninety]}} {
			all = append(all, floats.SubTo(make([]float64, len(pair[0])), pair[0], pair[1]))
		}
		v.files = append(v.files, trialsFile(SecondFolder, leadingData, model))
	}
	pooled, err := stats.Pooled(all)
	if err != nil {
		return notRun("%v", err)
	}
	if err := v.gradeCited(all, pooled, pooled.P, 0); err != nil {
		return notRun("%v", err)
	}
	v.Figures = fmt.Sprintf("%s, significant in %s, %d the other way", v.EffectText(), v.Strict(), v.Against)
	return v
}

func claimsOfRegularisers(id string) []Claim {
	var claims []Claim
	for _, other := range regularisers() {
		var all []comparison
		for _, model := range []string{"gin", "sgat"} {
			for _, c := range fewCells(model) {
				all = append(all, between(strings.ToUpper(model)+" "+place(c), withoutDropout(masked(c)), record.MacroF1,
					other.of(c), record.MacroF1, nil))
			}
		}
		claims = append(claims, Claim{ID: id + "/" + strings.ToLower(other.name), Subject: aboutBeyond, Ours: true,
			Text:  fmt.Sprintf("Node masking alone beats %s alone, on GIN and SGAT (Cora).", other.name),
			Judge: overPairs(points, all)})
	}
	return claims
}

func claimsOfModels(id string) []Claim {
	var claims []Claim
	for _, model := range []string{"gcn", "sage", "gatv2"} {
		claims = append(claims, Claim{ID: id + "/" + model, Subject: aboutBeyond, Ours: true,
			Text:  fmt.Sprintf("Node masking helps %s too (Cora).", hyper.Title(model)),
			Judge: overPairs(points, gains("cora", model, datasets.Settings(), fewSizes(), record.Cell.Fair))})
	}
	return claims
}
