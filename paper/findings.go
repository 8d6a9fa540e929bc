package paper

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/multiverse"
	"nodemask/record"
	"nodemask/stats"
)

// Finding is a sentence of what was found, with the command that shows what it rests on.
type Finding struct{ Text, Command string }

// Findings sums up what was found, each sentence from the evidence alone. The grades of all claims stand in [Summary].
func Findings(artifacts []Artifact, e *Evidence) []Finding {
	all := Judge(artifacts, e)
	verdict := map[string]Judged{}
	for _, j := range all {
		verdict[j.ID] = j
	}
	both := func(prefix, suffix string) string {
		var parts []string
		for _, s := range datasets.Settings() {
			parts = append(parts, effectOr(verdict[prefix+string(s)+suffix].Verdict)+" "+string(s))
		}
		return strings.Join(parts, ", ")
	}
	found := []Finding{{CountText(all), "nodemask report summary"}}
	found = append(found, findingOverReadings(e))
	which, same := "", ""
	if _, run := e.Readings("cora", "gin", datasets.Inductive); run {
		which, same = ", in the reading that comes nearest to the paper's plain columns", ", in the same reading"
	}
	graded := func(id string) string {
		v := verdict[id].Verdict
		if v.Effect == nil {
			return string(v.Grade)
		}
		return fmt.Sprintf("%s (%s)", effectOr(v), v.Grade)
	}
	found = append(found,
		Finding{fmt.Sprintf("GIN + NM against GIN%s, in points of macro F1 with 95 %% intervals: on Cora %s; on CiteSeer %s; on PubMed %s.", which, both("table-gin-cora/gain-", ""), both("table-gin-citeseer/gain-", ""), both("table-gin-pubmed/gain-", "")),
			"nodemask report summary"},
		Finding{fmt.Sprintf("GAT + NM, which has no attention dropout, against GAT with it, on Cora: %s; against GAT without it, so that masking alone differs: %s.", both("table-gat/gat-", ""), both("table-gat/gat-", "-fair")), "nodemask report summary"},
		Finding{fmt.Sprintf("Predicting new nodes from the cache with masking against GIN without either%s: on Cora %s; on PubMed %s.", same, graded("table-scale-cora/exceeds"), graded("table-scale-pubmed/exceeds")),
			"nodemask report summary"},
	)
	if text := tunedGains(e, func(model string) Verdict { return verdict[tunedID+"/"+model].Verdict }); text != "" {
		for _, other := range tunedOthers() {
			text += fmt.Sprintf("; against %s tuned alike, over all models, %s", other.name, effectOr(verdict[tunedID+"/"+other.id].Verdict))
		}
		found = append(found, Finding{text + ".", "nodemask multiverse --part tuned --data all --model all --summary"})
	}
	return found
}

// tunedGains says what masking changes in each model of the tuned comparison, and on which data: once, if it is the same for all.
func tunedGains(e *Evidence, verdict func(model string) Verdict) string {
	var models, on []string
	for _, model := range multiverse.TunedModels() {
		if verdict(model).Effect != nil {
			models, on = append(models, model), append(on, e.tunedOn(model))
		}
	}
	if len(models) == 0 {
		return ""
	}
	same := len(slices.Compact(slices.Clone(on))) == 1
	text := fmt.Sprintf("Tuned with the same budget, p among the rest, masking against none, on %d of %d cells", len(e.tuned), len(multiverse.TunedQuestions(nil, nil)))
	if same {
		text += " (" + on[0] + ")"
	}
	var gains []string
	for i, model := range models {
		gain := hyper.Title(model) + " " + effectOr(verdict(model))
		if !same {
			gain += " (" + on[i] + ")"
		}
		gains = append(gains, gain)
	}
	return text + ": " + strings.Join(gains, ", ")
}

// findingOverReadings says in how many readings of the paper masking helps GIN on Cora.
func findingOverReadings(e *Evidence) Finding {
	var all, calibrated []string
	depends := true
	for _, s := range datasets.Settings() {
		readings, run := e.Readings("cora", "gin", s)
		if !run {
			return Finding{"Every reading of the paper, GIN on Cora: not run yet.", "nodemask multiverse --status"}
		}
		v := judgeReadings(readings, nil, publishedOverReadings("cora", "gin", s))
		depends = depends && v.Grade == multiverse.Depends
		if joint, err := readings.All.Joint(); err == nil {
			all = append(all, fmt.Sprintf("in %.0f %% and %.0f %% (%s, %d readings)", 100*joint.Positive, 100*joint.Negative, s, len(readings.All.Effects)))
		}
		if j := v.Judgement; j != nil {
			calibrated = append(calibrated, fmt.Sprintf("in %.0f %% and %.0f %% (%s, %d)", 100*j.Above, 100*j.Below, s, j.Readings))
		}
	}
	text := "On Cora, over every reading of the paper, masking in GIN "
	if depends {
		text = "Whether masking helps GIN on Cora depends on choices that the paper leaves open: over every reading of it masking "
	}
	text += "gains and loses significantly " + strings.Join(all, ", ")
	if len(calibrated) > 0 {
		text += "; over those whose plain columns are nearest to the published ones " + strings.Join(calibrated, ", ")
	}
	return Finding{text + ".", "nodemask multiverse --summary"}
}

