package main

import (
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
	"nodemask/internal/svg"
	"nodemask/internal/wholefile"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/stats"
)

var trainGroups = []flagGroup{
	{"What is trained on", []string{"data", "data-dir", "setting", "train", "split", "arrivals", "split-seed"}},
	{"The experiment", []string{"preset", "model", "trials", "seed"}},
	{"Node masking, and what else regularises", []string{"keep-rate", "regulariser", "dropout"}},
	{"The model and its training", []string{"layers", "hidden", "learning-rate", "max-epochs", "stop-on", "set"}},
	{"What comes out", []string{"json", "cache-inference", "save-model", "save-cache"}},
	{"Graphs larger than memory", []string{"batches", "memory", "checkpoint"}},
	{"Where it runs", []string{"backend", "jobs"}},
}

type trainFlags struct {
	data, dataDir, model, setting, preset string
	saveModel, saveCache, backend         string
	trainPercent, trials, jobs            int
	seed, splitSeed                       uint64
	axes                                  []*axisFlag
	set                                   *setFlag
	cacheInference, json                  bool
	batched                               batchFlags
}

func newTrainCommand() *cobra.Command { return trainCommand(new(trainFlags)) }

func trainCommand(f *trainFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a model on a graph, a number of times, and report its macro F1",
		Long: `Train a model on a graph, a number of times, and report its macro F1: the F1 of each class, averaged.

--preset paper is the paper's experiment: twenty trials, each on a split of its own, without node masking and with it,
beside the published numbers. Without it, all trials share one split and differ in first weights, masks and dropout,
and nothing is masked unless --keep-rate says so. The same seed gives the same numbers to the last digit on the same
backend.`,
		Example: `  nodemask train --preset paper --data cora --model gin --setting inductive
  nodemask train --data cora --setting transductive --train 10 --keep-rate 0.5
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
	f.set = addSet(flags, f.axes)
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
	c.MarkFlagsMutuallyExclusive("split-seed", "resplit")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.set.help {
			_, err := fmt.Fprint(c.OutOrStdout(), f.set.usages())
			return err
		}
		return f.run(c)
	}
	groupFlags(c, trainGroups)
	return c
}

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
		"experiment, of %s", strings.Join(presets, ", "), from, presets[0], strings.Join(judge.Models(), ", "))
}

const paperPreset = "paper"

type arm struct {
	record.Cell
	usual record.Cell
}

// arms returns the cells that the flags describe: the preset's, changed by the given axes. The paper's experiment has
// two, without and with node masking, unless a keep rate is given.
func (f *trainFlags) arms(c *cobra.Command) ([]arm, error) {
	if f.preset == "" {
		f.preset = hyper.TraitsOf(f.model).Preset
	}
	setting := datasets.Setting(f.setting)
	if err := setting.Check(); err != nil {
		return nil, err
	}
	var cells []record.Cell
	changed := c.Flags().Changed
	if f.preset == paperPreset {
		plain, masked, err := judge.Arms(f.data, f.model, setting, f.trainPercent)
		if err != nil {
			return nil, fmt.Errorf("--preset %s: %w", paperPreset, err)
		}
		cells = []record.Cell{plain, masked}
		if keep := f.axis("keep-rate"); keep.apply != nil {
			of := plain
			keep.apply(&of)
			cells = map[bool][]record.Cell{false: {plain}, true: {masked}}[of.Parameters.KeepRate.Active()]
		}
		for i := range cells {
			cells[i].Resplit = !changed("split-seed") && f.axis("split").text != "own"
		}
		if !changed("trials") {
			f.trials = judge.Splits
		}
		if !changed("seed") {
			f.seed = judge.FirstSplit
		}
	} else {
		p, err := hyper.Preset(f.preset)
		if err != nil {
			return nil, err
		}
		p.Model = f.model
		if hyper.TraitsOf(f.model).Heads && p.Heads == 0 && f.axis("heads").apply == nil {
			return nil, fmt.Errorf("--preset %s: it has no attention heads, which %s needs: leave it out, for --preset %s, "+
				"or give --set heads=8", f.preset, f.model, hyper.TraitsOf(f.model).Preset)
		}
		cells = []record.Cell{{Data: f.data, Setting: setting, TrainPercent: f.trainPercent, Parameters: p}}
	}
	var arms []arm
	for _, cell := range cells {
		x := arm{cell, cell}
		x.Cached = f.cacheInference
		for _, a := range f.axes { // masking removes attention dropout, so an explicit one comes after it
			if a.apply != nil {
				a.apply(&x.Cell)
			}
		}
		if err := x.Parameters.Check(); err != nil {
			return nil, err
		}
		arms = append(arms, x)
	}
	return arms, nil
}

func (f *trainFlags) axis(flag string) *axisFlag {
	return f.axes[slices.IndexFunc(f.axes, func(a *axisFlag) bool { return a.Flag == flag })]
}

var ofModels = map[string]func(hyper.Traits) bool{
	"mlp-layers":        func(t hyper.Traits) bool { return t.MLP },
	"epsilon":           func(t hyper.Traits) bool { return t.MLP },
	"learn-epsilon":     func(t hyper.Traits) bool { return t.MLP },
	"heads":             func(t hyper.Traits) bool { return t.Attention },
	"attention-dropout": func(t hyper.Traits) bool { return t.Attention },
}

// check returns an error for invalid flags and for those without effect on what is trained.
func (f *trainFlags) check(c *cobra.Command, arms []arm) error {
	cell, changed := arms[0], c.Flags().Changed
	for _, a := range f.axes {
		reads := ofModels[a.Flag]
		if a.apply == nil || reads == nil || reads(hyper.TraitsOf(f.model)) {
			continue
		}
		models := slices.DeleteFunc(hyper.Models(), func(name string) bool { return !reads(hyper.TraitsOf(name)) })
		return misusef("--%s: the model %s does not read it: expected --model %s, or the flag left out", a.Flag, f.model,
			strings.Join(models, " or "))
	}
	switch {
	case f.axis("arrivals").apply != nil && cell.Setting == datasets.Transductive && cell.Arrivals != datasets.AllEdges:
		return misusef("--arrivals %s: nodes arrive in the inductive setting only", cell.Arrivals)
	case f.cacheInference && cell.Setting != datasets.Inductive:
		return misusef("--cache-inference: nodes arrive in the inductive setting only")
	case f.saveCache != "" && (f.saveModel == "" || cell.Setting != datasets.Inductive):
		return misusef("--save-cache: expected --save-model too, and the inductive setting")
	case f.saveModel != "" && len(arms) > 1:
		return misusef("--save-model: --preset %s trains without node masking and with it: expected --keep-rate too", f.preset)
	case cell.Parameters.CheckOneRun() != nil && (f.saveModel != "" || f.cacheInference):
		return misusef("--regulariser %s: %w, or neither --save-model nor --cache-inference", cell.Parameters.Regulariser,
			cell.Parameters.CheckOneRun())
	case f.trainPercent < 1 || f.trainPercent > 99:
		return misusef("--train %d: expected 1 to 99 percent of the nodes", f.trainPercent)
	case cell.OwnSplit && (slices.ContainsFunc([]string{"train", "validation", "split-seed"}, changed) || cell.Resplit):
		return misusef("--split own: the data say which nodes are which: leave out --train, --validation, --split-seed and " +
			"--resplit")
	case cell.Parameters.Regulariser == hyper.DropoutRegulariser && changed("dropout") &&
		cell.Parameters.Dropout != 0: // 0 leaves it to the regulariser, as in the paper's tables
		return misusef("--regulariser %s and --dropout %v: both set the rate of dropout: leave out --dropout, or "+
			"--regulariser", c.Flag("regulariser").Value, cell.Parameters.Dropout)
	case f.trials < 1 || f.trials > 1_000_000:
		return misusef("--trials %d: expected 1 to 1000000", f.trials)
	case f.jobs < 0:
		return misusef("--jobs %d: expected a number of trials to run side by side, or 0 to choose", f.jobs)
	}
	for _, flag := range []string{"save-model", "save-cache"} {
		if file := c.Flags().Lookup(flag).Value.String(); file != "" {
			if err := checkWritable(flag, file); err != nil { // before training
				return err
			}
		}
	}
	return f.checkBatches(c, cell.Parameters)
}

func (f *trainFlags) run(c *cobra.Command) error {
	arms, err := f.arms(c)
	switch {
	case err != nil && !slices.Contains(hyper.Models(), f.model):
		return misuse{didYouMean(err, f.model, hyper.Models())}
	case err != nil:
		return misuse{didYouMean(err, f.preset, hyper.Presets())}
	}
	if err := f.check(c, arms); err != nil {
		return err
	}
	var b *backend.Backend
	if info, generated := datasets.Generated(f.data); generated && !f.batched.on { // refuse before generating
		if b, err = openBackend(c.ErrOrStderr(), f.backend); err != nil {
			return err
		}
		if err := measure.Experiment(arms[0].Cell, nil).CheckSize(b, info); err != nil {
			return fmt.Errorf("%s: %w", f.data, err)
		}
	}
	graph, err := openGraph(c.Context(), c.ErrOrStderr(), f.data, f.dataDir)
	if err != nil {
		return err
	}
	if err := f.checkText(graph); err != nil { // before training
		return err
	}
	if arms[0].OwnSplit {
		if graph.OwnSplit == nil {
			return misusef("--split own: %s has no train, validation and test nodes of its own; see 'nodemask data describe'",
				f.data)
		}
		for i := range arms {
			arms[i].TrainPercent = graph.OwnSplit.TrainPercent
		}
	}
	if err := graph.CheckTrainable(); err != nil {
		return misusef("--data %s: %w; see 'nodemask data describe'", f.data, err)
	}
	if b == nil {
		if b, err = openBackend(c.ErrOrStderr(), f.backend); err != nil {
			return err
		}
	}
	if note := f.differs(c, arms[0].Cell); note != "" {
		fmt.Fprintln(c.ErrOrStderr(), note)
	}
	var scores [][]*train.Result
	for _, a := range arms {
		results, err := f.train(c, b, graph, a, len(scores) == 0)
		if err != nil {
			return err
		}
		scores = append(scores, results)
	}
	if len(arms) > 1 && !f.json {
		return f.compare(c, graph, scores[0], scores[1])
	}
	return nil
}

// differs describes how the training differs from the paper's experiment, if comparable, or that nothing is masked
// though this was not asked for; else "".
func (f *trainFlags) differs(c *cobra.Command, cell record.Cell) string {
	p := cell.Parameters
	switch _, masked, err := judge.Arms(f.data, f.model, cell.Setting, f.trainPercent); {
	case f.preset == paperPreset:
		return ""
	case err == nil && slices.Contains(judge.Data(), f.data) && !c.Flags().Changed("preset"):
		return "the paper's experiment is --preset paper, which adds " +
			strings.Join(flagsOf(masked.Differences(cell), nil), " ")
	case !p.KeepRate.Active() && c.Flags().Changed("mask-over"):
		return "nothing is masked at --keep-rate 1, whatever --mask-over says"
	case !p.KeepRate.Active() && !c.Flags().Changed("keep-rate") && p.Regulariser == "":
		return "nothing is masked: --keep-rate is 1 unless given; the paper's tables have 0.5"
	}
	return ""
}

func (f *trainFlags) train(c *cobra.Command, b *backend.Backend, graph *datasets.Graph, a arm, first bool) (
	[]*train.Result, error) {
	x := measure.Experiment(a.Cell, graph)
	x.SplitSeed, x.Smoothness, x.Keep = f.splitSeed, f.json && !f.batched.on, f.saveCache != ""
	out := c.OutOrStdout()
	var emit func(*train.Result) error
	if f.json {
		encoder := json.NewEncoder(plainJSON{out})
		emit = func(r *train.Result) error {
			if f.batched.on {
				return encoder.Encode(batchedRecord{measure.Record(x, b, r), f.batched.said.Batches})
			}
			return encoder.Encode(measure.Record(x, b, r))
		}
	}
	split, err := x.Split(f.seed)
	if err != nil {
		return nil, err
	}
	if first {
		for _, note := range thinSplit(x, split) {
			fmt.Fprintln(c.ErrOrStderr(), svg.Plain(note))
		}
	}
	run := x.Run
	if f.batched.on {
		if run, err = f.batched.runner(c, x); err != nil {
			return nil, err
		}
	}
	results, err := runTrials(c, b, x, hyper.Seeds(f.seed, f.trials), f.jobs, emit, run)
	if !f.json && len(results) > 0 {
		fmt.Fprintln(out, svg.Plain(title(x, f.preset)+f.changed(c, a.Cell, a.usual)))
		if !x.OwnSplit { // the title has its sizes; drawn splits have the same sizes for every seed
			fmt.Fprintln(out, sizes(split))
		}
		if err := printTable(out, trialTable(results), false); err != nil {
			return nil, err
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
		return results, f.save(c, x, results)
	}
	return results, err
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

// save writes the best trial's model, and its cache if asked: both or neither.
func (f *trainFlags) save(c *cobra.Command, x train.Experiment, results []*train.Result) error {
	best := results[slices.IndexFunc(results, func(r *train.Result) bool { return r.Weights != nil })]
	saved := best.Saved(x)
	release, err := wholefile.Hold(c.Context(), f.saveModel) // a model and a cache of two processes do not match
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
		_ = say(c.ErrOrStderr(), "saved the cache of %d nodes in %s", len(best.Cache.IDs), f.saveCache)
	}
	_ = say(c.ErrOrStderr(), "saved the model of seed %d in %s", best.Seed, f.saveModel) // notes may get lost
	return nil
}

type runFunc = func(context.Context, *backend.Backend, []uint64, train.RunOptions) ([]*train.Result, error)

// runTrials runs an experiment with a progress line, and calls emit, if not nil, per trial in the order of the seeds.
// Only the best result keeps its weights and cache. If interrupted, it returns the results so far with the error.
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

var titled = []string{"arrivals", "split", "keep-rate", "regulariser", "layers"}

func flagsOf(choices []record.Choice, without []string) (flags []string) {
	for _, choice := range choices {
		switch a := choice.Axis; {
		case slices.Contains(without, a.Flag):
		case a.Switch == "":
			flags = append(flags, "--"+a.Flag+" "+choice.Value)
		case a.Switch == choice.Value:
			flags = append(flags, "--"+a.Flag)
		default:
			flags = append(flags, "--"+a.Flag+"=false")
		}
	}
	return flags
}

// changed returns the flags that differ from the preset's cell and change numbers, for the title: runs with different
// numbers must not share a title. "" if there are none.
func (f *trainFlags) changed(c *cobra.Command, cell, usual record.Cell) string {
	flags := flagsOf(cell.Differences(usual), titled)
	if f.splitSeed != 1 {
		flags = append(flags, fmt.Sprintf("--split-seed %d", f.splitSeed))
	}
	for _, flag := range []string{"batches", "memory"} {
		if c.Flags().Changed(flag) {
			flags = append(flags, "--"+flag+" "+c.Flag(flag).Value.String())
		}
	}
	if len(flags) == 0 {
		return ""
	}
	return ", " + strings.Join(flags, " ")
}

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
	if x.Graph.Source != "embedded" { // another source may order nodes differently, and so split them differently
		from = fmt.Sprintf(" (%s)", x.Graph.Source)
	}
	split := fmt.Sprintf("%d%% to train on", x.TrainPercent)
	if s := x.Graph.OwnSplit; x.OwnSplit {
		split = fmt.Sprintf("its own split of %d, %d and %d nodes", len(s.Train), len(s.Validation), len(s.Test))
		if n := len(x.Graph.OwnSplits); n > 1 { // of about the same sizes
			split = fmt.Sprintf("its own %d splits, a trial each, the first of %d, %d and %d nodes", n, len(s.Train),
				len(s.Validation), len(s.Test))
		}
	}
	return fmt.Sprintf("%s%s, %s, %s%s: %d-layer %s (preset %s), %s", x.Graph.Name, from, x.Setting, split, joined,
		x.Parameters.Layers, hyper.Title(x.Parameters.Model), preset, masking)
}
