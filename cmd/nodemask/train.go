package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

// trainGroups are the flags of train by what they are about.
var trainGroups = []flagGroup{
	{"What is trained on", []string{"data", "data-dir", "setting", "train", "split", "arrivals", "validation",
		"split-seed", "resplit", "raw-features"}},
	{"Node masking, and what else regularises", []string{"keep-rate", "mask-over", "rescale", "self-term", "regulariser",
		"dropout", "dropout-on", "attention-dropout"}},
	{"The model", []string{"model", "preset", "layers", "hidden", "mlp-layers", "epsilon", "learn-epsilon", "norm",
		"readout", "residual", "heads"}},
	{"Training", []string{"trials", "seed", "learning-rate", "weight-decay", "max-epochs", "patience", "stop-on"}},
	{"What comes out", []string{"json", "cache-inference", "save-model", "save-cache"}},
	{"Graphs larger than memory", []string{"batches", "memory", "checkpoint", "batch-dir"}},
	{"Where it runs", []string{"backend", "jobs"}},
}

// trainFlags are the flags of train: a cell, and how to run it.
type trainFlags struct {
	data, dataDir, model, setting, preset string
	saveModel, saveCache, backend         string
	trainPercent, trials, jobs            int
	seed, splitSeed                       uint64
	axes                                  []*axisFlag
	cacheInference, json                  bool
	batched                               batchFlags
}

func newTrainCommand() *cobra.Command { return trainCommand(new(trainFlags)) }

// trainCommand returns the command that fills f and runs it.
func trainCommand(f *trainFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a model on a graph, a number of times, and report its macro F1",
		Long: `Train a model on a graph, a number of times, and report its macro F1: the F1 of each class, averaged.

Without --keep-rate nothing is masked. All trials share one split and differ in first weights, masks and dropout
(--resplit draws a split for each; --split own takes the one that the data come with). The same seed gives the same
numbers to the last digit on the same backend.`,
		Example: `  nodemask train --data cora --setting transductive --train 10 --keep-rate 0.5
  nodemask train --data pubmed --setting inductive --train 50 --keep-rate 1 --trials 3 --json`,
	}
	flags := c.Flags()
	addData(flags, &f.data, &f.dataDir)
	flags.StringVar(&f.model, "model", "gin", "model: "+strings.Join(hyper.Models(), ", "))
	flags.StringVar(&f.setting, "setting", string(datasets.Inductive), "inductive (train on the train nodes and "+
		"the edges among them) or transductive (all nodes and edges are there)")
	flags.IntVar(&f.trainPercent, "train", 10, "size of the train set, in percent of the nodes")
	flags.IntVar(&f.trials, "trials", 10, "number of trials")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first trial; the next ones count up")
	flags.Uint64Var(&f.splitSeed, "split-seed", 1, "seed of the split that all trials share")
	flags.StringVar(&f.preset, "preset", "", presetHelp())
	f.axes = addAxes(flags)
	flags.BoolVar(&f.cacheInference, "cache-inference", false, "inductive: also predict new nodes from cached "+
		"representations of the train nodes, together (they see one another) and apart (they do not)")
	flags.StringVar(&f.saveModel, "save-model", "",
		"safetensors file for the trained model of the trial with the best validation score")
	flags.StringVar(&f.saveCache, "save-cache", "", "inductive: safetensors file for what 'nodemask predict' needs of "+
		"the train nodes, for the model that --save-model saves")
	addBackend(flags, &f.backend, "")
	flags.IntVar(&f.jobs, "jobs", 0, "trials side by side (default: 1 with XLA, one a core with go)")
	f.batched.add(flags)
	flags.BoolVar(&f.json, "json", false, "print one JSON object a trial instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	groupFlags(c, trainGroups)
	return c
}

// presetHelp is what --preset says: which presets there are, and which model starts from which.
func presetHelp() string {
	presets := hyper.Presets()
	from := ""
	for _, preset := range presets[1:] {
		of := slices.DeleteFunc(hyper.Models(), func(model string) bool { return hyper.TraitsOf(model).Preset != preset })
		if len(of) > 0 {
			from += preset + " for " + strings.Join(of, ", ") + "; "
		}
	}
	return fmt.Sprintf("hyperparameters that other flags change: %s (default: %s%s for the others); paper is the paper's "+
		"GIN, whose inductive tables have --arrivals %s too", strings.Join(presets, ", "), from, presets[0],
		datasets.TrainEdges)
}