// effectOr is a verdict's effect with its interval, "+0.16 [−0.20, 0.52]", or its grade where there is none.
func effectOr(v Verdict) string {
	if v.Effect == nil {
		return string(v.Grade)
	}
	return fmt.Sprintf("%s [%s, %s]", signed(v.Effect.MeanDifference, 2), unsigned(v.Effect.Low), unsigned(v.Effect.High))
}

// Advice is what follows for who uses masking.
type Advice struct {
	// Tuned has a sentence for each model of which a cell of the tuned comparison has been run: what masking gains where p is
	// tuned by validation F1, and every other arm with the same budget.
	Tuned []Finding
	// Untuned has a sentence for each model: what masking at p = 0.5 does to it in the reading of the tables. The comparison is
	// with the model without attention dropout, so that masking alone differs.
	Untuned []Finding
}

// NewAdvice reads advice off the evidence.
func NewAdvice(e *Evidence) Advice {
	var a Advice
	for _, model := range multiverse.TunedModels() {
		against := func(arm string) Verdict {
			return claimOfTuned("", "", multiverse.ArmMaskedTuned, arm, model).Judge(e)
		}
		v := against(multiverse.ArmPlain)
		if v.Effect == nil {
			continue
		}
		cells := fmt.Sprintf("%d cells", v.Of)
		if v.Of == 1 {
			cells = "1 cell"
		}
		text := fmt.Sprintf("%s: %s: %s points over %s (%s), significantly more in %d, less in %d", hyper.Title(model), tunedAdvice(*v.Effect), effectOr(v), cells, e.tunedOn(model), v.Holds, v.Against)
		for _, other := range tunedOthers() {
			text += fmt.Sprintf("; against %s tuned alike %s", other.name, effectOr(against(other.arm)))
		}
		if p, times := e.tunedKeepRate(model); times > 0 {
			text += fmt.Sprintf("; validation F1 chose p = %s most often (%d of %d)", p, times, v.Of)
		}
		a.Tuned = append(a.Tuned, Finding{text + ".", "nodemask multiverse --part tuned --data all --summary --model " + model})
	}
	for _, m := range []struct {
		model string
		data  []string
		sizes []int
	}{
		{"gin", []string{"cora", "citeseer", "pubmed"}, Sizes()},
		{"gat", []string{"cora", "citeseer"}, Sizes()},
		{"sgat", []string{"cora", "citeseer"}, Sizes()},
		{"gcn", []string{"cora"}, fewSizes()},
		{"sage", []string{"cora"}, fewSizes()},
		{"gatv2", []string{"cora"}, fewSizes()},
	} {
		up, down, n := 0, 0, 0
		for _, data := range m.data {
			for _, s := range datasets.Settings() {
				effect, found := pooled(e.Records, gains(data, m.model, []datasets.Setting{s}, m.sizes, record.Cell.Fair))
				if !found {
					continue
				}
				n++
				switch {
				case effect.Low > 0:
					up++
				case effect.High < 0:
					down++
				}
			}
		}
		a.Untuned = append(a.Untuned, Finding{hyper.Title(m.model) + ": " + untunedAdvice(up, down, n), "nodemask report effects"})
	}
	return a
}

// tunedAdvice is what follows from the pooled effect of masking with p tuned.
func tunedAdvice(effect stats.TTest) string {
	switch {
	case effect.Low > 0:
		return "worth a try"
	case effect.High < 0:
		return "leave masking out"
	}
	return "expect no gain"
}

// untunedAdvice is what masking did in n places, in some of which it gained or lost with 95 % intervals that leave 0 out.
func untunedAdvice(up, down, n int) string {
	if n == 0 {
		return "not run yet."
	}
	return fmt.Sprintf("of %d combinations of data set and setting it gained in %d and lost in %d.", n, up, down)
}
