package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

// AnswersID is the ID of the table [Evidence.AnswersTable], gainsID that of the figure [Evidence.Gains].
const (
	AnswersID = "answers"
	gainsID   = "gains"
)

// leadingData is the data set on which the paper runs all models.
const leadingData = "cora"

func (e *Evidence) grid() ([][]judge.Answer, error) {
	if e.answers == nil {
		var err error
		if e.answers, err = judge.Answers(e.cited, judge.Rows()); err != nil {
			return nil, err
		}
	}
	return e.answers, nil
}

// Answers returns masking's effects in the main interpretation of the paper, the cited reading of PROTOCOL-2.md.
func (e *Evidence) Answers() (all []judge.Answer, err error) {
	grid, err := e.grid()
	if err != nil {
		return nil, err
	}
	for i, row := range judge.Rows() {
		if row.Choice == (judge.Choice{}) {
			all = append(all, grid[i]...)
		}
	}
	return all, nil
}

func find(answers []judge.Answer, data string, s datasets.Setting) judge.Answer {
	return answers[slices.IndexFunc(answers, func(a judge.Answer) bool { return a.Data == data && a.Setting == s })]
}

func nodesOf(s datasets.Setting) string {
	if s == datasets.Inductive {
		return "new nodes"
	}
	return "known nodes"
}

func fairChoices() map[string]judge.Choice {
	return map[string]judge.Choice{"gin": {StopF1: true}, "gat": {Fair: true}}
}

func arms(q judge.Question, size int) (plain, masked record.Cell, err error) {
	for arm, into := range map[judge.Arm]*record.Cell{judge.Plain: &plain, judge.Masked: &masked} {
		if *into, err = q.Readings[0].Cell(q.Axes, arm, q.Data, q.Model, q.Setting, size); err != nil {
			return plain, masked, err
		}
	}
	return plain, masked, nil
}

var gainsCells = sync.OnceValue(func() (all []record.Cell) {
	for _, setting := range datasets.Settings() {
		for model, fair := range fairChoices() {
			q, err := judge.QuestionOf(judge.Cited, leadingData, model, setting)
			for _, choice := range []judge.Choice{{}, fair} {
				for _, size := range q.Sizes {
					plain, masked, wrong := arms(choice.On(q), size)
					if err = cmp.Or(err, wrong); err != nil {
						panic(err)
					}
					all = append(all, plain, masked)
				}
			}
		}
	}
	return record.Merged(all)
})

