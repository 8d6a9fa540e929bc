package train

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/stats"
)

// Experiment describes trials that differ only in their seeds.
type Experiment struct {
	Graph      *datasets.Graph
	Parameters hyper.Parameters
	// Own, if set, is a custom model with its own dropout. It replaces the model in Parameters, but not the training
	// settings. Its memory is not estimated.
	Own *nmgnn.Model

	Setting      datasets.Setting
	Arrivals     datasets.Arrivals // how new nodes join the graph in the inductive setting
	TrainPercent int
	SplitSeed    uint64
	// Resplit draws a split per trial from the trial's seed. Otherwise all trials share the split of SplitSeed and
	// differ in initial weights, masks and dropout: the paper's "10 trials with random initializations".
	Resplit bool
	// OwnSplit uses the split that comes with the graph ([datasets.Graph].OwnSplit) and ignores TrainPercent, SplitSeed
	// and ValidationPercent. If the graph has n such splits, seed s uses split number s mod n.
	OwnSplit bool
	// ValidationPercent is the percentage of validation nodes among labelled nodes outside the train set; 0 means 10.
	ValidationPercent int

	// Smoothness measures [stats.MAD], the mean distance between representations, after each trial.
	Smoothness bool
	// CacheInference adds two predictions of the test nodes from cached representations of train nodes: with and
	// without edges between new nodes (which arrive after training). It needs the inductive setting.
	CacheInference bool
	// Keep sets [Result].Cache: after each trial it computes the representations of train nodes for cached prediction.
	Keep bool
}

// Check returns an error if the experiment cannot run. Run also checks the graph's contents ([datasets.Graph.Check]).
func (x Experiment) Check() error {
	if err := x.Parameters.Check(); err != nil {
		return err
	}
	if x.Own != nil {
		if err := x.Own.Check(); err != nil {
			return err
		}
	}
	if err := x.Setting.Check(); err != nil {
		return err
	}
	if err := x.Arrivals.Check(); err != nil {
		return err
	}
	if x.CacheInference && x.Setting != datasets.Inductive {
		return fmt.Errorf("caching needs nodes that arrive after training: the %s setting has none", x.Setting)
	}
	switch {
	case x.Graph == nil || x.Graph.Edges == nil:
		return x.Graph.Check()
	case x.Setting == datasets.Transductive && x.Arrivals != "" && x.Arrivals != datasets.AllEdges:
		return fmt.Errorf("arrivals %q in the %s setting, where no node arrives: expected %q", x.Arrivals, x.Setting,
			datasets.AllEdges)
	case !x.OwnSplit && (x.TrainPercent < 1 || x.TrainPercent > 99):
		return fmt.Errorf("TrainPercent is %d: expected 1 to 99", x.TrainPercent)
	case !x.OwnSplit && (x.ValidationPercent < 0 || x.ValidationPercent > 99):
		return fmt.Errorf("ValidationPercent is %d: expected 1 to 99, or 0 for 10", x.ValidationPercent)
	case (x.CacheInference || x.Keep) && x.Parameters.CheckOneRun() != nil:
		return fmt.Errorf("%w, or no cache", x.Parameters.CheckOneRun())
	case x.OwnSplit && x.Resplit:
		return errors.New("an experiment with both Resplit and OwnSplit: expected one of the two")
	case x.OwnSplit && x.Graph.OwnSplit == nil:
		return fmt.Errorf("graph %q has no train, validation and test nodes of its own: expected a stratified split",
			x.Graph.Name)
	}
	return nil
}

func (x Experiment) model() nmgnn.Model {
	if x.Own != nil {
		return *x.Own
	}
	return nmgnn.Build(x.Parameters, x.Graph.NumClasses())
}

// Progress reports one finished epoch of one trial.
type Progress struct {
	Trial int // position in the list of seeds
	Seed  uint64
	Epoch int
	Last  Epoch
}

// RunOptions configure [Experiment.Run]. The zero value runs trials one by one and reports nothing.
type RunOptions struct {
	Jobs     int                // number of parallel trials, 0 means 1; results do not depend on it
	Progress func(Progress)     // called after each epoch, never concurrently
	Done     func(int, *Result) // called after each trial with the position of its seed, never concurrently
	// KeepBest keeps weights, predictions, cache and split only in the result with the best validation score. Done
	// still receives all four of every result.
	KeepBest bool
}