// cell is what the flags describe: the preset, changed by every axis whose flag was given.
func (f *trainFlags) cell() (record.Cell, error) {
	if f.preset == "" {
		f.preset = hyper.TraitsOf(f.model).Preset
	}
	p, err := hyper.Preset(f.preset)
	if err != nil {
		return record.Cell{}, err
	}
	p.Model = f.model
	if p.Norm != "" && !hyper.TraitsOf(f.model).MLP {
		return record.Cell{}, fmt.Errorf("--preset %s: this is GIN; expected --model gin, or --preset %s", f.preset,
			cmp.Or(hyper.TraitsOf(f.model).Preset, hyper.Presets()[0]))
	}
	attends := hyper.TraitsOf(f.model).Heads
	heads := func(a *axisFlag) bool { return a.Flag == "heads" && a.given }
	if attends && p.Heads == 0 && !slices.ContainsFunc(f.axes, heads) {
		return record.Cell{}, fmt.Errorf("--preset %s: it has no attention heads, which %s needs: leave it out, "+
			"for --preset %s, or give --heads", f.preset, f.model, hyper.TraitsOf(f.model).Preset)
	}
	c := record.Cell{Data: f.data, TrainPercent: f.trainPercent, Parameters: p, Cached: f.cacheInference}
	c.Setting = datasets.Setting(f.setting)
	if err := c.Setting.Check(); err != nil {
		return record.Cell{}, err
	}
	for _, a := range f.axes { // masking takes attention dropout away, and one that is given comes behind it
		if a.given {
			if err := a.Axis.Set(&c, a.text); err != nil {
				return record.Cell{}, fmt.Errorf("--%s %w", a.Flag, err)
			}
		}
	}
	return c, c.Parameters.Check()
}

// checkRead returns an error for a flag that was given and that the cell or its model does not read.
func (f *trainFlags) checkRead(c *cobra.Command, keep hyper.KeepRate) error {
	for _, flag := range []string{"mask-over", "rescale", "self-term"} {
		if c.Flags().Changed(flag) && !keep.Active() {
			return misusef("--%s: nothing is masked: expected --keep-rate below 1, or the flag left out", flag)
		}
	}
	for _, of := range []struct {
		flags []string
		read  func(hyper.Traits) bool
	}{
		{[]string{"mlp-layers", "epsilon", "learn-epsilon"}, func(t hyper.Traits) bool { return t.MLP }},
		{[]string{"heads", "attention-dropout"}, func(t hyper.Traits) bool { return t.Attention }},
	} {
		if of.read(hyper.TraitsOf(f.model)) {
			continue
		}
		models := slices.DeleteFunc(hyper.Models(), func(name string) bool { return !of.read(hyper.TraitsOf(name)) })
		for _, flag := range of.flags {
			if c.Flags().Changed(flag) {
				return misusef("--%s: the model %s does not read it: expected --model %s, or the flag left out", flag, f.model,
					strings.Join(models, " or "))
			}
		}
	}
	return nil
}

