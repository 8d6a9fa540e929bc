package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodemask/internal/multiverse"
	"nodemask/nmgnn/hyper"
	"nodemask/plots"
	"nodemask/record"
	"nodemask/stats"
)

// tunedID is the ID of the table of the protocol's tuned comparison.
const tunedID = "table-tuned"

// tunedOther is an arm that masking is compared with beside the plain one.
type tunedOther struct{ id, arm, name string }

func tunedOthers() []tunedOther {
	return []tunedOther{{"dropedge", multiverse.ArmDropEdge, "DropEdge"}, {"dropout", multiverse.ArmDropout, "dropout"}}
}

// tunedOn lists the data sets on which a cell of the tuned comparison of a model has been run.
func (e *Evidence) tunedOn(model string) string {
	var on []string
	for _, t := range e.tuned() {
		if title := DataTitle(t.Data); t.Model == model && !slices.Contains(on, title) {
			on = append(on, title)
		}
	}
	return strings.Join(on, ", ")
}

// tunedKeepRate is the keep rate that validation F1 chose most often for a model, the largest of several, and how
// often.
func (e *Evidence) tunedKeepRate(model string) (p string, times int) {
	chosen := map[string]int{}
	for _, t := range e.tuned() {
		for _, arm := range t.Arms {
			if t.Model == model && arm.Name == multiverse.ArmMaskedTuned {
				chosen[arm.Chosen["keep"]]++
			}
		}
	}
	for _, rate := range slices.Sorted(maps.Keys(chosen)) {
		if chosen[rate] >= times {
			p, times = rate, chosen[rate]
		}
	}
	return p, times
}

func tableTuned() Artifact {
	return Artifact{ID: tunedID, Title: "The same budget of tuning for every arm",
		Labels: []string{"model", "data, setting, train"}, Columns: multiverse.TunedArms(), Tuned: true,
		About: "For each arm the best of twelve configurations by validation F1 on three splits, run once on twenty fresh " +
			"ones. Bold: significantly above the plain model."}
}

// tunedTable shows what of the tuned comparison has been run.
func (e *Evidence) tunedTable(a Artifact) (plots.Table, error) {
	t := plots.Table{ID: a.ID, Title: a.Title, Caption: a.About, Header: slices.Concat(a.Labels, a.Columns),
		TextColumns: len(a.Labels), Sections: true}
	for _, q := range e.tuned() {
		row := []plots.Field{{Text: hyper.Title(q.Model)}, {Text: fmt.Sprintf("%s, %s, %d %%", DataTitle(q.Data), q.Setting,
			q.TrainPercent)}}
		for _, arm := range q.Arms {
			field := plots.Field{Text: stats.Summarize(arm.F1).Text(2), Note: arm.Words()}
			if plain := q.Arms[0]; arm.Name != plain.Name {
				test, err := stats.PairedTTest(arm.F1, plain.F1)
				if err != nil {
					return t, err
				}
				field.Bold = test.P < 0.05 && test.MeanDifference > 0
				field.Note += fmt.Sprintf("; %s against plain, p %s", signed(test.MeanDifference, 2), stats.ProbabilityText(test.P))
			}
			row = append(row, field)
		}
		t.Rows = append(t.Rows, row)
	}
	if n := len(multiverse.TunedQuestions(nil, nil)); len(e.tuned()) < n {
		t.Caption += fmt.Sprintf(" Run so far: %d of %d rows.", len(e.tuned()), n)
	}
	return t, nil
}

// tuned are the cells of the tuned comparison that every arm has run.
func tuned(results *multiverse.Results) ([]multiverse.Tuned, error) {
	var all []multiverse.Tuned
	for _, q := range multiverse.TunedQuestions(nil, nil) {
		t, err := results.Tuned(q)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(t.Arms, func(arm multiverse.TunedArm) bool { return arm.F1 == nil }) {
			all = append(all, t)
		}
	}
	return all, nil
}

func claimsOfTuned(id string) []Claim {
	var claims []Claim
	for _, model := range multiverse.TunedModels() {
		claims = append(claims, claimOfTuned(id+"/"+model, fmt.Sprintf("With the same budget of tuning, %s + NM beats %[1]s.",
			hyper.Title(model)), multiverse.ArmMaskedTuned, multiverse.ArmPlain, model))
	}
	for _, other := range tunedOthers() {
		claims = append(claims, claimOfTuned(id+"/"+other.id, fmt.Sprintf("With the same budget of tuning, node masking "+
			"beats %s, over all models.", other.name), multiverse.ArmMaskedTuned, other.arm, multiverse.TunedModels()...))
	}
	return claims
}

// claimOfTuned compares two arms of the tuned comparison of models, over all of its cells that have been run.
func claimOfTuned(id, text, arm, against string, models ...string) Claim {
	return Claim{ID: id, Subject: aboutBeyond, Ours: true, Text: text,
		Rule: "Over the cells of the tuned comparison that have been run, on twenty fresh splits, as differences are.",
		Judge: func(e *Evidence) Verdict {
			var all []comparison
			var files []string
			for _, q := range e.tuned() {
				if !slices.Contains(models, q.Model) {
					continue
				}
				files = append(files, trialsFile(MultiverseFolder, q.Data, q.Model))
				all = append(all, comparison{name: fmt.Sprintf("%s on %s, %s %d %%", hyper.Title(q.Model), DataTitle(q.Data),
					q.Setting, q.TrainPercent), differences: func(*record.Results) []record.Difference {
					return tunedDifferences(q, arm, against)
				}})
			}
			if len(all) == 0 {
				return notRun("no cell of the tuned comparison has all arms")
			}
			v := judge(e.Records, points, all)
			v.command, v.files = "nodemask multiverse --part tuned --data all --model all", files
			return v
		}}
}

// tunedDifferences subtracts one arm's F1 from another's, by fresh split.
func tunedDifferences(q multiverse.Tuned, arm, against string) []record.Difference {
	var all []record.Difference
	for i, d := range q.Differences(arm, against) {
		all = append(all, record.Difference{Seed: uint64(i + 1), Value: d})
	}
	return all
}
