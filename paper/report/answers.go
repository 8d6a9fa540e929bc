package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/plots"
	"nodemask/stats"
)

// AnswersID is the ID of the table of what masking changes in the cited reading, and gainsID that of the figure that
// leads.
const (
	AnswersID = "answers"
	gainsID   = "gains"
)

// Answers returns what masking does to all models in the cited reading, and in one of the other choices that its
// protocol gives side by side.
func (e *Evidence) Answers(choice judge.Choice) ([]judge.Answer, error) {
	return judge.Answers(e.cited, choice)
}

// leadingData is the data set that the paper has all models on.
const leadingData = "cora"

// nodesOf names a setting by the nodes that are predicted in it.
func nodesOf(s datasets.Setting) string {
	if s == datasets.Inductive {
		return "new nodes"
	}
	return "known nodes"
}

// Gains returns the figure that leads: for each model on Cora what masking adds at each size of the train set in the
// cited reading, and what the paper prints. A panel without results has the paper's alone.
func (e *Evidence) Gains() (plots.Panels, error) {
	p := plots.Panels{ID: gainsID, Title: "What node masking adds to macro F1 on Cora",
		XLabel: "% of nodes to train on", YLabel: "points gained",
		Caption: fmt.Sprintf("New nodes arrive after training (inductive); known nodes are there in training "+
			"(transductive). In the reading that the paper and the works that it cites describe, mean of %d splits of the data.",
			judge.Splits)}
	answers, fair, departed, err := e.sideBySide()
	if err != nil {
		return p, err
	}
	series := func(name string, a judge.Answer) (plots.Series, error) {
		s := plots.Series{Name: name}
		gains, err := a.BySize()
		for _, g := range gains {
			s = withGain(s, float64(g.TrainPercent), g)
		}
		return s, err
	}
	for _, setting := range datasets.Settings() {
		var row []plots.Chart
		for _, a := range answers {
			if a.Data != leadingData || a.Setting != setting {
				continue
			}
			c := plots.Chart{ID: fmt.Sprintf("%s-%s-%s", gainsID, a.Model, setting), Title: hyper.Title(a.Model) + ", " +
				nodesOf(setting)}
			theirs := plots.Series{Name: "in the paper", Reference: true}
			for _, size := range Sizes() {
				if gain := publishedGain(a.Data, a.Model, setting, size); gain != nil {
					theirs.X, theirs.Y = append(theirs.X, float64(size)), append(theirs.Y, *gain)
				}
			}
			ours, err := series("measured here, with a 95 % interval", a)
			if err != nil {
				return p, err
			}
			if len(ours.X) > 0 {
				c.Series = append(c.Series, ours)
			}
			c.Series = append(c.Series, theirs)
			other, name := find(fair, a.Model, setting), "here, against no attention dropout"
			if a.Model == "gin" {
				name = "here, GIN without batch normalisation"
				if other, err = e.departure(a, "body: no normalisation"); err != nil {
					return p, err
				}
			}
			names, others := []string{name}, []judge.Answer{other}
			for i, choice := range judge.ForGIN() {
				if a.Model == "gin" && !choice.RawFeatures { // the departures that the headline's sentences tell of
					names = append(names, "here, GIN with "+choice.String())
					others = append(others, find(departed[i], a.Model, setting))
				}
			}
			for i, other := range others {
				faint, err := series(names[i], other)
				if err != nil {
					return p, err
				}
				if len(faint.X) > 0 {
					faint.Low, faint.High, faint.HideMarkers = nil, nil, true
					c.Series = append(c.Series, faint)
				}
			}
			row = append(row, c)
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// withGain returns a series with a gain at x.
func withGain(s plots.Series, x float64, g judge.Gain) plots.Series {
	s.X, s.Y = append(s.X, x), append(s.Y, g.Mean)
	s.Low, s.High = append(s.Low, g.Low), append(s.High, g.High)
	return s
}

// departure returns what masking does one step away from an answer's reading.
func (e *Evidence) departure(from judge.Answer, step string) (judge.Answer, error) {
	all, err := e.each(judge.Departures, from.Data, from.Model, from.Setting)
	for _, a := range all {
		if judge.Departure(a.Axes, a.Reading) == step {
			return a, err
		}
	}
	return judge.Answer{}, err
}

// Grid returns what masking does to each model on each data set in both settings, in a word each.
func (e *Evidence) Grid() (t plots.Table, err error) {
	answers, fair, departed, err := e.sideBySide()
	if err != nil {
		return t, err
	}
	t = plots.Table{ID: "grid", Header: []string{"model"}}
	for _, data := range judge.Data() {
		for _, setting := range datasets.Settings() {
			t.Header = append(t.Header, DataTitle(data)+", "+strings.TrimSuffix(nodesOf(setting), " nodes"))
		}
	}
	t.TextColumns = len(t.Header)
	// What is masking's own doing is bold.
	row := func(against, model string, answers []judge.Answer, own bool) {
		fields := []plots.Field{{Text: hyper.Title(model) + against}}
		for _, a := range answers {
			if a.Model == model {
				fields = append(fields, plots.Field{Text: string(a.Verdict), Note: effectNote(a), Bold: own && a.Verdict.Clear()})
			}
		}
		t.Rows = append(t.Rows, fields)
	}
	for _, model := range judge.Models() {
		if model == "gin" {
			row("", model, answers, true)
			for i, choice := range judge.ForGIN() {
				row(" with "+choice.String(), model, departed[i], true)
			}
			continue
		}
		row(" against attention dropout", model, answers, false)
		row(" against no attention dropout", model, fair, true)
	}
	return t, nil
}

// sideBySide are the answers of the cited reading, of the fair comparison with it, and those of each of judge.ForGIN,
// which come in the order of the first.
func (e *Evidence) sideBySide() (answers, fair []judge.Answer, departed [][]judge.Answer, err error) {
	if answers, err = e.Answers(judge.Choice{}); err == nil {
		fair, err = e.Answers(judge.Choice{Fair: true})
	}
	for _, choice := range judge.ForGIN() {
		if err == nil {
			var of []judge.Answer
			of, err = e.Answers(choice)
			departed = append(departed, of)
		}
	}
	return answers, fair, departed, err
}

// effectNote says what a verdict rests on.
func effectNote(a judge.Answer) string {
	note := fmt.Sprintf("%d of %d splits", a.Splits, judge.Splits)
	if a.Effect != nil {
		note = strings.Replace(intervalText(a.Effect.Pooled, 2), " [", " points [", 1) + ", " + note
	}
	return note
}

// Answer is what was found, for people.
type Answer struct {
	Headline  string
	Sentences []string // of at most two numbers each
	Limits    []string // what it rests on: what changes the answer, sentences alike
}

// Answer says what node masking does on Cora in the cited reading.
func (e *Evidence) Answer() (a Answer, err error) {
	answers, fair, departed, err := e.sideBySide()
	if err != nil {
		return a, err
	}
	apart, err := e.gapsToPublished(answers)
	if err != nil {
		return a, err
	}
	gin, gat, sgat := find(answers, "gin", datasets.Inductive), find(answers, "gat", datasets.Inductive),
		find(answers, "sgat", datasets.Inductive)
	fairGAT, fairSGAT := find(fair, "gat", datasets.Inductive), find(fair, "sgat", datasets.Inductive)
	limit := func(format string, values ...any) { a.Limits = append(a.Limits, fmt.Sprintf(format, values...)) }
	ginKnown, rescaled, mends := find(answers, "gin", datasets.Transductive), "", false
	var better []string
	var steps []string // one for each departure that changes GIN without masking, too
	for i, choice := range judge.ForGIN() {
		d := find(departed[i], "gin", datasets.Inductive)
		if choice.Rescale {
			known := find(departed[i], "gin", datasets.Transductive)
			if known.Verdict.Clear() {
				rescaled = fmt.Sprintf("; with %s it %s %.1f points there%s", choice, known.Verdict,
					math.Abs(known.Effect.Pooled.MeanDifference), elsewhere(departed[i], "gin", datasets.Transductive))
			}
			mends = known.Verdict == judge.Gains && ginKnown.Verdict != judge.Gains
			continue
		}
		bySize, above, err := e.unmaskedAbove(d, gin)
		if err != nil {
			return a, err
		}
		if above {
			better = append(better, choice.String())
		}
		if d.Complete() && gin.Complete() {
			steps = append(steps, fmt.Sprintf("With %s, GIN without masking is %s on new nodes, and masking adds %s to that.",
				choice, betterOrWorse(average(d.Effect.Plain)-average(gin.Effect.Plain)),
				strings.TrimPrefix(plots.Signed(d.Effect.Pooled.MeanDifference, 1), "+")))
		}
		if above && slices.Min(bySize) < 0 {
			var points, sizes []string
			for k, x := range bySize {
				points, sizes = append(points, plots.Signed(x, 1)), append(sizes, fmt.Sprint(gin.Sizes[k]))
			}
			limit("With %s, GIN without masking is above the masked one of the cited reading by %s points with %s %% to train on.",
				choice, and(points), and(sizes))
		}
	}
	rescaling, err := e.rescaledGains()
	if err != nil {
		return a, err
	}
	if rescaling != "" {
		limit("%s", rescaling)
	}
	a.Headline = headline(answers, fair, better, mends)
	for _, step := range []struct{ model, step, words string }{
		{"gin", "body: no normalisation", "GIN has batch normalisation here, as its authors have it; without, masking"},
		{"gat", "masked: all", "If all nodes can be masked, not train nodes alone, masking in GAT"},
		{"gat", "stop: macro F1", "With " + judge.StoppedOnF1 + ", masking in GAT in place of attention dropout"}} {
		var does []string
		for _, setting := range datasets.Settings() {
			d, err := e.departure(find(answers, step.model, setting), step.step)
			if err != nil {
				return a, err
			}
			if d.Complete() {
				d.Verdict = map[int]judge.Grade{-1: judge.Loses, 0: judge.Inconclusive, 1: judge.Gains}[d.Effect.Sign()]
				does = append(does, inWords(d)+" on "+nodesOf(setting))
			}
		}
		if len(does) > 0 {
			limit("%s %s.", step.words, and(does))
		}
	}
	// Where masking is tuned, other arms are tuned alike.
	c, tuned := e.tuned(balancedID), judge.TunedModel{Name: "gin"}
	for _, other := range tunedOthers() {
		for _, setting := range datasets.Settings() {
			if v := e.judgeTuned(balancedID, other.arm, setting, tuned); v.Effect != nil && v.Effect.High < 0 {
				limit("Where both are tuned (GIN on %s), %s does better than masking by %.1f points on %s.",
					c.on(judge.ArmPlain, tuned), other.name, -v.Effect.MeanDifference, nodesOf(setting))
			}
		}
	}
	for _, x := range fair { // on other data, GAT against one without attention dropout
		if x.Data != leadingData && x.Model == "gat" && x.Setting == datasets.Inductive && x.Verdict.Clear() {
			limit("On %s's new nodes masking %s in a GAT without attention dropout.", DataTitle(x.Data), inWords(x))
		}
	}
	but, alike := "but", ""
	if gat.Verdict == fairGAT.Verdict {
		but = "and"
	}
	if sgat.Verdict == gat.Verdict && fairSGAT.Verdict == fairGAT.Verdict {
		alike = "; the same holds for SGAT"
	}
	known := "and " + inWords(ginKnown)
	if ginKnown.Verdict != gin.Verdict {
		known = "but " + inWords(ginKnown)
	}
	a.Sentences = []string{fmt.Sprintf("In GIN masking %s on new nodes%s, %s on known ones%s.", inWords(gin),
		elsewhere(answers, "gin", datasets.Inductive), known, rescaled)}
	if len(steps) > 0 {
		a.Sentences = append(a.Sentences, steps[0])
		a.Limits = append(steps[1:], a.Limits...)
	}
	a.Sentences = append(a.Sentences, fmt.Sprintf("In GAT masking in place of attention dropout %s on new nodes, %s %s in a "+
		"GAT without attention dropout%s.", inWords(gat), but, inWords(fairGAT), alike))
	if len(apart) > 0 {
		limit("From the published gains ours differ by %s.", strings.Join(apart, "; by "))
	}
	return a, nil
}

// find returns the answer for a model on the leading data set, which has all of them.
func find(answers []judge.Answer, model string, s datasets.Setting) judge.Answer {
	return answers[slices.IndexFunc(answers, func(a judge.Answer) bool {
		return a.Model == model && a.Data == leadingData && a.Setting == s
	})]
}

// elsewhere names the other data sets on which masking gains as it does on the leading one, in brackets.
func elsewhere(answers []judge.Answer, model string, s datasets.Setting) string {
	var also []string
	for _, a := range answers {
		if a.Model == model && a.Setting == s && a.Data != leadingData && a.Verdict == judge.Gains {
			also = append(also, DataTitle(a.Data))
		}
	}
	if len(also) == 0 || find(answers, model, s).Verdict != judge.Gains {
		return ""
	}
	gain := "gains"
	if len(also) > 1 {
		gain = "gain"
	}
	return fmt.Sprintf(" (%s %s too)", and(also), gain)
}

// inWords says what masking does by an answer.
func inWords(a judge.Answer) string {
	switch a.Verdict {
	case judge.Gains:
		return fmt.Sprintf("raises macro F1 by %.1f points", a.Effect.Pooled.MeanDifference)
	case judge.Loses:
		return fmt.Sprintf("lowers macro F1 by %.1f points", -a.Effect.Pooled.MeanDifference)
	case judge.NoDifference:
		return "makes less than a point of difference"
	case judge.Inconclusive:
		return "has no clear effect"
	}
	return "has not been measured in full"
}

// headline says which models gain on Cora, and when, and which do as well or better without. What GAT and SGAT gain
// against dropout of attention is masking's only where they gain against none, too. Better are the departures in which
// GIN without masking is above the masked one of the cited reading; mends says that GIN gains transductively once it is
// rescaled, and not without.
func headline(answers, fair []judge.Answer, better []string, mends bool) string {
	when := map[[2]bool][]string{} // gains inductively, transductively
	var replaced []string
	for _, model := range judge.Models() {
		var gains [2]bool
		instead := false // all that is gained is gained by leaving dropout of attention out, too
		for i, s := range []datasets.Setting{datasets.Inductive, datasets.Transductive} {
			a, alone := find(answers, model, s).Verdict, find(fair, model, s).Verdict
			if a == judge.NotRun || model != "gin" && alone == judge.NotRun {
				return "Not everything has been measured yet."
			}
			gains[i] = a == judge.Gains && (model == "gin" || alone == judge.Gains)
			instead = instead || a == judge.Gains && (alone == judge.NoDifference || alone == judge.Loses)
		}
		when[gains] = append(when[gains], hyper.Title(model))
		if gains == ([2]bool{}) && model != "gin" && instead {
			replaced = append(replaced, hyper.Title(model))
		}
	}
	var parts []string
	for _, group := range []struct {
		gains [2]bool
		words string
	}{{[2]bool{true, true}, "new and known nodes"}, {[2]bool{true, false}, nodesOf(datasets.Inductive)},
		{[2]bool{false, true}, nodesOf(datasets.Transductive)}} {
		if models := when[group.gains]; len(models) > 0 {
			part := and(models) + " on " + group.words
			if mends && slices.Contains(models, hyper.Title("gin")) {
				part += " and, with " + judge.Choice{Rescale: true}.String() + ", on " + nodesOf(datasets.Transductive) + " too"
			}
			parts = append(parts, part)
		}
	}
	text := "On Cora it does not help."
	if len(parts) > 0 {
		text = "On Cora it helps " + strings.Join(parts, "; and ") + "."
	}
	var without []string
	if len(better) > 0 && !slices.Contains(when[[2]bool{}], hyper.Title("gin")) {
		without = append(without, "on average GIN gains more from "+strings.Join(better, " or "))
	}
	if len(replaced) > 0 {
		does := "does"
		if len(replaced) > 1 {
			does = "do"
		}
		without = append(without, and(replaced)+" "+does+" as well with neither masking nor attention dropout")
	}
	if len(without) > 0 {
		text += " But " + strings.Join(without, ", and ") + "."
	}
	return text
}

// and joins names as people do.
func and(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// AnswersTable returns the protocol's primary results: the pooled effect of the cited reading and of the other choices
// beside it, how robust it is, and what the paper has.
func (e *Evidence) AnswersTable() (plots.Table, error) {
	t := plots.Table{ID: AnswersID, Title: "What node masking changes in the cited reading", Sections: true,
		Header: []string{"model", "data, setting", "splits", "effect [95 %]", "p (Holm)", "verdict", "paper", "all edges",
			"own term masked", "both", "stated readings: above", "below", "of", "median"}}
	t.TextColumns = len(t.Header)
	t.Caption = "Points of macro F1, mean over 10, 25, 50 and 90 % to train on. The cited reading: new nodes bring " +
		"their edges to train nodes, a masked node keeps its own term; beside it the other choices, in words if they " +
		"gain or lose. Stated readings: what is stated or cited is fixed, " +
		"what the paper is silent about varies, raw features among it; in how many the effect is significantly above and " +
		"below zero."
	var columns [][]judge.Answer
	for _, choice := range judge.Choices() {
		answers, err := e.Answers(choice)
		if err != nil {
			return t, err
		}
		columns = append(columns, answers)
	}
	for i, a := range columns[0] {
		robust, err := judge.Robust(e.cited, a.Data, a.Model, a.Setting, judge.Contrast{})
		if err != nil {
			return t, err
		}
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
			other, text := columns[k+1][i], "–"
			has := (!choice.AllEdges || a.Setting == datasets.Inductive) && (!choice.SelfMasked || a.Model != "gin")
			if has && other.Complete() {
				text = plots.Signed(other.Effect.Pooled.MeanDifference, 2)
				if other.Verdict.Clear() {
					text += " (" + string(other.Verdict) + ")"
				}
			}
			row = append(row, text)
		}
		above, below, median := "–", "–", "–"
		if robust.Readings > 0 {
			above, below, median = fmt.Sprint(robust.Above), fmt.Sprint(robust.Below), plots.Signed(robust.Median, 2)
		}
		row = append(row, above, below, fmt.Sprintf("%d/%d", robust.Readings, robust.Of), median)
		t.Rows = append(t.Rows, plots.Fields(row...))
	}
	return t, nil
}