func (f *trainFlags) run(c *cobra.Command) error {
	cell, err := f.cell()
	switch {
	case err != nil && !slices.Contains(hyper.Models(), f.model):
		return misuse{didYouMean(err, f.model, hyper.Models())}
	case err != nil:
		return misuse{didYouMean(err, f.preset, hyper.Presets())}
	}
	if err := f.checkRead(c, cell.Parameters.KeepRate); err != nil {
		return err
	}
	setting := cell.Setting
	switch {
	case setting == datasets.Transductive && cell.Arrivals != "" && cell.Arrivals != datasets.AllEdges:
		return misusef("--arrivals %s: nodes arrive in the inductive setting only", cell.Arrivals)
	case f.cacheInference && setting != datasets.Inductive:
		return misusef("--cache-inference: nodes arrive in the inductive setting only")
	case f.saveCache != "" && (f.saveModel == "" || setting != datasets.Inductive):
		return misusef("--save-cache: expected --save-model too, and the inductive setting")
	case cell.Parameters.CheckOneRun() != nil && (f.saveModel != "" || f.cacheInference):
		return misusef("--regulariser %s: %w, or neither --save-model nor --cache-inference", cell.Parameters.Regulariser,
			cell.Parameters.CheckOneRun())
	case f.trainPercent < 1 || f.trainPercent > 99:
		return misusef("--train %d: expected 1 to 99 percent of the nodes", f.trainPercent)
	case cell.OwnSplit && (slices.ContainsFunc([]string{"train", "validation", "split-seed"}, c.Flags().Changed) ||
		cell.Resplit):
		return misusef("--split own: the data say which nodes are which: leave out --train, --validation, --split-seed and " +
			"--resplit")
	case cell.Resplit && c.Flags().Changed("split-seed"):
		return misusef("--split-seed and --resplit: each trial's seed draws its split then: leave out --split-seed, or " +
			"--resplit")
	case cell.Parameters.Regulariser == hyper.DropoutRegulariser && c.Flags().Changed("dropout") &&
		cell.Parameters.Dropout != 0: // 0 leaves it to the regulariser, as the paper's tables of regularisers have it
		return misusef("--regulariser %s and --dropout %v: both set the rate of dropout: leave out --dropout, or "+
			"--regulariser", c.Flag("regulariser").Value, cell.Parameters.Dropout)
	case f.trials < 1 || f.trials > 1_000_000:
		return misusef("--trials %d: expected 1 to 1000000", f.trials)
	case f.jobs < 0:
		return misusef("--jobs %d: expected a number of trials to run side by side, or 0 to choose", f.jobs)
	}
	for _, flag := range []string{"save-model", "save-cache"} {
		if file := c.Flags().Lookup(flag).Value.String(); file != "" {
			if err := checkWritable(flag, file); err != nil { // before all is trained
				return err
			}
		}
	}
	if err := f.checkBatches(c, cell.Parameters); err != nil {
		return err
	}
	var b *backend.Backend
	if info, generated := datasets.Generated(f.data); generated && !f.batched.on { // refused before it is made
		if b, err = openBackend(c.ErrOrStderr(), f.backend); err != nil {
			return err
		}
		if err := measure.Experiment(cell, nil).CheckSize(b, info); err != nil {
			return fmt.Errorf("%s: %w", f.data, err)
		}
	}
	graph, err := openGraph(c.Context(), c.ErrOrStderr(), f.data, f.dataDir)
	if err != nil {
		return err
	}
	if err := f.checkText(graph); err != nil { // before all is trained, likewise
		return err
	}
	if cell.OwnSplit {
		if graph.OwnSplit == nil {
			return misusef("--split own: %s has no train, validation and test nodes of its own; see 'nodemask data describe'",
				f.data)
		}
		cell.TrainPercent = graph.OwnSplit.TrainPercent
	}
	if err := graph.CheckTrainable(); err != nil {
		return misusef("--data %s: %w; see 'nodemask data describe'", f.data, err)
	}
	if b == nil {
		if b, err = openBackend(c.ErrOrStderr(), f.backend); err != nil {
			return err
		}
	}
	if !c.Flags().Changed("keep-rate") && !cell.Parameters.KeepRate.Active() && cell.Parameters.Regulariser == "" {
		fmt.Fprintln(c.ErrOrStderr(), "nothing is masked: --keep-rate is 1 unless given; the paper's tables have 0.5")
	}
	if f.preset == "paper" && setting == datasets.Inductive && !c.Flags().Changed("arrivals") {
		fmt.Fprintln(c.ErrOrStderr(), "new nodes arrive with all their edges; the paper's tables have --arrivals train-edges")
	}
	x := measure.Experiment(cell, graph)
	x.SplitSeed, x.Smoothness, x.Keep = f.splitSeed, f.json && !f.batched.on, f.saveCache != ""
	out := c.OutOrStdout()
	var emit func(*train.Result) error
	if f.json {
		encoder := json.NewEncoder(out)
		emit = func(r *train.Result) error {
			if f.batched.on {
				return encoder.Encode(batchedRecord{measure.Record(x, b, r), f.batched.said.Batches})
			}
			return encoder.Encode(measure.Record(x, b, r))
		}
	}
	split, err := x.Split(f.seed)
	if err != nil {
		return err
	}
	for _, note := range thinSplit(x, split) {
		fmt.Fprintln(c.ErrOrStderr(), note)
	}
	run := x.Run
	if f.batched.on {
		if run, err = f.batched.runner(c, x); err != nil {
			return err
		}
	}
	results, err := runTrials(c, b, x, hyper.Seeds(f.seed, f.trials), f.jobs, emit, run)
	if !f.json && len(results) > 0 {
		fmt.Fprintln(out, title(x, f.preset)+f.changed(c, cell))
		if !x.OwnSplit { // whose sizes the title has; those of drawn splits are the same for every seed
			fmt.Fprintln(out, sizes(split))
		}
		if err := printTable(out, trialTable(results), false); err != nil {
			return err
		}
		if n := results[0].Nodes; n != nil {
			fmt.Fprintf(out, "Nodes needed to predict the test nodes: %d reached in %d hops, of %d in all; "+
				"%d with cached train nodes.\n", n.Reached, x.Parameters.Layers, n.All, n.Cached)
		}
	}
	for _, note := range []string{collapsed(x, results), stoppedEarly(x, results)} {
		if err == nil && note != "" {
			fmt.Fprintln(c.ErrOrStderr(), note)
		}
	}
	if err == nil && f.saveModel != "" {
		return f.save(c, x, results)
	}
	return err
}

