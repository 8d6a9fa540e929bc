package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

// oneOrAll returns the value of a flag as a list: all that are known for "all".
func oneOrAll(flag, value string, known []string) ([]string, error) {
	if value == "all" {
		return known, nil
	}
	if !slices.Contains(known, value) {
		return nil, misusef("--%s %s: expected all or one of %s", flag, value, strings.Join(known, ", "))
	}
	return []string{value}, nil
}

// runCited trains what a part of the second protocol asks for, and prints the results.
func (r multiverseRun) runCited() error {
	data, err := oneOrAll("data", r.data, judge.Data())
	if err != nil {
		return err
	}
	models, err := oneOrAll("model", r.model, judge.Models())
	if err != nil {
		return err
	}
	if r.list {
		for _, model := range models {
			axes, err := judge.Axes(model)
			if err != nil {
				return err
			}
			if err := printAxes(r.OutOrStdout(), axes); err != nil {
				return err
			}
		}
		return nil
	}
	results := r.results()
	var questions, first []judge.Question
	for _, on := range data {
		for _, model := range models {
			for _, setting := range datasets.Settings() {
				q, err := judge.QuestionOf(judge.Part(r.part), on, model, setting)
				if err != nil {
					return err
				}
				if r.Flags().Changed("sizes") {
					q.Sizes = r.sizes
				}
				questions, first = append(questions, q), append(first, judge.First(q))
			}
		}
	}
	if r.summary {
		return r.printCited(results, questions)
	}
	cells, err := judge.Cells(questions)
	if err != nil {
		return err
	}
	seeds := judge.Seeds(judge.FirstSplit, r.splits)
	if r.status {
		return r.printStatus(r.part+", "+r.data+", "+r.model, results, cells, seeds)
	}
	early, err := judge.Cells(first)
	if err != nil {
		return err
	}
	for _, some := range [][]record.Cell{early, cells} {
		if err := r.train(judge.Batch{Cells: some, Seeds: seeds}); err != nil {
			return err
		}
	}
	return nil
}

