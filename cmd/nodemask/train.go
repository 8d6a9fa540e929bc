package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/paper"
)

// trainFlags are the flags of train: an experiment, and how to run it.
type trainFlags struct {
	data, dataDir     string
	setting, arrivals string
	trainPercent      int
	trials            int
	seed, splitSeed   uint64
	resplit           bool
	preset            string
	settings          nmgnn.Settings
	rawFeatures       bool
	cacheInference    bool
	saveModel         string
	saveCache         string
	backend           string
	jobs              int
	json              bool
}

func newTrainCommand() *cobra.Command { return trainCommand(new(trainFlags)) }

// trainCommand is the command that fills f and runs it.
func trainCommand(f *trainFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a model on a graph, a number of times, and report its macro F1",
		Long: `Train a model on a graph, a number of times, and report its macro F1.

All trials share one split and differ in first weights, masks and dropout (--resplit draws a split for each).
The same seed gives the same numbers to the last digit on the same backend.`,
		Example: `  nodemask train --data cora --setting transductive --train 10 --keep-rate 0.5
  nodemask train --data pubmed --setting inductive --train 50 --keep-rate 1 --trials 3 --json`,
		Args: misuseArgs(cobra.NoArgs),
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.data, "data", "cora", "data set ('nodemask data list'), or a path to your own .npz file or folder of CSV files")
	flags.StringVar(&f.dataDir, "data-dir", "", "folder of downloaded data sets (default $NODEMASK_DATA, then the user's cache)")
	flags.StringVar(&f.settings.Model, "model", "gin", "model: "+strings.Join(nmgnn.Models(), ", "))
	flags.StringVar(&f.setting, "setting", string(datasets.Inductive), "inductive (train on the train nodes and the edges among them) or transductive (all nodes and edges are there)")
	flags.IntVar(&f.trainPercent, "train", 10, "size of the train set, in percent of the nodes")
	flags.Float64Var(&f.settings.KeepRate, "keep-rate", 1, "node masking: probability that a node is kept in an epoch; 1 is off")
	flags.IntVar(&f.trials, "trials", 10, "number of trials")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first trial; the next ones count up")
	flags.Uint64Var(&f.splitSeed, "split-seed", 1, "seed of the split that all trials share")
	flags.BoolVar(&f.resplit, "resplit", false, "draw a split for each trial, from the trial's seed")
	flags.StringVar(&f.preset, "preset", "", "settings that the flags below change: "+strings.Join(nmgnn.Presets(), ", ")+" (default: gat for gat, sgat and gatv2, standard for the others)")
	flags.IntVar(&f.settings.Layers, "layers", 2, "number of layers")
	flags.IntVar(&f.settings.Hidden, "hidden", 64, "width of hidden layers")
	flags.IntVar(&f.settings.MLPLayers, "mlp-layers", 1, "linear layers in each GIN layer's MLP")
	flags.Float64Var(&f.settings.Epsilon, "epsilon", 0, "GIN's epsilon; 0 is GIN-0")
	flags.Float64Var(&f.settings.Dropout, "dropout", 0.5, "probability that an entry of a layer's input is dropped (preset gat: 0.6)")
	flags.BoolVar(&f.settings.LearnEpsilon, "learn-epsilon", false, "train GIN's epsilon, from --epsilon on")
	flags.IntVar(&f.settings.Heads, "heads", 8, "attention heads that share the hidden width (gat, gatv2; sgat's attention dropout)")
	flags.Float64Var(&f.settings.AttentionDropout, "attention-dropout", 0.6, "probability that an attention weight is dropped (gat, sgat, gatv2; with node masking 0 unless given)")
	flags.StringVar((*string)(&f.settings.Regulariser), "regulariser", "", "beside or instead of node masking: dropedge, dropnode or dropout, at --regulariser-rate")
	flags.Float64Var(&f.settings.RegulariserRate, "regulariser-rate", 0.5, "probability of an edge, node or entry being dropped by the regulariser")
	flags.Float64Var(&f.settings.LearningRate, "learning-rate", 0.01, "learning rate of Adam (preset gat: 0.005)")
	flags.Float64Var(&f.settings.WeightDecay, "weight-decay", 5e-4, "L2, added to the gradient")
	flags.IntVar(&f.settings.MaxEpochs, "max-epochs", 1000, "most epochs of a trial")
	flags.IntVar(&f.settings.Patience, "patience", 50, "epochs without a better validation score before a trial stops")
	flags.StringVar((*string)(&f.settings.StopOn), "stop-on", string(nmgnn.StopOnLoss), "validation score that stopping follows: loss or f1")
	flags.BoolVar(&f.rawFeatures, "raw-features", false, "do not divide each node's features by the sum of their absolute values")
	flags.StringVar(&f.arrivals, "arrivals", string(datasets.AllEdges), "inductive: nodes arrive with all their edges (all-edges), or only those to train nodes (train-edges)")
	flags.StringVar((*string)(&f.settings.MaskOver), "mask-over", string(nmgnn.MaskAll), "nodes that can be masked: all, or only the train nodes (train)")
	flags.BoolVar(&f.settings.Rescale, "rescale", false, "divide what is kept by the keep rate; not in the paper")
	flags.BoolVar(&f.cacheInference, "cache-inference", false, "inductive: also predict new nodes from cached representations of the train nodes")
	flags.StringVar(&f.saveModel, "save-model", "", "file for the trained model of the trial with the best validation score")
	flags.StringVar(&f.saveCache, "save-cache", "", "inductive: file for what 'nodemask predict' needs of the train nodes, for the model that --save-model saves")
	flags.StringVar(&f.backend, "backend", "", "xla:cuda, xla:cpu or go (default $GOMLX_BACKEND, then the best that is usable)")
	flags.IntVar(&f.jobs, "jobs", 0, "trials side by side (default: 1 with XLA, one a core with go)")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a trial instead of the table")
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	return c
}