// checkText returns an error unless the names in a graph can be saved.
func (f *trainFlags) checkText(g *datasets.Graph) error {
	if f.saveModel == "" {
		return nil
	}
	err := errors.Join(cached.CheckText("class", g.Classes),
		cached.CheckText("feature", g.FeatureNames))
	if f.saveCache != "" {
		err = errors.Join(err, cached.CheckText("node", g.NodeIDs))
	}
	if err != nil {
		return fmt.Errorf("--data %s: %w", f.data, err)
	}
	return nil
}

// readBack returns an error unless what was saved can be read.
func (f *trainFlags) readBack(saved *cached.Model) error {
	if info, err := os.Stat(f.saveModel); err == nil && !info.Mode().IsRegular() {
		return nil // a pipe
	}
	m, err := cached.LoadModel(f.saveModel)
	if err == nil && m.Fingerprint() != saved.Fingerprint() {
		err = fmt.Errorf("%s: what was written reads as another model: this is a fault of the program", f.saveModel)
	}
	if err != nil || f.saveCache == "" {
		return err
	}
	c, err := cached.LoadCache(f.saveCache, m)
	if err != nil {
		return err
	}
	return c.Close()
}

// save writes the model of the best trial, and its cache if that is asked for: both or, if that fails, neither.
func (f *trainFlags) save(c *cobra.Command, x train.Experiment, results []*train.Result) error {
	best := results[slices.IndexFunc(results, func(r *train.Result) bool { return r.Weights != nil })]
	saved := best.Saved(x)
	release, err := wholefile.Hold(c.Context(), f.saveModel) // a model and a cache of two processes are no pair
	if err != nil {
		return err
	}
	defer release()
	if f.saveCache == "" {
		if err := saved.Save(f.saveModel); err != nil {
			return err
		}
	} else if err := cached.SaveBoth(saved, f.saveModel, best.Cache, f.saveCache); err != nil {
		return err
	}
	if err := f.readBack(saved); err != nil {
		return err
	}
	if f.saveCache != "" {
		fmt.Fprintf(c.ErrOrStderr(), "saved the cache of %d nodes in %s\n", len(best.Cache.IDs), f.saveCache)
	}
	fmt.Fprintf(c.ErrOrStderr(), "saved the model of seed %d in %s\n", best.Seed, f.saveModel)
	return nil
}

// runFunc is [train.Experiment.Run], or another way to run trials.
type runFunc = func(context.Context, *backend.Backend, []uint64, train.RunOptions) ([]*train.Result, error)

