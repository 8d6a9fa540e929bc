package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/plots"
)

// GraphsID is the name of the figure that shows the results of PROTOCOL-3.md.
const GraphsID = "graphs"

func caseEffectText(e judge.CaseEffect) string {
	if e.Splits == 0 {
		return "–"
	}
	return rangeText(e.Mean, e.Low, e.High, 1)
}

// GraphsTable returns masking's effects on a model, a row per graph, with verdicts (hypothesis H1 of PROTOCOL-3.md).
func (e *Evidence) GraphsTable(model string) (t plots.Table, err error) {
	answers, err := judge.GraphAnswers(e.third, model)
	if err != nil {
		return t, err
	}
	t = plots.Table{ID: "graphs-" + model, Title: "What masking adds to " + hyper.Title(model) + " on other graphs",
		Header: []string{"graph"}, Caption: "Points of macro F1, 95 % interval over splits, verdict by Holm's method over " +
			fmt.Sprint(len(answers)) + " places"}
	for i := 0; i < len(answers); i += len(judge.Graphs.Data()) * len(datasets.Settings()) {
		for _, setting := range datasets.Settings() {
			t.Header = append(t.Header, nodesOf(setting))
			if answers[i].Rescaled {
				t.Header[len(t.Header)-1] += ", rescaled"
			}
		}
	}
	unfinished, unlearnt := "", ""
	for _, data := range judge.Graphs.Data() {
		row := plots.Fields(data)
		for _, a := range answers {
			if a.Data != data {
				continue
			}
			text := "– (not run)"
			if a.Effect != nil {
				text = fmt.Sprintf("%s, %s", intervalText(a.Effect.Pooled, 1), a.Verdict)
				if f, _ := judge.GraphFileOf(data); slices.ContainsFunc(a.Effect.Plain, func(f1 float64) bool {
					// Allow 0.1 points more: the largest class has a whole number of test nodes, so its share in a
					// test set can differ slightly from its share in the graph.
					return f1 <= f.ConstantF1()+0.1
				}) {
					text += "‡"
					unlearnt = "; ‡: at a size the plain model does not learn, its mean being no higher than that of the largest " +
						"class alone"
				}
			}
			if a.Verdict == judge.Inconclusive {
				unfinished = ", which takes 20 splits; (n; s): on n splits so far, at s % to train on"
				text += fmt.Sprintf(" (%d; %s)", a.Splits, strings.Trim(strings.ReplaceAll(fmt.Sprint(a.Sizes), " ", " and "), "[]"))
			}
			row = append(row, plots.Field{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	t.Caption += unfinished + unlearnt + "."
	return t, nil
}

// gatElsewhere returns a clause that says how masking affects GAT on the graphs of PROTOCOL-3.md. It is "" if trials
// are missing.
func (e *Evidence) gatElsewhere() (string, error) {
	answers, err := judge.GraphAnswers(e.third, "gat")
	verdicts := map[judge.Verdict]int{}
	for _, a := range answers {
		if a.Effect == nil || a.Verdict == judge.Inconclusive {
			return "", err
		}
		verdicts[a.Verdict]++
	}
	return fmt.Sprintf("; on %d graphs unlike Cora it hurts GAT in %d of %d places and helps in %d",
		len(judge.Graphs.Data()), verdicts[judge.Hurts], len(answers), verdicts[judge.Helps]), err
}

// OneSign returns a sentence on whether masking's effect has the same sign on all graphs (hypothesis H2 of
// PROTOCOL-3.md).
func (e *Evidence) OneSign() (string, error) {
	answers, err := judge.GraphAnswers(e.third, "gin")
	if err != nil {
		return "", err
	}
	var words []string
	for _, rescaled := range []bool{false, true} {
		for _, setting := range datasets.Settings() {
			some := slices.DeleteFunc(slices.Clone(answers), func(a judge.GraphAnswer) bool {
				return a.Setting != setting || a.Rescaled != rescaled
			})
			word, help, hurt := judge.OneSign(some)
			name := nodesOf(setting)
			if rescaled {
				name += ", rescaled"
			}
			words = append(words, fmt.Sprintf("%s: %s (%d help, %d hurt)", name, word, help, hurt))
		}
	}
	return "Has the effect one sign over all nine graphs? " + strings.Join(words, "; ") + ".\n", nil
}

// BeforehandTable returns the rank correlations of masking's effect with quantities that may predict it (hypothesis H3
// of PROTOCOL-3.md).
func BeforehandTable() plots.Table {
	t := plots.Table{ID: "beforehand", Title: "What tells beforehand", Header: []string{"quantity", "masking",
		"masking, rescaled"}, Caption: fmt.Sprintf("Spearman's rank correlation with the effect over %d cases (graph, "+
		"setting, size) of %d graphs, 95 %% interval over whole graphs. Fragility takes trainings.", len(judge.Cases()),
		judge.Fit(judge.Cases(), false).Graphs)}
	masked, rescaled := judge.Correlations(judge.Cases(), false), judge.Correlations(judge.Cases(), true)
	text := func(c judge.Correlation) string { return rangeText(c.Rho, c.Low, c.High, 2) }
	for i, c := range masked {
		t.Rows = append(t.Rows, plots.Fields(c.Quantity, text(c), text(rescaled[i])))
	}
	return t
}

func bestQuantity() judge.Quantity {
	all, best := judge.Correlations(judge.Cases(), false), -1
	for i, q := range judge.CaseQuantities() {
		if !q.After && (best < 0 || math.Abs(all[i].Rho) > math.Abs(all[best].Rho)) {
			best = i
		}
	}
	return judge.CaseQuantities()[best]
}

// GraphsForest draws masking's effect on each graph, by setting and train set size. Graphs are ordered by
// [bestQuantity], which predicts this effect best among quantities known before training.
func GraphsForest() plots.Forest {
	by := bestQuantity()
	f := plots.Forest{ID: GraphsID, Title: "What masking adds to GIN, by graph", Width: 1000,
		XLabel: "gain (points of macro F1)", Columns: []string{by.Name, "rescaled", "splits"},
		Caption: "Points with 95 % intervals over splits. Graphs are ordered by the quantity that tells most without " +
			"training: " + by.Name + "."}
	for _, setting := range datasets.Settings() {
		for _, size := range []int{10, 50} {
			group := plots.ForestGroup{Name: fmt.Sprintf("%s, %d %%", nodesOf(setting), size)}
			for _, c := range sortedBy(by, setting, size) {
				group.Rows = append(group.Rows, plots.Effect{Label: c.Data, Value: c.Masked.Mean, Low: c.Masked.Low,
					High: c.Masked.High, Fields: []string{fmt.Sprintf("%.3g", by.Of(c)), caseEffectText(c.Rescaled),
						fmt.Sprint(c.Masked.Splits)}})
			}
			f.Groups = append(f.Groups, group)
		}
	}
	return f
}

func sortedBy(by judge.Quantity, setting datasets.Setting, trainPercent int) (cases []judge.Case) {
	for _, c := range judge.Cases() {
		if c.Setting == setting && c.TrainPercent == trainPercent {
			cases = append(cases, c)
		}
	}
	slices.SortStableFunc(cases, func(a, b judge.Case) int { return cmp.Compare(by.Of(a), by.Of(b)) })
	return cases
}

// elsewhere returns cases of the graphs in [datasets.Catalogue] that have no trials.
func elsewhere(setting datasets.Setting, trainPercent int) (cases []judge.Case) {
	have := map[string]bool{"amazon-photo": true, "amazon-computers": true, "coauthor-cs": true} // names differ
	for _, c := range judge.Cases() {
		have[c.Data] = true
	}
	for _, info := range datasets.Catalogue() {
		if _, waits := judge.GraphFileOf(info.Name); have[info.Name] || waits || info.Nodes == 0 {
			continue
		}
		c := judge.Case{Data: info.Name, Setting: setting, TrainPercent: trainPercent}
		c.Degree, c.TrainShare = 2*float64(info.Edges)/float64(info.Nodes), float64(trainPercent)/100
		c.TrainNeighbours, c.AdjustedHomophily = c.Degree*c.TrainShare, math.NaN()
		cases = append(cases, c)
	}
	return cases
}

// PredictionsTable returns what PROTOCOL-3.md's rules predict for those graphs of the catalogue that have no trials.
func PredictionsTable() plots.Table {
	t := plots.Table{ID: "predictions", Title: "What the rules say of graphs that were not run", TextColumns: 2,
		Header: []string{"graph", "to train on", "degree"}, Caption: "Of the catalogue's counts alone. Where a rule asks for " +
			"adjusted homophily, the graph is needed: nodemask advise --predict says it."}
	rules := map[bool]judge.Fitted{false: judge.Fit(judge.Cases(), false), true: judge.Fit(judge.Cases(), true)}
	for _, setting := range datasets.Settings() {
		t.Header = append(t.Header, nodesOf(setting), nodesOf(setting)+", rescaled")
	}
	for _, size := range []int{10, 50} {
		known := elsewhere(datasets.Transductive, size)
		for i, c := range elsewhere(datasets.Inductive, size) {
			row := plots.Fields(c.Data, fmt.Sprintf("%d %%", size), fmt.Sprintf("%.1f", c.Degree))
			for _, one := range []judge.Case{c, known[i]} {
				for _, rescaled := range []bool{false, true} {
					row = append(row, plots.Field{Text: rules[rescaled].Expects(one)})
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// dense is the smallest mean degree of a dense graph; Reddit's mean degree is 492.
const dense = 30

// DenseGraphs returns a sentence on masking's effect on dense graphs, which stand in for the paper's Reddit.
func DenseGraphs() string {
	var names, parts []string
	for _, size := range []int{10, 50} {
		for _, setting := range datasets.Settings() {
			var effects []judge.CaseEffect
			for _, c := range judge.Cases() {
				if c.Degree >= dense && c.TrainPercent == size && c.Setting == setting {
					effects = append(effects, c.Masked)
					if !slices.Contains(names, c.Data) {
						names = append(names, c.Data)
					}
				}
			}
			if len(effects) > 0 {
				span, up, down := spanOf(effects)
				parts = append(parts, fmt.Sprintf("%s, %d %% to train on: %s points, up in %d, down in %d of %d", nodesOf(setting), size,
					span, up, down, len(effects)))
			}
		}
	}
	return fmt.Sprintf("Reddit was not run: its files are not part of this project. Graphs here with a mean degree of %d and "+
		"more (%s) say, each by its own 95 %% interval: %s.\n", dense, strings.Join(names, ", "), strings.Join(parts, "; "))
}

func spanOf(effects []judge.CaseEffect) (span string, up, down int) {
	low, high := math.Inf(1), math.Inf(-1)
	counts := map[judge.Verdict]int{}
	for _, x := range effects {
		low, high = min(low, x.Mean), max(high, x.Mean)
		counts[x.Outcome()]++
	}
	return plots.Signed(low, 1) + " to " + plots.Signed(high, 1), counts[judge.Helps], counts[judge.Hurts]
}

// graphsSentence summarises masking's effect on GIN, or returns "" if PROTOCOL-3.md's results are missing.
func (e *Evidence) graphsSentence() (string, error) {
	fewest, graphs := judge.Splits, map[string]bool{}
	effects := map[int][]judge.CaseEffect{}
	for _, c := range judge.Cases() {
		graphs[c.Data], fewest = true, min(fewest, c.Masked.Splits)
		effects[c.TrainPercent] = append(effects[c.TrainPercent], c.Masked)
	}
	if len(graphs) <= len(judge.Data()) {
		return "", nil
	}
	var sizes []string
	for _, size := range slices.Sorted(maps.Keys(effects)) {
		span, up, down := spanOf(effects[size])
		sizes = append(sizes, fmt.Sprintf("%s points with %d %% to train on (up in %d of %d places, down in %d)", span, size, up,
			len(effects[size]), down))
	}
	text := fmt.Sprintf(" On [%d graphs of many kinds](docs/GRAPHS.md) it changes GIN's macro F1 by %s, by their own 95 %% "+
		"intervals", len(graphs), strings.Join(sizes, " and by "))
	if fewest < judge.Splits {
		text += fmt.Sprintf(" (so far on %d to %d of %d splits: inconclusive)", fewest, judge.Splits, judge.Splits)
	}
	answers, err := judge.GraphAnswers(e.third, "gin")
	if err != nil {
		return "", err
	}
	verdicts := map[judge.Verdict]int{}
	for _, a := range answers {
		if a.Rescaled && a.Setting == datasets.Inductive {
			verdicts[a.Verdict]++
		}
	}
	return fmt.Sprintf("%s. On new nodes and rescaled, it helps in %d of the %d graphs unlike Cora, and hurts in %d.", text,
		verdicts[judge.Helps], len(judge.Graphs.Data()), verdicts[judge.Hurts]), nil
}
