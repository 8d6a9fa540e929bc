package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/svg"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/stats"
)

func (f *trainFlags) train(c *cobra.Command, b *backend.Backend, graph *datasets.Graph, a arm, first bool) (
	[]*train.Result, error) {
	x := measure.Experiment(a.Cell, graph)
	x.SplitSeed, x.Smoothness, x.Keep = f.splitSeed, f.json && f.batches == 0, f.saveCache
	out := c.OutOrStdout()
	var emit func(*train.Result) error
	if f.json {
		encoder := json.NewEncoder(plainJSON{out})
		emit = func(r *train.Result) error {
			if f.batches != 0 {
				return encoder.Encode(batchedRecord{measure.Record(x, b, r), f.batches})
			}
			return encoder.Encode(measure.Record(x, b, r))
		}
	}
	run := x.Run
	if f.batches != 0 {
		var err error
		if run, err = f.runInBatches(x); err != nil {
			return nil, err
		}
	}
	results, err := runTrials(c, b, hyper.Seeds(f.seed, f.trials), f.jobs, emit, run)
	if !f.json && len(results) > 0 {
		fmt.Fprintln(out, svg.Plain(title(x, f.preset)+f.changed(a.Cell, a.usual)))
		if split := splitOf(results); split != nil {
			fmt.Fprintf(out, "%d nodes train, %d validate and %d test\n", len(split.Train), len(split.Validation), len(split.Test))
		}
		if err := printTable(out, trialTable(results)); err != nil {
			return nil, err
		}
		if n := results[0].Nodes; n != nil {
			fmt.Fprintf(out, "Nodes needed to predict the test nodes: %d reached in %d hops, of %d in all; "+
				"%d with cached train nodes.\n", n.Reached, x.Parameters.Layers, n.All, n.Cached)
		}
	}
	if split := splitOf(results); split != nil && first {
		for _, note := range thinSplit(x, split) {
			fmt.Fprintln(c.ErrOrStderr(), svg.Plain(note))
		}
	}
	if err == nil {
		for _, note := range poorTrials(x, results) {
			fmt.Fprintln(c.ErrOrStderr(), note)
		}
	}
	if err == nil && f.saveModel != "" {
		return results, f.save(c, x, results)
	}
	return results, err
}

func splitOf(results []*train.Result) *datasets.Split {
	for _, r := range results {
		if r.Split != nil {
			return r.Split
		}
	}
	return nil
}

func (f *trainFlags) compare(c *cobra.Command, g *datasets.Graph, plain, masked []*train.Result) error {
	percent := func(results []*train.Result) (all []float64) {
		for _, r := range results {
			all = append(all, 100*r.Test.MacroF1)
		}
		return all
	}
	a, b := percent(masked), percent(plain)
	line := fmt.Sprintf("Node masking changes macro F1 by %+.2f points", stats.Summarize(a).Mean-stats.Summarize(b).Mean)
	if len(a) > 1 {
		effect, err := stats.PairedTTest(a, b)
		if err != nil {
			return err
		}
		line += fmt.Sprintf(" [%+.2f, %+.2f] over %d splits", effect.Low, effect.High, effect.N)
	}
	published := func(masked bool) *float64 {
		return report.Published(g.Name, f.model, datasets.Setting(f.setting), f.trainPercent, masked)
	}
	if from, to := published(false), published(true); from != nil && to != nil {
		line += fmt.Sprintf("; the paper: %.2f without, %.2f with it", *from, *to)
	}
	if f.trials < judge.Splits {
		line += fmt.Sprintf(". The experiment has %d splits", judge.Splits)
	}
	_, err := fmt.Fprintln(c.OutOrStdout(), line+".")
	return err
}

func (f *trainFlags) save(c *cobra.Command, x train.Experiment, results []*train.Result) error {
	best := results[slices.IndexFunc(results, func(r *train.Result) bool { return r.Weights != nil })]
	saved := best.Saved(x)
	with := ""
	if f.saveCache {
		if err := saved.SaveWith(f.saveModel, best.Cache); err != nil {
			return err
		}
		with = fmt.Sprintf(", with a cache of %d nodes", len(best.Cache.IDs))
	} else if err := saved.Save(f.saveModel); err != nil {
		return err
	}
	_ = say(c.ErrOrStderr(), "saved the model of seed %d in %s%s", best.Seed, f.saveModel, with) // best effort
	return nil
}