// runTrials runs an experiment with a progress line, and calls emit, if not nil, once a trial in the order of the
// seeds. Only the best result keeps its weights and cache. When it is interrupted, the results so far come with the
// error.
func runTrials(c *cobra.Command, b *backend.Backend, x train.Experiment, seeds []uint64, jobs int,
	emit func(*train.Result) error, run runFunc) ([]*train.Result, error) {
	if jobs == 0 {
		jobs = 1
		if b.Plugin == "" {
			jobs = runtime.NumCPU()
		}
	}
	line := newProgressLine(c.ErrOrStderr(), x, len(seeds))
	defer line.clear()
	finished := make([]*train.Result, len(seeds))
	emitted := 0
	var broken error
	flush := func(skipMissing bool) {
		for ; emitted < len(seeds) && broken == nil; emitted++ {
			if r := finished[emitted]; r != nil && emit != nil {
				line.clear()
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
		line.trial()
		if flush(false); broken != nil {
			cancel()
		}
	}
	_, err := run(ctx, b, seeds, train.RunOptions{Jobs: jobs, KeepBest: true,
		Progress: line.epoch, Done: done})
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

// titled are the flags of axes that [title] has in words.
var titled = []string{"arrivals", "split", "keep-rate", "regulariser", "layers"}

// changed is what a title adds: the flags, as they are given, of what differs from the preset and changes numbers, so
// that no two runs with different numbers have one title; "" if there are none.
func (f *trainFlags) changed(c *cobra.Command, cell record.Cell) string {
	usual, err := hyper.Preset(f.preset)
	if err != nil {
		return "" // the cell was made from it
	}
	usual.Model = f.model
	var flags []string
	for _, choice := range cell.Differences(record.Cell{Parameters: usual}) {
		switch a := choice.Axis; {
		case slices.Contains(titled, a.Flag):
		case a.Switch == "":
			flags = append(flags, "--"+a.Flag+" "+choice.Value)
		case a.Switch == choice.Value:
			flags = append(flags, "--"+a.Flag)
		default:
			flags = append(flags, "--"+a.Flag+"=false")
		}
	}
	if f.splitSeed != 1 {
		flags = append(flags, fmt.Sprintf("--split-seed %d", f.splitSeed))
	}
	for _, flag := range []string{"batches", "memory"} {
		if c.Flags().Changed(flag) {
			flags = append(flags, "--"+flag+" "+strings.Trim(c.Flag(flag).Value.String(), "[]"))
		}
	}
	if len(flags) == 0 {
		return ""
	}
	return ", " + strings.Join(flags, " ")
}

// title is the experiment in one line, and the preset that it started from.
func title(x train.Experiment, preset string) string {
	masking := "no node masking"
	if p := x.Parameters.KeepRate; p.Active() {
		masking = fmt.Sprintf("node masking, keep rate %v", p.Probability())
	}
	if p := x.Parameters; p.Regulariser != "" {
		and := ","
		if p.KeepRate.Active() {
			and = " and"
		}
		masking = fmt.Sprintf("%s %v%s %s", p.Regulariser, p.RegulariserRate, and, masking)
	}
	joined := ""
	if x.Setting == datasets.Inductive {
		switch x.Arrivals {
		case datasets.TrainEdges:
			joined = ", arrivals joined to train nodes only"
		case datasets.NoValidation:
			joined = ", arrivals without the validation nodes"
		}
	}
	from := ""
	if x.Graph.Source != "embedded" { // another source may have the nodes in another order, and so split them otherwise
		from = fmt.Sprintf(" (%s)", x.Graph.Source)
	}
	split := fmt.Sprintf("%d%% to train on", x.TrainPercent)
	if s := x.Graph.OwnSplit; x.OwnSplit {
		split = fmt.Sprintf("its own split of %d, %d and %d nodes", len(s.Train), len(s.Validation), len(s.Test))
		if n := len(x.Graph.OwnSplits); n > 1 { // whose sizes are about the same
			split = fmt.Sprintf("its own %d splits, a trial each, the first of %d, %d and %d nodes", n, len(s.Train),
				len(s.Validation), len(s.Test))
		}
	}
	return fmt.Sprintf("%s%s, %s, %s%s: %d-layer %s (preset %s), %s", x.Graph.Name, from, x.Setting, split, joined,
		x.Parameters.Layers, hyper.Title(x.Parameters.Model), preset, masking)
}
