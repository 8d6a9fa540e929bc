package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/cited"
	"nodemask/paper/multiverse"
	"nodemask/record"
	"nodemask/stats"
)

// readMultiverse returns the trajectories of a folder, which are read when they are asked for.
func readMultiverse(store *record.Trajectories) *multiverse.Results {
	return multiverse.LazyResults(store.OfPair, nil)
}

// runCited trains what a part of the second protocol asks for, and says what came out.
func (f *multiverseFlags) runCited(c *cobra.Command, store *record.Trajectories, shard, shards int) error {
	all := func(name, value string, known []string) ([]string, error) {
		if value == "all" {
			return known, nil
		}
		if !slices.Contains(known, value) {
			return nil, misusef("--%s %s: expected all or one of %s", name, value, strings.Join(known, ", "))
		}
		return []string{value}, nil
	}
	data, err := all("data", f.data, cited.Data())
	if err != nil {
		return err
	}
	models, err := all("model", f.model, cited.Models())
	if err != nil {
		return err
	}
	if f.list {
		for _, model := range models {
			axes, err := cited.Axes(model)
			if err != nil {
				return err
			}
			if err := f.printAxes(c, axes); err != nil {
				return err
			}
		}
		return nil
	}
	results := readMultiverse(store)
	var questions []multiverse.Question
	for _, on := range data {
		for _, model := range models {
			for _, setting := range datasets.Settings() {
				q, err := cited.Question(cited.Part(f.part), on, model, setting)
				if err != nil {
					return err
				}
				if c.Flags().Changed("sizes") {
					q.Sizes = f.sizes
				}
				questions = append(questions, q)
			}
		}
	}
	if f.summary {
		return f.printCited(c, results, questions)
	}
	cells, err := multiverse.Cells(questions)
	if err != nil {
		return err
	}
	seeds := multiverse.Seeds(cited.FirstSplit, f.splits)
	if f.status {
		done, complete, err := results.Count(cells, seeds)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s, %s, %s: %d of %d trials; %d of %d trainings have all %d splits\n", f.part, f.data, f.model, done, len(cells)*f.splits, complete, len(cells), f.splits)
		return err
	}
	first := slices.Clone(questions)
	for i, q := range first {
		first[i] = cited.First(q)
	}
	early, err := multiverse.Cells(first)
	if err != nil {
		return err
	}
	for _, some := range [][]record.Cell{early, cells} {
		if err := f.train(c, store, multiverse.Batch{Cells: some, Seeds: seeds}, paper.CitedProtocolHash(), shard, shards); err != nil {
			return err
		}
	}
	return nil
}

