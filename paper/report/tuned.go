package report

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

const (
	tunedID    = "table-tuned"
	balancedID = "table-balanced"
)

type tunedComparison struct {
	judge.Design
	cells  []judge.Tuned
	folder string
}

func comparisonOf(id string) tunedComparison {
	if id == balancedID {
		return tunedComparison{Design: judge.BalancedDesign(), folder: SecondFolder}
	}
	return tunedComparison{Design: judge.DrawnDesign(), folder: FirstFolder}
}

func (e *Evidence) tuned(id string) tunedComparison {
	return once(e.comparisons, id, func() tunedComparison {
		c, results := comparisonOf(id), e.all
		if id == balancedID {
			results = e.cited
		}
		for _, q := range c.Questions() {
			begun, err := c.Begun(results, q)
			var t judge.Tuned
			if begun {
				t, err = c.Tuned(results, q)
			}
			e.fail(err)
			if err == nil && t.Complete {
				c.cells = append(c.cells, t)
			}
		}
		return c
	})
}

func (c tunedComparison) having(arm string, models ...judge.TunedModel) []judge.Tuned {
	return slices.DeleteFunc(slices.Clone(c.cells), func(t judge.Tuned) bool {
		return !slices.Contains(models, t.Model) || !slices.ContainsFunc(t.Arms, func(a judge.TunedArm) bool {
			return a.Name == arm && a.F1 != nil
		})
	})
}

func (c tunedComparison) added() []string {
	return slices.DeleteFunc(slices.Clone(c.Added), func(arm string) bool { return len(c.having(arm, c.Models...)) == 0 })
}

type tunedOther struct{ id, arm, name string }

func tunedOthers() []tunedOther {
	return []tunedOther{{"dropedge", judge.ArmDropEdge, "DropEdge"}, {"dropout", judge.ArmDropout, "dropout"}}
}

const chosenByThree = "Three splits choose the configurations, and three are few: part of a gain may make up for a bad " +
	"choice (docs/REPRODUCTION.md)."

func tableTuned(id string) Artifact {
	a := Artifact{ID: id, Title: "The same budget of tuning for every arm", Tuned: true, Claims: claimsOfTuned(id),
		Labels: []string{"model", "data, setting, train"}, Columns: comparisonOf(id).Arms,
		About: "For each arm the best of twelve configurations by validation F1 on three splits, run once on twenty fresh " +
			"ones."}
	if id == balancedID {
		a.Title = "The same configurations for every arm"
		a.About = "For each arm the best by validation F1 on three splits of the same sixteen configurations, and of these " +
			"crossed with its own rate, run once on twenty fresh ones; no attention dropout. " + chosenByThree
	}
	a.About += " Bold: significantly above the plain model, or with ↓ below it."
	return a
}

func (e *Evidence) tunedTable(a Artifact) (plots.Table, error) {
	c := e.tuned(a.ID)
	arms := slices.Concat(a.Columns, c.added())
	t := plots.Table{ID: a.ID, Title: a.Title, Caption: a.About, Header: slices.Concat(a.Labels, arms),
		TextColumns: len(a.Labels), Sections: true}
	for _, q := range c.cells {
		row := []plots.Field{{Text: q.Model.Title()}, {Text: fmt.Sprintf("%s, %s, %d %%", DataTitle(q.Data), q.Setting,
			q.TrainPercent)}}
		for _, arm := range q.Arms {
			switch {
			case !slices.Contains(arms, arm.Name):
				continue
			case arm.F1 == nil:
				row = append(row, plots.Field{Text: "–"})
				continue
			}
			field := plots.Field{Text: stats.Summarize(arm.F1).Text(2), Note: arm.Words()}
			if plain := q.Arms[0]; arm.Name != plain.Name {
				test, err := stats.PairedTTest(arm.F1, plain.F1)
				if err != nil {
					return t, err
				}
				field.Bold, field.Down = test.P < significant, test.MeanDifference < 0
				field.Note += fmt.Sprintf("; %s against plain, p %s", plots.Signed(test.MeanDifference, 2), stats.ProbabilityText(test.P))
			}
			row = append(row, field)
		}
		t.Rows = append(t.Rows, row)
	}
	if added := c.added(); len(added) > 0 {
		t.Caption += fmt.Sprintf(" Added later, exploratory (paper/ADDITIONS.md): %s.", strings.Join(added, "; "))
	}
	if n := len(c.Questions()); len(c.cells) < n {
		t.Caption += fmt.Sprintf(" Run so far: %d of %d rows.", len(c.cells), n)
	}
	return t, nil
}

func claimsOfTuned(id string) []Claim {
	models, budget := comparisonOf(id).Protocol().Models, "With the same budget of tuning"
	if id == balancedID {
		budget = "With the same configurations for every arm"
	}
	var claims []Claim
	for _, model := range models {
		name, text := model.Name, fmt.Sprintf("%s, %s + NM beats %[2]s", budget, hyper.Title(model.Name))
		if model.With != "" {
			name += "-" + strings.ReplaceAll(model.With, " ", "-")
			text += ", both with " + model.With
		}
		claims = append(claims, claimOfTuned(id, name, text+".", judge.ArmPlain, model))
	}
	for _, other := range tunedOthers() {
		text := fmt.Sprintf("%s, node masking beats %s, over all models.", budget, other.name)
		claims = append(claims, claimOfTuned(id, other.id, text, other.arm, models...))
	}
	return claims
}

func claimOfTuned(table, name, text, against string, models ...judge.TunedModel) Claim {
	rule := "Over the cells of the tuned comparison that have been run, on twenty fresh splits."
	if table == balancedID {
		rule += " " + chosenByThree
	}
	return Claim{ID: table + "/" + name, Subject: aboutBeyond, Ours: true, Text: text, Rule: rule,
		Judge: func(e *Evidence) Verdict { return e.judgeTuned(table, against, models...) }}
}

func (e *Evidence) judgeTuned(table, against string, models ...judge.TunedModel) Verdict {
	var all []comparison
	var files []string
	c := e.tuned(table)
	for _, q := range c.having(against, models...) {
		files = append(files, trialsFile(c.folder, q.Data, q.Model.Name))
		name := fmt.Sprintf("%s on %s, %s %d %%", q.Model.Title(), DataTitle(q.Data), q.Setting, q.TrainPercent)
		all = append(all, comparison{name: name, differences: func(*record.Results) (all []difference) {
			for i, d := range q.Differences(judge.ArmMaskedTuned, against) {
				all = append(all, difference{uint64(i + 1), d})
			}
			return all
		}})
	}
	if len(all) == 0 {
		return notRun("no cell of the tuned comparison has all arms")
	}
	v := judgePairs(e.Records, points, all)
	v.files = files
	return v
}
