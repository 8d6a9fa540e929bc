package train

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"nodemask/datasets"
	"nodemask/internal/jobs"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/stats"
)

// Experiment describes what trials run: hyperparameters on a data set, in a setting, at a size of the train set. The
// trials differ in their seed alone.
type Experiment struct {
	Graph      *datasets.Graph
	Parameters hyper.Parameters
	// Own is a model of one's own layers, trained instead of the one that Parameters describe, of which the training
	// counts. It has its own Dropout. Memory is not estimated for it. nil: none.
	Own *nmgnn.Model

	Setting      datasets.Setting
	Arrivals     datasets.Arrivals // how new nodes join, in the inductive setting
	TrainPercent int
	SplitSeed    uint64
	// Resplit draws a split of its own for each trial, from the trial's seed. Otherwise all trials share the split of
	// SplitSeed and differ in first weights, masks and dropout: the paper's "10 trials with random initializations".
	Resplit bool
	// OwnSplit takes the split that the graph comes with ([datasets.Graph].OwnSplit); TrainPercent, SplitSeed and
	// ValidationPercent then mean nothing. Of several, such as ten, the trial of seed s has number s mod 10.
	OwnSplit bool
	// ValidationPercent of the nodes left after the train set are validation nodes; 0: 10.
	ValidationPercent int

	// Smoothness measures MAD after each trial.
	Smoothness bool
	// CacheInference also predicts the test nodes from cached representations of the train nodes, in the inductive
	// setting: once with new nodes that see one another, once apart.
	CacheInference bool
	// Keep fills a cache after each trial, from which new nodes can be predicted later: of the nodes of the train graph.
	Keep bool
}

// Check returns an error for an experiment that no trial can be run of. It does not look into the graph, as what runs
// trials does, once ([datasets.Graph.Check]).
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
		return errNoSplit(x.Graph)
	}
	return nil
}

// errNoSplit says that a graph comes without a split, and why if its reader did.
func errNoSplit(g *datasets.Graph) error {
	why := ""
	for _, note := range g.Notes {
		if strings.HasPrefix(note, "the split") {
			why = " (" + note + ")"
		}
	}
	return fmt.Errorf("graph %q has no train, validation and test nodes of its own%s: expected a stratified split",
		g.Name, why)
}

// NodeCounts counts the different nodes that predicting the test nodes needs.
type NodeCounts struct {
	// All is the number of nodes of the test graph: what the paper counts without caching.
	All int
	// Reached counts the test nodes and all nodes within as many hops of them as the model has layers: what predicting
	// them without a cache really reads.
	Reached int
	// Cached counts the nodes outside the train graph, validation nodes too, and the train nodes next to one of them: what
	// predicting all of them from the cache reads.
	Cached int
}

// Result is a trial and where it belongs.
type Result struct {
	*Trial
	SplitSeed uint64
	SplitHash string
	Nodes     *NodeCounts       // in the inductive setting; nil of trials in batches
	MAD       *stats.Smoothness // if the experiment measures it
	Cached    *stats.Metrics    // of the test nodes predicted from the cache together, if the experiment does that
	Apart     *stats.Metrics    // likewise, as if each arrived alone
	Cache     *cached.Cache     // if the experiment keeps it
}

// Saved returns the trained model of a result of x, ready to be saved. One that lost its weights
// ([RunOptions].KeepBest) cannot be, and one with DropGNN neither, whose Predictions are of several runs
// ([hyper.Parameters.CheckOneRun]).
func (r *Result) Saved(x Experiment) *cached.Model {
	m := &cached.Model{Settings: x.Parameters, Own: x.Own, Classes: x.Graph.Classes, Features: x.Graph.Features.Width,
		FeatureNames: x.Graph.FeatureNames, Data: x.Graph.Name, Seed: r.Seed, Weights: r.Weights}
	if x.Own != nil {
		m.Settings.Model = ""
	}
	return m
}

// model is what is trained.
func (x Experiment) model() nmgnn.Model {
	if x.Own != nil {
		return *x.Own
	}
	return nmgnn.Build(x.Parameters, x.Graph.NumClasses())
}

// Progress is one epoch of one trial.
type Progress struct {
	Trial int // position in the list of seeds
	Seed  uint64
	Epoch int
	Last  Epoch
}

// RunOptions say how trials are run. The zero value runs them one after the other and reports nothing.
type RunOptions struct {
	Jobs     int                // trials side by side; numbers do not depend on it. 0: 1
	Progress func(Progress)     // called after each epoch, never by two trials at once
	Done     func(int, *Result) // called after each trial with its position in the list of seeds, likewise
	// KeepBest has the result of the best validation score alone keep weights, predictions and cache, so that memory does
	// not grow with the number of trials. The others lose theirs after Done.
	KeepBest bool
}