// printCited says what masking does in each reading that is asked about, over the sizes and at each.
func (f *multiverseFlags) printCited(c *cobra.Command, results *multiverse.Results, questions []multiverse.Question) error {
	w := bufio.NewWriter(c.OutOrStdout())
	for _, q := range questions {
		answers, err := cited.Each(results, cited.Part(f.part), q)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s, %s, %s\n", q.Data, q.Model, q.Setting)
		for _, a := range answers {
			reading := cited.Departure(q.Axes, a.Reading)
			if a.Effect == nil {
				fmt.Fprintf(w, "    %s: %d of %d splits\n", reading, a.Splits, f.splits)
				continue
			}
			e := a.Effect
			fmt.Fprintf(w, "    %s: %+.2f points (95 %% interval %+.2f to %+.2f, p %s) over %d splits", reading, e.Pooled.MeanDifference, e.Pooled.Low, e.Pooled.High, stats.ProbabilityText(e.Pooled.P), a.Splits)
			for i, size := range q.Sizes {
				fmt.Fprintf(w, "; %d %%: %.2f to %.2f", size, e.Plain[i], e.Masked[i])
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}

// runDepth chooses a body, trains it at all depths and keep rates, and says what came out.
func (f *multiverseFlags) runDepth(c *cobra.Command, store *record.Trajectories, shard, shards int) error {
	load := func() (*multiverse.Results, multiverse.Depth, error) {
		results := readMultiverse(store)
		depth, err := results.Depth(f.data)
		return results, depth, err
	}
	results, depth, err := load()
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	if f.status {
		_, err := fmt.Fprintf(w, "%s, depth: %d trainings left to look at on %d splits\n", f.data, len(depth.Next.Cells), len(depth.Next.Seeds))
		return err
	}
	for !f.summary && len(depth.Next.Cells) > 0 {
		chosen := depth.Chosen
		if err := f.train(c, store, depth.Next, paper.ProtocolHash(), shard, shards); err != nil {
			return err
		}
		if results, depth, err = load(); err != nil {
			return err
		}
		if depth.Chosen == chosen {
			break // the rest is other shards'
		}
	}
	if depth.Chosen == "" {
		_, err := fmt.Fprintln(w, "no body is chosen yet: run without --summary")
		return err
	}
	fmt.Fprintf(w, "chosen at 16 layers without masking: %s (validation macro F1 %.1f)\n", depth.Chosen, depth.Scores[depth.Chosen])
	for _, setting := range datasets.Settings() {
		scores, complete, err := results.DepthScores(depth, setting)
		if err != nil {
			return err
		}
		for _, s := range scores {
			if len(s.F1) > 0 {
				fmt.Fprintf(w, "%s, %2d layers, keep rate %.1f: macro F1 %s over %d splits\n", setting, s.Layers, s.KeepRate, stats.Summarize(s.F1).Text(2), len(s.F1))
			}
		}
		if !complete {
			continue
		}
		slope, err := multiverse.DepthSlope(scores)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: each time the depth doubles, the best keep rate moves by %+.3f (95 %% interval %+.3f to %+.3f)\n", setting, slope.MeanDifference, slope.Low, slope.High)
	}
	return nil
}

// runTuned gives every arm its budget, and compares what each has found on fresh splits.
func (f *multiverseFlags) runTuned(c *cobra.Command, store *record.Trajectories, shard, shards int) error {
	models := multiverse.TunedModels()
	if f.model != "all" {
		if !slices.Contains(models, f.model) {
			return misusef("--model %s: expected all or one of %s", f.model, strings.Join(models, ", "))
		}
		models = []string{f.model}
	}
	data := []string{f.data}
	if f.data == "all" {
		data = nil
	}
	questions := multiverse.TunedQuestions(data, models)
	// answers asks again what is known and what comes next: tuning first, for all questions at once.
	answers := func() (all []multiverse.Tuned, next multiverse.Batch, err error) {
		results := readMultiverse(store)
		for _, q := range questions {
			t, err := results.Tuned(q)
			if err != nil {
				return nil, next, err
			}
			all = append(all, t)
			switch {
			case len(t.Next.Cells) == 0:
			case next.Seeds == nil || t.Next.Seeds[0] < next.Seeds[0]:
				next = t.Next
			case t.Next.Seeds[0] == next.Seeds[0]:
				next.Cells = append(next.Cells, t.Next.Cells...)
			}
		}
		return all, next, nil
	}
	all, next, err := answers()
	if err != nil {
		return err
	}
	if f.status {
		_, err := fmt.Fprintf(c.OutOrStdout(), "%s, tuned: %d trainings left to look at on %d splits\n", f.data, len(next.Cells), len(next.Seeds))
		return err
	}
	for !f.summary && len(next.Cells) > 0 {
		before := next
		if err := f.train(c, store, next, paper.ProtocolHash(), shard, shards); err != nil {
			return err
		}
		if all, next, err = answers(); err != nil {
			return err
		}
		if len(next.Cells) > 0 && next.Seeds[0] == before.Seeds[0] {
			break // the rest is other shards'
		}
	}
	w := bufio.NewWriter(c.OutOrStdout())
	for _, t := range all {
		fmt.Fprintf(w, "%s, %s, %s, %d%%\n", t.Data, t.Model, t.Setting, t.TrainPercent)
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
				fmt.Fprintf(w, ", %+.2f points (95 %% interval %+.2f to %+.2f, p %s) from plain", test.MeanDifference, test.Low, test.High, stats.ProbabilityText(test.P))
			}
			fmt.Fprintf(w, "; %s\n", arm.Words())
		}
	}
	if err := printPooled(w, all, models); err != nil {
		return err
	}
	return w.Flush()
}

// printPooled says of each model, and of all together, how the arms do from one another over all cells that have run.
func printPooled(w io.Writer, all []multiverse.Tuned, models []string) error {
	var groups [][]string
	for _, model := range models {
		groups = append(groups, []string{model})
	}
	if len(models) > 1 {
		groups = append(groups, models)
	}
	arms := multiverse.TunedArms()
	for _, group := range groups {
		said := false
		for i, arm := range arms {
			for _, against := range arms[:i] {
				effect, cells, err := multiverse.Pooled(all, group, arm, against)
				if err != nil {
					return err
				}
				if cells == 0 {
					continue
				}
				if !said {
					fmt.Fprintf(w, "%s, over the %d cells above that have every arm\n", strings.Join(group, ", "), cells)
					said = true
				}
				fmt.Fprintf(w, "    %s: %+.2f points (95 %% interval %+.2f to %+.2f) from %s\n", arm, effect.MeanDifference, effect.Low, effect.High, against)
			}
		}
	}
	return nil
}