type runFunc = func(context.Context, *backend.Backend, []uint64, train.RunOptions) ([]*train.Result, error)

// runTrials runs a trial per seed and calls emit (unless nil) with each result, in the order of the seeds.
func runTrials(c *cobra.Command, b *backend.Backend, seeds []uint64, jobs int, emit func(*train.Result) error,
	run runFunc) ([]*train.Result, error) {
	if jobs == 0 {
		jobs = 1
		if b.Plugin == "" {
			jobs = runtime.NumCPU()
		}
	}
	progress := newTicker(c.ErrOrStderr())
	finished := make([]*train.Result, len(seeds))
	emitted := 0
	var broken error
	flush := func(skipMissing bool) {
		for ; emitted < len(seeds) && broken == nil; emitted++ {
			if r := finished[emitted]; r != nil && emit != nil {
				broken = emit(r)
			} else if r == nil && !skipMissing {
				return
			}
		}
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	done := func(i int, r *train.Result) {
		finished[i] = r
		if flush(false); broken != nil {
			cancel()
		}
	}
	o := train.RunOptions{Jobs: jobs, KeepBest: true, Done: done}
	o.Progress = func(e train.Progress) {
		progress.say("trial %d of %d, epoch %d: loss %.3f train %.3f validation, validation F1 %.1f %%", e.Trial+1, len(seeds),
			e.Epoch, e.Last.TrainLoss, e.Last.ValidationLoss, 100*e.Last.ValidationF1)
	}
	_, err := run(ctx, b, seeds, o)
	flush(true)
	results := slices.DeleteFunc(finished, func(r *train.Result) bool { return r == nil })
	switch {
	case broken != nil:
		return results, fmt.Errorf("writing the result: %w", broken)
	case errors.Is(err, context.Canceled):
		return results, fmt.Errorf("interrupted: %d of %d trials were finished", len(results), len(seeds))
	}
	return results, err
}

func flagsOf(choices []record.Choice) (flags []string) {
	for _, choice := range choices {
		flags = append(flags, strings.Join(choice.Arguments(), " "))
	}
	return flags
}

func (f *trainFlags) changed(cell, usual record.Cell) string {
	usual.Resplit = cell.Resplit && f.preset == paperPreset
	flags := flagsOf(cell.Differences(usual))
	if f.splitSeed != 1 {
		flags = append(flags, fmt.Sprintf("--split-seed %d", f.splitSeed))
	}
	if f.batches != 0 {
		flags = append(flags, fmt.Sprintf("--batches %d", f.batches))
	}
	if len(flags) == 0 {
		return ""
	}
	return ", " + strings.Join(flags, " ")
}

func title(x train.Experiment, preset string) string {
	from := ""
	if x.Graph.Source != "embedded" { // another source may order nodes differently and so change the split
		from = fmt.Sprintf(" (%s)", x.Graph.Source)
	}
	split := fmt.Sprintf("%d%% to train on", x.TrainPercent)
	if n := len(x.Graph.OwnSplits); x.OwnSplit && n > 1 {
		split = fmt.Sprintf("its own %d splits, a trial each", n) // all of about the same sizes
	} else if x.OwnSplit {
		split = "its own split"
	}
	return fmt.Sprintf("%s%s, %s, %s: %s (preset %s)", x.Graph.Name, from, x.Setting, split, hyper.Title(x.Parameters.Model),
		preset)
}

// batchedRecord is the record of a trial that trains in batches: printed, never stored.
type batchedRecord struct {
	record.Record
	Batches int `json:"batches"`
}

func (f *trainFlags) runInBatches(x train.Experiment) (runFunc, error) {
	if err := train.CheckBatches(x, f.batches); err != nil {
		return nil, misuse{err}
	}
	if err := train.Spill(x.Graph); err != nil {
		return nil, err
	}
	debug.SetGCPercent(25) // each batch leaves garbage
	debug.FreeOSMemory()
	return func(ctx context.Context, b *backend.Backend, seeds []uint64, o train.RunOptions) ([]*train.Result, error) {
		return train.InBatches(ctx, b, x, f.batches, seeds, o)
	}, nil
}