// Gains draws masking's gain on Cora by train set size, for GIN and GAT in both settings: as published, in the cited
// reading (PROTOCOL-2.md), and in fair training (all GINs stop on validation F1, no GAT has attention dropout).
func (e *Evidence) Gains() (plots.Panels, error) {
	p := plots.Panels{ID: gainsID, Title: "What masking adds to macro F1 on Cora", OneScale: true, Width: 400,
		XLabel: "% to train on", YLabel: "points",
		Caption: fmt.Sprintf("Means of %d splits. New nodes arrive after training (inductive), known nodes lack only their "+
			"class in training (transductive). Fair: GIN stops on validation F1, GAT has no attention dropout, both with "+
			"masking and without; GIN's was added after first results were seen.", judge.Splits)}
	for _, setting := range datasets.Settings() {
		var row []plots.Chart
		for model, fair := range fairChoices() {
			c := plots.Chart{ID: fmt.Sprintf("%s-%s-%s", gainsID, model, setting), Title: hyper.Title(model) + ", " +
				nodesOf(setting)}
			for _, of := range []struct {
				name   string
				choice judge.Choice
			}{{"rerun", judge.Choice{}}, {"fair", fair}} {
				a, err := judge.Ask(e.cited, leadingData, model, setting, of.choice, judge.Contrast{})
				if err != nil {
					return p, err
				}
				gains, err := a.BySize()
				if err != nil {
					return p, err
				}
				s := plots.Series{Name: of.name}
				for i, g := range gains {
					s.X, s.Y = append(s.X, float64(g.TrainPercent)), append(s.Y, g.Mean)
					plain, masked, err := arms(a.Question, a.Sizes[i])
					if err != nil {
						return p, err
					}
					s.Cells = append(s.Cells, Chosen(masked)+"\n"+Chosen(plain))
					s.Notes = append(s.Notes, Described(e.Records, masked, plain))
				}
				if len(s.X) > 0 {
					c.Series = append(c.Series, s)
				}
			}
			theirs := plots.Series{Name: "printed", Reference: true, Scattered: true}
			for _, size := range Sizes() {
				if gain := publishedGain(leadingData, model, setting, size); gain != nil {
					theirs.X, theirs.Y = append(theirs.X, float64(size)), append(theirs.Y, *gain)
				}
			}
			c.Series = append(c.Series, theirs)
			row = append(row, c)
		}
		slices.SortFunc(row, func(a, b plots.Chart) int { return strings.Compare(b.ID, a.ID) }) // GIN before GAT
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

func rowTitle(row judge.Row) string {
	title := hyper.Title(row.Model)
	switch {
	case row.Choice.Fair:
		title += " against no attention dropout"
	case row.Model != "gin":
		title += " against attention dropout"
	case row.Choice != (judge.Choice{}):
		title += " with " + row.Choice.String()
	}
	if row.Exploratory {
		title += "†"
	}
	return title
}

// Grid returns the table of verdicts on masking's effect, by model, data set and setting.
func (e *Evidence) Grid() (t plots.Table, err error) {
	grid, err := e.grid()
	if err != nil {
		return t, err
	}
	t = plots.Table{ID: "grid", Header: []string{"masking in"}}
	for _, a := range grid[0] {
		t.Header = append(t.Header, DataTitle(a.Data)+", "+strings.TrimSuffix(nodesOf(a.Setting), " nodes"))
	}
	t.TextColumns = len(t.Header)
	for i, row := range judge.Rows() {
		fields := []plots.Field{{Text: rowTitle(row)}}
		for _, a := range grid[i] {
			fields = append(fields, plots.Field{Text: string(a.Verdict), Note: effectNote(a)})
		}
		t.Rows = append(t.Rows, fields)
	}
	return t, nil
}

func effectNote(a judge.Answer) string {
	note := fmt.Sprintf("%d of %d splits", a.Splits, judge.Splits)
	if a.Effect != nil {
		note = strings.Replace(intervalText(a.Effect.Pooled, 2), " [", " points [", 1) + ", " + note
	}
	return note
}

// AnswersTable returns masking's effects in each interpretation of the paper in [judge.Choices], next to the published
// gains. Each effect is a mean over train set sizes.
func (e *Evidence) AnswersTable() (plots.Table, error) {
	t := plots.Table{ID: AnswersID, Title: "What node masking changes in the cited reading", Sections: true,
		Header: []string{"model", "data, setting", "splits", "effect [95 %]", "p (Holm)", "verdict", "paper", "all edges",
			"own term masked", "both"}}
	t.TextColumns = len(t.Header)
	t.Caption = "Points of macro F1, mean over 10, 25, 50 and 90 % to train on. The cited reading: new nodes bring " +
		"their edges to train nodes, a masked node keeps its own term; beside it the other choices, in words if they " +
		"help or hurt."
	primary, err := e.Answers()
	if err != nil {
		return t, err
	}
	var others [][]judge.Answer
	for _, choice := range judge.Choices()[1:] {
		answers, err := judge.Answers(e.cited, judge.WithChoice(choice))
		if err != nil {
			return t, err
		}
		others = append(others, slices.Concat(answers...))
	}
	for i, a := range primary {
		row := []string{hyper.Title(a.Model), DataTitle(a.Data) + ", " + string(a.Setting), fmt.Sprint(a.Splits), "–", "–",
			string(a.Verdict), "–"}
		if a.Effect != nil {
			row[3] = intervalText(a.Effect.Pooled, 2)
		}
		if a.Complete() {
			row[4] = stats.ProbabilityText(a.P)
		}
		if published := publishedOverReadings(a.Data, a.Model, a.Setting); published != nil {
			row[6] = plots.Signed(*published, 2)
		}
		for k, choice := range judge.Choices()[1:] {
			other, text := others[k][i], "–"
			has := (!choice.AllEdges || a.Setting == datasets.Inductive) && (!choice.SelfMasked || a.Model != "gin")
			if has && other.Complete() {
				text = plots.Signed(other.Effect.Pooled.MeanDifference, 2)
				if other.Verdict.Clear() {
					text += " (" + string(other.Verdict) + ")"
				}
			}
			row = append(row, text)
		}
		t.Rows = append(t.Rows, plots.Fields(row...))
	}
	return t, nil
}

// PartForest draws masking's effect on Cora in each interpretation of the paper that belongs to part:
// [judge.Departures] or [judge.Scale].
func (e *Evidence) PartForest(part judge.Part) (plots.Forest, error) {
	title := map[judge.Part]string{judge.Departures: "One step away from the cited reading",
		judge.Scale: "Normalisation and rescaling"}[part]
	f := plots.Forest{ID: string(part), Title: title + ": what node masking changes on Cora", Width: 1000,
		XLabel: "gain, mean over the four sizes (points of macro F1)",
		Caption: "The first reading of each is the cited one; the others say what differs. Points with 95 % intervals over " +
			"splits; at each share of nodes to train on, macro F1 without masking, and what masking adds."}
	for _, size := range judge.Sizes() {
		f.Columns = append(f.Columns, fmt.Sprintf("%d %%", size))
	}
	for _, model := range judge.Models() {
		for _, setting := range datasets.Settings() {
			answers, err := e.each(part, leadingData, model, setting)
			if err != nil {
				return f, err
			}
			group := plots.ForestGroup{Name: hyper.Title(model) + ", " + nodesOf(setting)}
			for _, a := range answers {
				row := plots.Effect{Label: judge.Departure(a.Axes, a.Reading), TextOnly: true,
					Fields: slices.Repeat([]string{"–"}, len(f.Columns))}
				gains, err := a.BySize()
				if err != nil {
					return f, err
				}
				if a.Effect != nil {
					pooled := a.Effect.Pooled
					row.TextOnly, row.Value, row.Low, row.High = false, pooled.MeanDifference, pooled.Low, pooled.High
				}
				for i := range gains {
					row.Fields[i] = fmt.Sprintf("%.1f, %s", gains[i].Plain, plots.Signed(gains[i].Mean, 1))
				}
				group.Rows = append(group.Rows, row)
			}
			f.Groups = append(f.Groups, group)
		}
	}
	return f, nil
}