// Run runs one trial per seed and returns results in the seeds' order. If cancelled or if a trial fails, it returns the
// error and the results so far (nil for unfinished trials). It returns no results for an invalid experiment or graph.
func (x Experiment) Run(ctx context.Context, b *backend.Backend, seeds []uint64, o RunOptions) ([]*Result, error) {
	if err := x.Check(); err != nil {
		return nil, err
	}
	if err := gomlx.CheckOpen(b); err != nil {
		return nil, err
	}
	if err := x.Graph.Check(); err != nil {
		return nil, err
	}
	s := newSeries(x, seeds, o)
	side := min(o.Jobs, len(seeds))
	if side < 2 {
		r := &Runner{backend: b, checked: x.Graph}
		defer r.Close()
		return s.runAll(ctx, r.Trial)
	}
	// The memory for trials side by side is checked here, the memory for a single trial when it compiles.
	if err := x.checkMemory(b, side); err != nil {
		return nil, err
	}
	pool, err := NewPool(b, side, 1)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	todo := make(chan int, len(seeds))
	for i := range seeds {
		todo <- i
	}
	close(todo)
	return s.results, pool.Run(ctx, func(ctx context.Context, r *Runner) error {
		r.checked = x.Graph
		for i := range todo {
			if err := s.run(ctx, i, r.Trial); err != nil {
				return err
			}
		}
		return nil
	})
}

// series runs an experiment's trials. Its method run is safe for concurrent use.
type series struct {
	x       Experiment
	seeds   []uint64
	options RunOptions
	results []*Result

	reporting sync.Mutex
	best      int // position of the best result; -1 means none yet
}

func newSeries(x Experiment, seeds []uint64, o RunOptions) *series {
	return &series{x: x, seeds: seeds, options: o, results: make([]*Result, len(seeds)), best: -1}
}

type trialFunc = func(ctx context.Context, x Experiment, seed uint64, report func(epoch int, e Epoch)) (*Result, error)

func (s *series) runAll(ctx context.Context, trial trialFunc) ([]*Result, error) {
	for i := range s.seeds {
		if err := s.run(ctx, i, trial); err != nil {
			return s.results, err
		}
	}
	return s.results, nil
}

func (s *series) run(ctx context.Context, i int, trial trialFunc) error {
	seed := s.seeds[i]
	r, err := trial(ctx, s.x, seed, func(epoch int, e Epoch) {
		if s.options.Progress != nil {
			s.reporting.Lock()
			defer s.reporting.Unlock()
			s.options.Progress(Progress{Trial: i, Seed: seed, Epoch: epoch, Last: e})
		}
	})
	if err != nil {
		if errors.Is(err, ctx.Err()) {
			return err
		}
		return fmt.Errorf("trial %d (seed %d): %w", i+1, seed, err)
	}
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.results[i] = r
	if s.options.Done != nil {
		s.options.Done(i, r)
	}
	if !s.options.KeepBest {
		return nil
	}
	drop, best := r, s.best
	if best < 0 || s.x.better(r, s.results[best]) || i < best && !s.x.better(s.results[best], r) {
		if s.best = i; best < 0 {
			return nil
		}
		drop = s.results[best]
	}
	drop.Weights, drop.Predictions, drop.Cache, drop.Split = nil, nil, nil, nil
	return nil
}

func (x Experiment) better(a, b *Result) bool {
	if x.Parameters.StopOn == hyper.StopOnF1 {
		return a.Validation.MacroF1 > b.Validation.MacroF1
	}
	return a.History[a.BestEpoch-1].ValidationLoss < b.History[b.BestEpoch-1].ValidationLoss
}

func (x Experiment) splitSeed(seed uint64) uint64 {
	if x.Splits() {
		return seed
	}
	return x.SplitSeed
}

// Splits reports whether splits depend on the trial's seed.
func (x Experiment) Splits() bool { return x.Resplit || x.OwnSplit && len(x.Graph.OwnSplits) > 1 }

// Split returns the split for a trial's seed.
func (x Experiment) Split(seed uint64) (*datasets.Split, error) {
	if own := x.Graph.OwnSplits; x.OwnSplit && len(own) > 1 {
		return own[seed%uint64(len(own))], nil
	} else if x.OwnSplit {
		return x.Graph.OwnSplit, nil
	}
	return datasets.Stratified(x.Graph, datasets.SplitOptions{TrainPercent: x.TrainPercent,
		ValidationShare: float64(x.ValidationPercent) / 100, Seed: x.splitSeed(seed)})
}

