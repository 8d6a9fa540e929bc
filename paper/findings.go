package paper

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/multiverse"
	"nodemask/record"
)

// Finding is a sentence of what was found, with the command that shows what it rests on.
type Finding struct{ Text, Command string }

// Findings sums up what was found, each sentence from the evidence alone.
func Findings(artifacts []Artifact, e *Evidence) []Finding {
	all := Judge(artifacts, e)
	verdict := map[string]Judged{}
	for _, j := range all {
		verdict[j.ID] = j
	}
	// said is a claim's effect and grade.
	said := func(id string) string {
		j := verdict[id]
		if j.Effect == nil {
			return string(j.Grade)
		}
		return fmt.Sprintf("%s [%s, %s], %s", signed(j.Effect.MeanDifference, 2), unsigned(j.Effect.Low), unsigned(j.Effect.High), j.Grade)
	}
	both := func(prefix, suffix string) string {
		var parts []string
		for _, s := range datasets.Settings() {
			parts = append(parts, string(s)+" "+said(prefix+string(s)+suffix))
		}
		return strings.Join(parts, "; ")
	}
	found := []Finding{{CountText(all), "nodemask report summary"}}
	for _, s := range datasets.Settings() {
		readings, run := e.Readings("cora", "gin", s)
		if !run {
			found = append(found, Finding{"Every reading of the paper, GIN on Cora: not run yet.", "nodemask multiverse --status"})
			break
		}
		v := judgeReadings(readings, nil, publishedOverReadings("cora", "gin", s))
		text := fmt.Sprintf("GIN on Cora, %s, over %d readings", s, len(readings.All.Effects))
		if joint, err := readings.All.Joint(); err == nil {
			text += fmt.Sprintf(": median effect %s points, significantly above 0 in %.0f %%, below in %.0f %%", signed(joint.Median, 2), 100*joint.Positive, 100*joint.Negative)
		}
		if j := v.Judgement; j != nil {
			text += fmt.Sprintf("; over the %d calibrated ones: median %s, above in %.0f %%, below in %.0f %%", j.Readings, signed(j.Median, 2), 100*j.Above, 100*j.Below)
		}
		found = append(found, Finding{text + ": " + v.GradeText() + ".", "nodemask multiverse --summary"})
	}
	which := ""
	if _, run := e.Readings("cora", "gin", datasets.Inductive); run {
		which = " in the best calibrated reading"
	}
	found = append(found,
		Finding{"GIN with masking against GIN, points of macro F1 with 95 % intervals, on Cora" + which + ": " + both("table-gin-cora/gain-", "") + ".", "nodemask report table-gin-cora"},
		Finding{"On CiteSeer: " + both("table-gin-citeseer/gain-", "") + ". On PubMed: " + both("table-gin-pubmed/gain-", "") + ".", "nodemask report table-gin-citeseer table-gin-pubmed"},
		Finding{"GAT with masking on Cora, against GAT with attention dropout: " + both("table-gat/gat-", "") + "; against GAT without it, which changes one thing at a time: " + both("table-gat/gat-", "-fair") + ".", "nodemask report table-gat"},
		Finding{"Caching with masking against GIN without a cache, on Cora: " + said("table-scale-cora/exceeds") + "; on PubMed: " + said("table-scale-pubmed/exceeds") + ".", "nodemask report table-scale-cora table-scale-pubmed"},
	)
	var tuned []string
	for _, model := range multiverse.TunedModels() {
		if id := tunedID + "/" + model; verdict[id].Effect != nil {
			var on []string
			for _, t := range e.tuned {
				if title := DataTitle(t.Data); t.Model == model && !slices.Contains(on, title) {
					on = append(on, title)
				}
			}
			tuned = append(tuned, fmt.Sprintf("%s (%s) %s", hyper.Title(model), strings.Join(on, ", "), said(id)))
		}
	}
	if len(tuned) > 0 {
		found = append(found, Finding{fmt.Sprintf("Tuned alike, which is what a practitioner asks, masking against none, on %d of %d cells: %s.", len(e.tuned), len(tunedQuestions()), strings.Join(tuned, "; ")),
			"nodemask multiverse --part tuned --model all --summary"})
	}
	return found
}

// Advice says for each model what masking did to it, over data sets and settings, and what follows for who uses it. The
// comparison is with the model without attention dropout, so that masking alone differs.
func Advice(e *Evidence) []Finding {
	var all []Finding
	for _, m := range []struct {
		model, command string
		data           []string
		sizes          []int
	}{
		{"gin", "nodemask report table-gin-cora table-gin-citeseer table-gin-pubmed", []string{"cora", "citeseer", "pubmed"}, Sizes()},
		{"gat", "nodemask report table-gat table-gat-citeseer", []string{"cora", "citeseer"}, Sizes()},
		{"sgat", "nodemask report table-gat table-gat-citeseer", []string{"cora", "citeseer"}, Sizes()},
		{"gcn", "nodemask report table-models", []string{"cora"}, fewSizes()},
		{"sage", "nodemask report table-models", []string{"cora"}, fewSizes()},
		{"gatv2", "nodemask report table-models", []string{"cora"}, fewSizes()},
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
		all = append(all, Finding{hyper.Title(m.model) + ": " + advice(up, down, n), m.command})
	}
	return all
}

// advice is what follows if masking gained in some of n places, and lost in others, with 95 % intervals that leave 0 out.
func advice(up, down, n int) string {
	if n == 0 {
		return "not run yet."
	}
	places := fmt.Sprintf("of %d combinations of data set and setting masking gained in %d and lost in %d.", n, up, down)
	switch {
	case up == 0 && down == 0:
		return "expect no gain: " + places
	case down == 0:
		return "worth a try, judged by validation F1: " + places
	case up == 0:
		return "leave masking out: " + places
	}
	return "it depends; judge by validation F1: " + places
}