// printCited prints the effect of masking in each reading that is asked about, over the sizes and at each.
func (r multiverseRun) printCited(results *record.Results, questions []judge.Question) error {
	w := bufio.NewWriter(r.OutOrStdout())
	for _, q := range questions {
		answers, err := judge.Each(results, q)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s, %s, %s\n", q.Data, q.Model, q.Setting)
		for _, a := range answers {
			reading := judge.Departure(q.Axes, a.Reading)
			if a.Effect == nil {
				fmt.Fprintf(w, "    %s: %d of %d splits\n", reading, a.Splits, r.splits)
				continue
			}
			fmt.Fprintf(w, "    %s: %s over %d splits", reading, pointsOf(a.Effect.Pooled), a.Splits)
			for i, size := range q.Sizes {
				fmt.Fprintf(w, "; %d %%: %.2f to %.2f", size, a.Effect.Plain[i], a.Effect.Masked[i])
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}

// pointsOf is a difference in points, with its interval and p.
func pointsOf(t stats.TTest) string {
	return fmt.Sprintf("%s points (95 %% interval %s to %s, p %s)", plots.Signed(t.MeanDifference, 2),
		plots.Signed(t.Low, 2), plots.Signed(t.High, 2), stats.ProbabilityText(t.P))
}

// runDepth trains networks of all depths at all keep rates, and prints the results.
func (r multiverseRun) runDepth() error {
	keepRates := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}
	cells := map[datasets.Setting][]record.Cell{}
	var all []record.Cell
	for _, setting := range datasets.Settings() {
		for _, layers := range judge.Depths() {
			for _, p := range keepRates {
				c := judge.DepthCell(r.data, setting, layers).Masked(p)
				cells[setting], all = append(cells[setting], c), append(all, c.Trained())
			}
		}
	}
	results, seeds := r.results(), judge.Seeds(judge.FirstDepthSplit, judge.DepthSplits)
	if r.status {
		return r.printStatus(r.data+", depth", results, all, seeds)
	}
	if !r.summary {
		if err := r.train(judge.Batch{Cells: all, Seeds: seeds}); err != nil {
			return err
		}
	}
	w := bufio.NewWriter(r.OutOrStdout())
	for _, setting := range datasets.Settings() {
		var scores []judge.DepthScore
		complete := true
		for _, c := range cells[setting] {
			s := judge.DepthScore{Layers: c.Parameters.Layers, KeepRate: c.Parameters.KeepRate.Probability()}
			for _, trial := range results.ReadOff(c) {
				if slices.Contains(seeds, trial.Seed) {
					s.F1 = append(s.F1, trial.MacroF1)
				}
			}
			complete = complete && len(s.F1) == len(seeds)
			scores = append(scores, s)
			if len(s.F1) > 0 {
				fmt.Fprintf(w, "%s, %2d layers, keep rate %.1f: macro F1 %s over %d splits\n", setting, s.Layers, s.KeepRate,
					stats.Summarize(s.F1).Text(2), len(s.F1))
			}
		}
		if !complete {
			continue
		}
		mean, low, high, err := stats.ConfidenceInterval95(judge.DepthSlopes(scores))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: each time the depth doubles, the best keep rate moves by %+.3f (95 %% interval %+.3f to %+.3f)\n",
			setting, mean, low, high)
	}
	return cmp.Or(results.Err(), w.Flush())
}

// runTuned tunes every arm of a comparison, and compares what each has found on fresh splits, batch by batch: until
// nothing is left, or the stage, which a trained batch should have moved on, is still what it was, as the rest is other
// shards'.
func (r multiverseRun) runTuned(design judge.Design) error {
	var known []string
	for _, m := range design.Models {
		known = append(known, m.Name)
	}
	models, err := oneOrAll("model", r.model, slices.Compact(known))
	if err != nil {
		return err
	}
	var data []string
	if r.data != "all" {
		data = []string{r.data}
	}
	design = design.Of(data, models)
	for before := ""; ; {
		all, next, stage, err := r.tuned(design)
		switch {
		case err != nil:
			return err
		case r.status:
			_, err := fmt.Fprintf(r.OutOrStdout(), "%s, %s: %d trainings left to look at on %d splits\n", r.data, r.part,
				len(next.Cells), len(next.Seeds))
			return err
		case r.summary || len(next.Cells) == 0 || stage == before:
			return r.printTuned(all, design)
		}
		if err := r.train(next); err != nil {
			return err
		}
		before = stage
	}
}

// tuned is how far a comparison is, and the batch that comes next with the stage that it is of: one model comes after
// the other, and its stages in order.
func (r multiverseRun) tuned(design judge.Design) (all []judge.Tuned, next judge.Batch, stage string,
	err error) {
	results, earliest := r.results(), 0
	for _, q := range design.Questions() {
		t, err := design.Tuned(results, q)
		if err != nil {
			return nil, next, "", err
		}
		all = append(all, t)
		if len(t.Next.Cells) == 0 || next.Seeds != nil && !strings.HasPrefix(stage, tunedName(q.Model)+":") {
			continue
		}
		if next.Seeds == nil || t.Stage < earliest {
			next, earliest, stage = t.Next, t.Stage, fmt.Sprint(tunedName(q.Model), ":", t.Stage)
		} else if t.Stage == earliest {
			next.Cells = append(next.Cells, t.Next.Cells...)
		}
	}
	return all, next, stage, nil
}

// printTuned prints what each arm chose and how it does, cell by cell and pooled.
func (r multiverseRun) printTuned(all []judge.Tuned, design judge.Design) error {
	w := bufio.NewWriter(r.OutOrStdout())
	for _, t := range all {
		fmt.Fprintf(w, "%s, %s, %s, %d%%\n", t.Data, tunedName(t.Model), t.Setting, t.TrainPercent)
		for _, arm := range t.Arms {
			switch {
			case arm.Chosen == nil:
				fmt.Fprintf(w, "    %s: not tuned yet\n", arm.Name)
				continue
			case arm.F1 == nil:
				fmt.Fprintf(w, "    %s: %s, validation macro F1 %.2f; not compared yet\n", arm.Name, arm.Words(), arm.Validation)
				continue
			}
			fmt.Fprintf(w, "    %s: macro F1 %s", arm.Name, stats.Summarize(arm.F1).Text(2))
			if plain := t.Arms[0].F1; plain != nil && arm.Name != t.Arms[0].Name {
				test, err := stats.PairedTTest(arm.F1, plain)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, ", %s from plain", pointsOf(test))
			}
			fmt.Fprintf(w, "; %s\n", arm.Words())
		}
	}
	if err := printPooled(w, all, design); err != nil {
		return err
	}
	return w.Flush()
}

// tunedName is a model of a tuned comparison, as the flag has it, and what it is with.
func tunedName(m judge.TunedModel) string {
	if m.With == "" {
		return m.Name
	}
	return m.Name + " with " + m.With
}

// printPooled says of each model, and of all together, how the arms do from one another over all cells that have run,
// and how masking does in each setting.
func printPooled(w io.Writer, all []judge.Tuned, design judge.Design) error {
	var groups [][]judge.TunedModel
	for _, model := range design.Models {
		groups = append(groups, []judge.TunedModel{model})
	}
	if len(design.Models) > 1 {
		groups = append(groups, design.Protocol().Models)
	}
	arms := slices.Concat(design.Arms, design.Added)
	for _, group := range groups {
		var names []string
		for _, model := range group {
			names = append(names, tunedName(model))
		}
		for _, setting := range append([]datasets.Setting{""}, datasets.Settings()...) {
			said := false
			for i, arm := range arms {
				for _, against := range arms[:i] {
					if setting != "" && arm != judge.ArmMaskedTuned && against != judge.ArmMaskedTuned {
						continue
					}
					effect, cells, err := judge.Pooled(all, setting, group, arm, against)
					if err != nil {
						return err
					}
					if cells == 0 {
						continue
					}
					if !said {
						title := strings.Join(names, ", ")
						if setting != "" {
							title += ", " + string(setting)
						}
						fmt.Fprintf(w, "%s, over the cells above that have both arms, and every arm of the protocol\n", title)
						said = true
					}
					fmt.Fprintf(w, "    %s: %s points (95 %% interval %s to %s) from %s, %d cells\n", arm,
						plots.Signed(effect.MeanDifference, 2), plots.Signed(effect.Low, 2), plots.Signed(effect.High, 2), against,
						cells)
				}
			}
		}
	}
	return nil
}