func (x Experiment) complete(ctx context.Context, p trainable, trial *Result, split *datasets.Split) (err error) {
	trial.Split, trial.SplitSeed, trial.SplitHash, trial.StopOn = split, split.Seed, split.Hash(), x.Parameters.StopOn
	if x.Setting == datasets.Inductive {
		trial.Arrivals = x.Arrivals
	}
	if x.Keep {
		if trial.Cache, err = p.Cache(ctx, trial); err != nil {
			return err
		}
	}
	if !x.CacheInference {
		return nil
	}
	if trial.Cached, err = scoreCached(ctx, p, trial, true); err != nil {
		return err
	}
	trial.Apart, err = scoreCached(ctx, p, trial, false)
	return err
}

func scoreCached(ctx context.Context, p trainable, trial *Result, together bool) (*stats.Metrics, error) {
	classes, err := p.PredictCached(ctx, trial, together)
	if err != nil {
		return nil, err
	}
	m, err := p.score(classes)
	return &m, err
}

// Epoch holds the training loss before the weights change, with mask and dropout, and the validation scores after the
// change, without mask and dropout.
type Epoch struct {
	TrainLoss, ValidationLoss, ValidationF1, ValidationAccuracy float64
}

// Result holds the split and the measurements of one trial.
type Result struct {
	Seed       uint64
	History    []Epoch
	BestEpoch  int           // counted from 1; Weights are from this epoch
	Seconds    float64       // time of training and evaluation, without compiling
	Validation stats.Metrics // validation nodes' scores at the best epoch
	Test       stats.Metrics // test nodes' scores at the best epoch
	// area under the ROC curve over test nodes; nil if there are not exactly two classes, if all test nodes have the
	// same class, or if the result is from [InBatches] or [Runner.Variants]
	AUC         *float64
	Predictions []int32 // predicted class of every node of the whole graph; -1 outside the test graph
	Weights     []infer.Weight

	SplitSeed uint64
	SplitHash string
	Split     *datasets.Split
	StopOn    hyper.StopOn      // score that chose the best epoch
	Arrivals  datasets.Arrivals // how new nodes joined; "" in the transductive setting
	Nodes     *NodeCounts       // nil in the transductive setting and in results of [InBatches] or [Runner.Variants]
	MAD       *stats.Smoothness // nil unless Experiment.Smoothness is set
	Cached    *stats.Metrics    // test scores of cached prediction; set by CacheInference or Runner.Variants, else nil
	Apart     *stats.Metrics    // test scores of cached prediction as if each new node arrived alone; may be nil
	Cache     *cached.Cache     // nil unless Experiment.Keep is set
}

// NodeCounts counts the distinct nodes read to predict the test nodes.
type NodeCounts struct {
	// All is the number of nodes in the test graph: the paper's count for prediction without cached representations.
	All int
	// Reached counts all nodes within k hops of a test node, test nodes included, where k is the number of layers.
	Reached int
	// Cached counts the nodes outside the train graph, validation nodes included, and their neighbours in the train
	// graph.
	Cached int
}

// Saved returns the trained model of r, a result of x. The model can be saved only if it has weights (see
// [RunOptions].KeepBest) and [hyper.Parameters.CheckOneRun] returns nil.
func (r *Result) Saved(x Experiment) *cached.Model {
	m := &cached.Model{Settings: x.Parameters, Own: x.Own, Classes: x.Graph.Classes, Features: x.Graph.Features.Width,
		FeatureNames: x.Graph.FeatureNames, Data: x.Graph.Name, Seed: r.Seed, Weights: r.Weights}
	if x.Own != nil {
		m.Settings.Model = ""
	}
	return m
}

// String returns a line like "Trial(seed 1: macro F1 81.2 % on test nodes, best epoch 43 of 93)".
func (r *Result) String() string {
	return fmt.Sprintf("Trial(seed %d: macro F1 %.1f %% on test nodes, best epoch %d of %d)", r.Seed, 100*r.Test.MacroF1,
		r.BestEpoch, len(r.History))
}
