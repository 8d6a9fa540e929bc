package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodemask/internal/multiverse"
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
	for _, id := range []string{balancedID, tunedID} {
		text := tunedGains(e, id, func(claim string) Verdict { return verdict[claim].Verdict })
		if text == "" {
			continue
		}
		for _, other := range tunedOthers() {
			text += fmt.Sprintf("; against %s tuned alike, over all these, %s", other.name,
				effectOr(verdict[id+"/"+other.id].Verdict))
		}
		text += e.againstAdded(id, e.tuned(id).Protocol().Models...)
		found = append(found, Finding{text + ".", e.tuned(id).command("--model all --summary")})
	}
	return found
}

// tunedGains says what masking changes in each model of a tuned comparison, and on which data: once, if it is the same
// for all.
func tunedGains(e *Evidence, id string, verdict func(claim string) Verdict) string {
	c := e.tuned(id)
	asked := c.Protocol()
	var gains, on []string
	for i, model := range asked.Models {
		if v := verdict(claimsOfTuned(id)[i].ID); v.Effect != nil {
			gains, on = append(gains, model.Title()+" "+effectOr(v)), append(on, c.on(model))
		}
	}
	if len(gains) == 0 {
		return ""
	}
	text := fmt.Sprintf("Tuned with the same %s, p among the rest, masking against none, on %d of %d cells", c.alike,
		len(c.having(multiverse.ArmPlain, asked.Models)), len(asked.Questions()))
	if len(slices.Compact(slices.Clone(on))) == 1 {
		return text + " (" + on[0] + "): " + strings.Join(gains, ", ")
	}
	for i := range gains {
		gains[i] += " (" + on[i] + ")"
	}
	return text + ": " + strings.Join(gains, ", ")
}

// effectOr is a verdict's effect with its interval, "+0.16 [−0.20, 0.52]", or its grade where there is none.
func effectOr(v Verdict) string {
	if v.Effect == nil {
		return string(v.Grade)
	}
	return intervalText(*v.Effect, 2)
}

// Advice returns what follows for who uses masking: a sentence for each model and body of which a cell of a tuned
// comparison has been run; of a model that the balanced one has, from that alone. It says what masking gains where p is
// tuned by validation F1, and every other arm alike.
func Advice(e *Evidence) []Finding {
	var all []Finding
	advised := map[string]bool{}
	for _, id := range []string{balancedID, tunedID} {
		c := e.tuned(id)
		before := maps.Clone(advised)
		for _, model := range c.Models {
			if text := e.advice(id, model); text != "" && !before[model.Name] {
				advised[model.Name] = true
				all = append(all, Finding{text, c.command("--summary --model " + model.Name)})
			}
		}
	}
	return all
}

// advice says what follows from a comparison for a model; "" if none of its cells has been run.
func (e *Evidence) advice(id string, model multiverse.TunedModel) string {
	c := e.tuned(id)
	v := e.judgeTuned(id, multiverse.ArmPlain, model)
	if v.Effect == nil {
		return ""
	}
	cells := fmt.Sprintf("%d cells", v.Of)
	if v.Of == 1 {
		cells = "1 cell"
	}
	name := model.Title()
	if id == tunedID && model.Name == "gin" {
		name += " with one linear layer, not normalised"
	}
	advice, others := "expect no gain", ""
	if v.Effect.Low > 0 {
		advice = "worth a try"
	}
	for _, other := range tunedOthers() {
		beside := e.judgeTuned(id, other.arm, model)
		others += fmt.Sprintf("; against %s tuned alike %s", other.name, effectOr(beside))
		if v.Effect.Low > 0 && beside.Effect != nil && beside.Effect.High < 0 {
			advice = "better than nothing, but try " + other.name + " first"
		}
	}
	text := fmt.Sprintf("%s: %s: %s points over %s (%s), significantly more in %d, less in %d", name, advice, effectOr(v),
		cells, c.on(model), v.Holds, v.Against) + others + e.againstAdded(id, model)
	if p, times := c.keepRate(model); times > 0 {
		text += fmt.Sprintf("; validation F1 chose p = %s most often (%d of %d)", p, times, v.Of)
	}
	return text + "."
}
