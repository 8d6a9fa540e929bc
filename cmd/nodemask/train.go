package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/paper/judge"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

type trainFlags struct {
	data, dataDir, model, setting, preset string
	saveModel, backend                    string
	saveCache                             bool
	trainPercent, trials, jobs, batches   int
	seed, splitSeed                       uint64
	axes                                  []*axisFlag
	set                                   *setFlag
	cacheInference, json                  bool
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
	flags.StringVar(&f.preset, "preset", "", "hyperparameters that other flags change: "+strings.Join(hyper.Presets(), ", ")+
		" (default: the model's); paper is the paper's experiment, of "+strings.Join(judge.Models(), ", "))
	f.axes, f.set = addAxes(flags)
	flags.BoolVar(&f.cacheInference, "cache-inference", false, "inductive: also predict new nodes from cached "+
		"representations of the train nodes, together (they see one another) and apart (they do not)")
	flags.StringVar(&f.saveModel, "save-model", "",
		"safetensors file for the trained model of the trial with the best validation score")
	flags.BoolVar(&f.saveCache, "save-cache", false, "inductive: --save-model also saves what 'nodemask predict' needs of "+
		"the train nodes")
	addBackend(flags, &f.backend, "")
	flags.IntVar(&f.jobs, "jobs", 0, "trials side by side (default: 1 with XLA, one a core with go)")
	flags.IntVar(&f.batches, "batches", 0, "for a graph larger than memory: train on so many clusters of nodes (2 or "+
		"more), one after the other; neighbours in other clusters come from cached representations, in $TMPDIR")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a trial instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.set.help {
			_, err := fmt.Fprint(c.OutOrStdout(), f.set.usages())
			return err
		}
		return f.run(c)
	}
	return c
}

const paperPreset = "paper"

type arm struct {
	record.Cell
	usual record.Cell
}

func (f *trainFlags) arms(c *cobra.Command) ([]arm, error) {
	if f.preset == "" {
		f.preset = hyper.TraitsOf(f.model).Preset
	}
	setting := datasets.Setting(f.setting)
	if err := setting.Check(); err != nil {
		return nil, err
	}
	var cells []record.Cell
	var usual record.Cell
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
		usual = plain
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
		if hyper.TraitsOf(f.model).Heads && p.Heads == 0 && !f.given("heads") {
			return nil, fmt.Errorf("--preset %s: it has no attention heads, which %s needs: leave it out, for --preset %s, "+
				"or give --set heads=8", f.preset, f.model, hyper.TraitsOf(f.model).Preset)
		}
		usual = record.Cell{Data: f.data, Setting: setting, TrainPercent: f.trainPercent, Parameters: p}
		cells = []record.Cell{usual}
	}
	var arms []arm
	for _, cell := range cells {
		x := arm{cell, usual}
		x.Cached = f.cacheInference
		// Apply flags after the preset's masking: masking removes an attention dropout that a flag has set.
		for _, a := range f.axes {
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

func (f *trainFlags) given(flag string) bool { return f.axis(flag).apply != nil }

func (f *trainFlags) check(c *cobra.Command, arms []arm) error {
	cell, changed := arms[0], c.Flags().Changed
	for _, a := range f.axes {
		reads := ofModels[a.Flag]
		if a.apply == nil || reads == nil || reads(hyper.TraitsOf(f.model)) {
			continue
		}
		models := slices.DeleteFunc(hyper.Models(), func(name string) bool { return !reads(hyper.TraitsOf(name)) })
		return misusef("--set %s: the model %s does not read it: expected --model %s, or it left out", a.Flag, f.model,
			strings.Join(models, " or "))
	}
	switch {
	case f.saveCache && (f.saveModel == "" || cell.Setting != datasets.Inductive):
		return misusef("--save-cache: expected --save-model too, and the inductive setting")
	case f.saveModel != "" && len(arms) > 1:
		return misusef("--save-model: --preset %s trains without node masking and with it: expected --keep-rate too", f.preset)
	case cell.Parameters.CheckOneRun() != nil && f.saveModel != "":
		return misusef("--regulariser %s: %w, or no --save-model", cell.Parameters.Regulariser,
			cell.Parameters.CheckOneRun())
	case cell.OwnSplit && (changed("train") || changed("split-seed") || f.given("validation") || cell.Resplit):
		return misusef("--split own: the data say which nodes are which: leave out --train, --split-seed, and validation and " +
			"resplit of --set")
	case changed("split-seed") && f.given("resplit"):
		return misusef("--split-seed and --set resplit: expected one of them")
	case cell.Parameters.Regulariser == hyper.DropoutRegulariser && changed("dropout") &&
		cell.Parameters.Dropout != 0: // --dropout 0 leaves the dropout rate to --regulariser
		return misusef("--regulariser %s and --dropout %v: both set the rate of dropout: leave out --dropout, or "+
			"--regulariser", c.Flag("regulariser").Value, cell.Parameters.Dropout)
	case f.trials < 1 || f.trials > 1_000_000:
		return misusef("--trials %d: expected 1 to 1000000", f.trials)
	case f.jobs < 0:
		return misusef("--jobs %d: expected a number of trials to run side by side, or 0 to choose", f.jobs)
	case f.jobs > 1 && f.batches != 0:
		return misusef("--jobs %d: trials in batches run one after the other", f.jobs)
	}
	return checkWritable("save-model", f.saveModel)
}

func (f *trainFlags) run(c *cobra.Command) error {
	arms, err := f.arms(c)
	if err != nil {
		return misuse{err}
	}
	if err := f.check(c, arms); err != nil {
		return err
	}
	graph, err := openGraph(c.Context(), c.ErrOrStderr(), f.data, f.dataDir)
	if err != nil {
		return err
	}
	if f.saveModel != "" {
		if err := graph.CheckText(f.saveCache); err != nil {
			return fmt.Errorf("--data %s: %w", f.data, err)
		}
	}
	x := measure.Experiment(arms[0].Cell, graph)
	x.CacheInference = f.cacheInference
	if err := x.Check(); err != nil {
		return misuse{err}
	}
	for i := range arms {
		if arms[i].OwnSplit {
			arms[i].TrainPercent = graph.OwnSplit.TrainPercent
		}
	}
	if err := graph.CheckTrainable(); err != nil {
		return misusef("--data %s: %w; see 'nodemask data describe'", f.data, err)
	}
	b, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
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

func (f *trainFlags) differs(c *cobra.Command, cell record.Cell) string {
	p := cell.Parameters
	switch _, masked, err := judge.Arms(f.data, f.model, cell.Setting, f.trainPercent); {
	case f.preset == paperPreset:
		return ""
	case err == nil && slices.Contains(judge.Data(), f.data) && !c.Flags().Changed("preset"):
		return "the paper's experiment is --preset paper, which adds " +
			strings.Join(flagsOf(masked.Differences(cell)), " ")
	case !p.KeepRate.Active() && !c.Flags().Changed("keep-rate") && p.Regulariser == "":
		return "nothing is masked: --keep-rate is 1 unless given; the paper's tables have 0.5"
	}
	return ""
}