// Run runs one trial per seed and returns their results in the order of the seeds. When the context is cancelled, or
// a trial fails, the results so far come with the error; missing ones are nil. It returns an error without results for
// an experiment that no trial can be run of, and for a graph that is not what it promises ([datasets.Graph.Check]).
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
	side := min(o.Jobs, len(seeds))
	if side < 2 {
		r := &Runner{backend: b, checked: x.Graph}
		defer r.Close()
		return x.RunBy(ctx, seeds, o, func(seed uint64, report func(epoch int, e Epoch)) (*Result, error) {
			return r.Trial(ctx, x, seed, report)
		})
	}
	if err := x.checkMemory(b, side); err != nil { // one alone is checked where it compiles
		return nil, err
	}
	results := make([]*Result, len(seeds))
	todo := make(chan int, len(seeds))
	for i := range seeds {
		todo <- i
	}
	close(todo)
	run := x.trials(seeds, results, o)
	return results, jobs.Run(ctx, b, side, NewRunner, (*Runner).Close, func(ctx context.Context, runner *Runner) error {
		runner.checked = x.Graph
		for i := range todo {
			err := run(ctx, i, func(seed uint64, report func(epoch int, e Epoch)) (*Result, error) {
				return runner.Trial(ctx, x, seed, report)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// oneTrial runs the trial of a seed. report, which is not nil, is to be called after each epoch.
type oneTrial = func(seed uint64, report func(epoch int, e Epoch)) (*Result, error)

// RunBy runs one trial per seed by a function, one after the other, as [Experiment.Run] does.
func (x Experiment) RunBy(ctx context.Context, seeds []uint64, o RunOptions, trial oneTrial) ([]*Result, error) {
	results := make([]*Result, len(seeds))
	run := x.trials(seeds, results, o)
	for i := range seeds {
		if err := run(ctx, i, trial); err != nil {
			return results, err
		}
	}
	return results, nil
}

// trials returns what runs trial i and puts its result into results; several may run at once.
func (x Experiment) trials(seeds []uint64, results []*Result, o RunOptions) func(context.Context, int, oneTrial) error {
	var reporting sync.Mutex
	ended := x.ended(results, o)
	return func(ctx context.Context, i int, trial oneTrial) error {
		r, err := trial(seeds[i], func(epoch int, e Epoch) {
			if o.Progress != nil {
				reporting.Lock()
				defer reporting.Unlock()
				o.Progress(Progress{Trial: i, Seed: seeds[i], Epoch: epoch, Last: e})
			}
		})
		if err != nil {
			if errors.Is(err, ctx.Err()) {
				return err
			}
			return fmt.Errorf("trial %d (seed %d): %w", i+1, seeds[i], err)
		}
		reporting.Lock()
		defer reporting.Unlock()
		ended(i, r)
		return nil
	}
}

// splitSeed is the seed of the split that the trial of a seed has.
func (x Experiment) splitSeed(seed uint64) uint64 {
	if x.Splits() {
		return seed
	}
	return x.SplitSeed
}

// Splits reports whether trials have splits of their own: by Resplit, or as the graph comes with several.
func (x Experiment) Splits() bool { return x.Resplit || x.OwnSplit && len(x.Graph.OwnSplits) > 1 }

// Split returns the split that the trial of a seed trains on.
func (x Experiment) Split(seed uint64) (*datasets.Split, error) {
	if own := x.Graph.OwnSplits; x.OwnSplit && len(own) > 1 {
		return own[seed%uint64(len(own))], nil
	} else if x.OwnSplit {
		return x.Graph.OwnSplit, nil
	}
	return datasets.Stratified(x.Graph, datasets.SplitOptions{TrainPercent: x.TrainPercent,
		ValidationShare: float64(x.ValidationPercent) / 100, Seed: x.splitSeed(seed)})
}

// ended returns what takes the result of trial i: it puts it into results, calls o.Done, and then keeps what o.KeepBest
// says.
func (x Experiment) ended(results []*Result, o RunOptions) func(i int, r *Result) {
	best := -1
	return func(i int, r *Result) {
		results[i] = r
		if o.Done != nil {
			o.Done(i, r)
		}
		switch {
		case !o.KeepBest:
		case best < 0:
			best = i
		case x.score(r) < x.score(results[best]) || x.score(r) == x.score(results[best]) && i < best:
			results[best].forget()
			best = i
		default:
			r.forget()
		}
	}
}

// score is what the trials' validation is compared by, the lower the better: macro F1 where that stopped them, else the
// loss.
func (x Experiment) score(r *Result) float64 {
	if x.Parameters.StopOn == hyper.StopOnF1 {
		return -r.Validation.MacroF1
	}
	return r.History[r.BestEpoch-1].ValidationLoss
}

// forget frees what only a saved model needs.
func (r *Result) forget() { r.Weights, r.Predictions, r.Cache = nil, nil, nil }

// ResultOf describes a trial that a program ran on a split, with what x measures by the cache.
func (x Experiment) ResultOf(ctx context.Context, p Program, trial *Trial, split *datasets.Split) (r *Result,
	err error) {
	r = &Result{Trial: trial, SplitSeed: split.Seed, SplitHash: split.Hash()}
	if x.Keep {
		if r.Cache, err = p.Cache(ctx, trial); err != nil {
			return nil, err
		}
	}
	if !x.CacheInference {
		return r, nil
	}
	if r.Cached, err = scoreCached(ctx, p, trial, true); err != nil {
		return nil, err
	}
	r.Apart, err = scoreCached(ctx, p, trial, false)
	return r, err
}

// scoreCached scores the test nodes as predicted from the cache.
func scoreCached(ctx context.Context, p Program, trial *Trial, together bool) (*stats.Metrics, error) {
	classes, err := p.PredictCached(ctx, trial, together)
	if err != nil {
		return nil, err
	}
	m, err := p.Score(classes)
	return &m, err
}