// merge takes the preset's value for every setting whose flag was not given.
func (f *trainFlags) merge(c *cobra.Command) error {
	if f.preset == "" {
		f.preset = nmgnn.PresetFor(f.settings.Model)
	}
	preset, err := nmgnn.Preset(f.preset)
	if err != nil {
		return misuse{err}
	}
	given := f.settings
	preset.NormalizeFeatures = preset.NormalizeFeatures && !f.rawFeatures
	preset.Model = given.Model
	f.settings = preset.WithMasking(given.KeepRate)
	if given.Regulariser != nmgnn.NoRegulariser {
		f.settings.Regulariser, f.settings.RegulariserRate = given.Regulariser, given.RegulariserRate
	} else if c.Flags().Changed("regulariser-rate") {
		return misusef("--regulariser-rate without --regulariser: expected one of %v", nmgnn.Regularisers())
	}
	for name, take := range map[string]func(){
		"learn-epsilon":     func() { f.settings.LearnEpsilon = given.LearnEpsilon },
		"heads":             func() { f.settings.Heads = given.Heads },
		"attention-dropout": func() { f.settings.AttentionDropout = given.AttentionDropout },
		"layers":            func() { f.settings.Layers = given.Layers },
		"hidden":            func() { f.settings.Hidden = given.Hidden },
		"mlp-layers":        func() { f.settings.MLPLayers = given.MLPLayers },
		"epsilon":           func() { f.settings.Epsilon = given.Epsilon },
		"dropout":           func() { f.settings.Dropout = given.Dropout },
		"learning-rate":     func() { f.settings.LearningRate = given.LearningRate },
		"weight-decay":      func() { f.settings.WeightDecay = given.WeightDecay },
		"max-epochs":        func() { f.settings.MaxEpochs = given.MaxEpochs },
		"patience":          func() { f.settings.Patience = given.Patience },
		"stop-on":           func() { f.settings.StopOn = given.StopOn },
		"mask-over":         func() { f.settings.MaskOver = given.MaskOver },
		"rescale":           func() { f.settings.Rescale = given.Rescale },
	} {
		if c.Flags().Changed(name) {
			take()
		}
	}
	return nil
}

