package evidence

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/internal/multiverse"
	"nodemask/nmgnn/hyper"
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
	found := []Finding{{CountText(all), "nodemask report summary"}}
	graded := func(id string) string {
		v := verdict[id].Verdict
		if v.Effect == nil {
			return string(v.Grade)
		}
		return fmt.Sprintf("%s (%s)", effectOr(v), v.Grade)
	}
	found = append(found, Finding{fmt.Sprintf("Predicting new nodes from the cache with masking against GIN without "+
		"either: on Cora %s; on PubMed %s.", graded("table-scale-cora/exceeds"), graded("table-scale-pubmed/exceeds")),
		"nodemask report summary"})
	if text := tunedGains(e, func(model string) Verdict { return verdict[tunedID+"/"+model].Verdict }); text != "" {
		for _, other := range tunedOthers() {
			text += fmt.Sprintf("; against %s tuned alike, over all models, %s", other.name,
				effectOr(verdict[tunedID+"/"+other.id].Verdict))
		}
		found = append(found, Finding{text + ".", "nodemask multiverse --part tuned --data all --model all --summary"})
	}
	return found
}

// tunedGains says what masking changes in each model of the tuned comparison, and on which data: once, if it is the
// same for all.
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
	text := fmt.Sprintf("Tuned with the same budget, p among the rest, masking against none, on %d of %d cells",
		len(e.tuned()), len(multiverse.TunedQuestions(nil, nil)))
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

// effectOr is a verdict's effect with its interval, "+0.16 [−0.20, 0.52]", or its grade where there is none.
func effectOr(v Verdict) string {
	if v.Effect == nil {
		return string(v.Grade)
	}
	return fmt.Sprintf("%s [%s, %s]", signed(v.Effect.MeanDifference, 2), unsigned(v.Effect.Low, 2),
		unsigned(v.Effect.High, 2))
}

// Advice returns what follows for who uses masking: a sentence for each model of which a cell of the tuned comparison
// has been run. It says what masking gains where p is tuned by validation F1, and every other arm with the same budget.
func Advice(e *Evidence) []Finding {
	var all []Finding
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
		body := ""
		if model == "gin" {
			body = " (with one linear layer, not normalised)"
		}
		text := fmt.Sprintf("%s%s: %s: %s points over %s (%s), significantly more in %d, less in %d", hyper.Title(model),
			body, tunedAdvice(*v.Effect), effectOr(v), cells, e.tunedOn(model), v.Holds, v.Against)
		for _, other := range tunedOthers() {
			text += fmt.Sprintf("; against %s tuned alike %s", other.name, effectOr(against(other.arm)))
		}
		if p, times := e.tunedKeepRate(model); times > 0 {
			text += fmt.Sprintf("; validation F1 chose p = %s most often (%d of %d)", p, times, v.Of)
		}
		all = append(all, Finding{text + ".", "nodemask multiverse --part tuned --data all --summary --model " + model})
	}
	return all
}

// tunedAdvice is what follows from the pooled effect of masking with p tuned.
func tunedAdvice(effect stats.TTest) string {
	if effect.Low > 0 {
		return "worth a try"
	}
	return "expect no gain"
}