func (f *trainFlags) run(c *cobra.Command) error {
	if err := f.merge(c); err != nil {
		return err
	}
	if err := f.settings.Check(); err != nil {
		return misuse{err}
	}
	setting, err := datasets.ParseSetting(f.setting)
	if err != nil {
		return misuse{err}
	}
	arrivals, err := datasets.ParseArrivals(f.arrivals)
	if err != nil {
		return misuse{err}
	}
	switch {
	case setting == datasets.Transductive && arrivals != datasets.AllEdges:
		return misusef("--arrivals %s: nodes arrive in the inductive setting only", arrivals)
	case f.cacheInference && setting != datasets.Inductive:
		return misusef("--cache-inference: nodes arrive in the inductive setting only")
	case f.saveCache != "" && (f.saveModel == "" || setting != datasets.Inductive):
		return misusef("--save-cache: expected --save-model too, and the inductive setting")
	case f.trainPercent < 1 || f.trainPercent > 99:
		return misusef("--train %d: expected 1 to 99 percent of the nodes", f.trainPercent)
	case f.trials < 1 || f.trials > 1_000_000:
		return misusef("--trials %d: expected 1 to 1000000", f.trials)
	case f.jobs < 0:
		return misusef("--jobs %d: expected a number of trials to run side by side, or 0 to choose", f.jobs)
	}
	backend, err := openBackend(c.ErrOrStderr(), f.backend)
	if err != nil {
		return err
	}
	graph, err := datasets.Open(c.Context(), f.data, datasets.OpenOptions{Dir: f.dataDir})
	if err != nil {
		return dataError(err)
	}
	x := nmgnn.Experiment{Graph: graph, Settings: f.settings, Setting: setting, Arrivals: arrivals,
		TrainPercent: f.trainPercent, SplitSeed: f.splitSeed, Resplit: f.resplit, CacheInference: f.cacheInference, Smoothness: f.json, Keep: f.saveCache != ""}
	out := c.OutOrStdout()
	var emit func(*nmgnn.Result) error
	if f.json {
		encoder := json.NewEncoder(out)
		emit = func(r *nmgnn.Result) error { return encoder.Encode(paper.NewRecord(x, backend, r)) }
	}
	results, err := runTrials(c.Context(), c.ErrOrStderr(), backend, x, nmgnn.Seeds(f.seed, f.trials), f.jobs, emit)
	if !f.json && len(results) > 0 {
		fmt.Fprintln(out, title(x))
		fmt.Fprintln(out, trialTable(results))
		if n := results[0].Nodes; n != nil {
			fmt.Fprintf(out, "Nodes needed to predict the test nodes: %d reached in %d hops, of %d in all; %d with cached train nodes.\n", n.Reached, x.Settings.Layers, n.All, n.Cached)
		}
	}
	if err == nil && f.saveModel != "" {
		return f.save(c, x, results)
	}
	return err
}

// save writes the model of the best trial, and its cache.
func (f *trainFlags) save(c *cobra.Command, x nmgnn.Experiment, results []*nmgnn.Result) error {
	best := results[0]
	score := func(r *nmgnn.Result) float64 {
		if x.Settings.StopOn == nmgnn.StopOnF1 {
			return -r.Validation.MacroF1
		}
		return r.History[r.BestEpoch-1].ValidationLoss
	}
	for _, r := range results {
		if score(r) < score(best) {
			best = r
		}
	}
	saved := best.Saved(x)
	if err := saved.Save(f.saveModel); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "saved the model of seed %d in %s\n", best.Seed, f.saveModel)
	if f.saveCache == "" {
		return nil
	}
	if err := best.Cache.Save(f.saveCache, saved); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "saved its cache of %d nodes in %s\n", len(best.Cache.IDs), f.saveCache)
	return nil
}

// openBackend opens a backend and says on w which one it is, and why not a better one.
func openBackend(w io.Writer, id string) (*nmgnn.Backend, error) {
	b, err := nmgnn.OpenBackend(id)
	if err != nil {
		var problem *nmgnn.BackendError
		if errors.As(err, &problem) && problem.Unknown {
			return nil, misuse{err}
		}
		return nil, err
	}
	reportBackend(w, b)
	return b, nil
}

// reportBackend says which backend it is, and why it is slower than it could be.
func reportBackend(w io.Writer, b *nmgnn.Backend) {
	fmt.Fprintf(w, "backend: %s\n", b)
	if b.ID == "go" && len(b.Skipped) > 0 {
		fmt.Fprintf(w, "  slower than XLA, which is not there: %s\n", b.Skipped[len(b.Skipped)-1])
	}
	if b.KernelsLost != nil {
		fmt.Fprintf(w, "  slower than with nodemask's own kernels: %v\n", b.KernelsLost)
	}
}

// runTrials runs an experiment with a progress line on w, and calls emit, if not nil, once a trial in the order of the
// seeds. When it is interrupted, the results so far come with the error.
func runTrials(ctx context.Context, w io.Writer, b *nmgnn.Backend, x nmgnn.Experiment, seeds []uint64, jobs int, emit func(*nmgnn.Result) error) ([]*nmgnn.Result, error) {
	if jobs == 0 {
		jobs = 1
		if b.Plugin == "" {
			jobs = runtime.NumCPU()
		}
	}
	line := newProgressLine(w, x, len(seeds), min(jobs, len(seeds)))
	defer line.clear()
	finished := make([]*nmgnn.Result, len(seeds))
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := x.Run(ctx, b, seeds, nmgnn.RunOptions{Jobs: jobs, Progress: line.epoch, Done: func(i int, r *nmgnn.Result) {
		finished[i] = r
		line.trial(i, r)
		if flush(false); broken != nil {
			cancel()
		}
	}})
	flush(true)
	var results []*nmgnn.Result
	for _, r := range finished {
		if r != nil {
			results = append(results, r)
		}
	}
	switch {
	case broken != nil:
		return results, fmt.Errorf("writing the result: %w", broken)
	case errors.Is(err, context.Canceled):
		return results, fmt.Errorf("interrupted: %d of %d trials were finished", len(results), len(seeds))
	}
	return results, err
}

// title is the experiment in one line.
func title(x nmgnn.Experiment) string {
	masking := "no node masking"
	if x.Settings.KeepRate != 1 {
		masking = fmt.Sprintf("node masking, keep rate %v", x.Settings.KeepRate)
	}
	joined := ""
	if x.Setting == datasets.Inductive && x.Arrivals == datasets.TrainEdges {
		joined = ", arrivals joined to train nodes only"
	}
	from := ""
	if x.Graph.Source != "embedded" { // another source may have the nodes in another order, and so split them otherwise
		from = fmt.Sprintf(" (%s)", x.Graph.Source)
	}
	return fmt.Sprintf("%s%s, %s, %d%% to train on%s: %d-layer %s, %s", x.Graph.Name, from, x.Setting, x.TrainPercent, joined,
		x.Settings.Layers, strings.ToUpper(x.Settings.Model), masking)
}

// meanStd are the mean and the sample's standard deviation of scores in percent; the deviation of one is 0.
func meanStd(results []*nmgnn.Result, score func(*nmgnn.Result) float64) (mean, std float64) {
	scores := make([]float64, len(results))
	for i, r := range results {
		scores[i] = 100 * score(r)
	}
	if mean, std = stat.MeanStdDev(scores, nil); len(scores) < 2 {
		std = 0
	}
	return mean, std
}
