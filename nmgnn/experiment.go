package nmgnn

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"nodemask/datasets"
)

// Experiment is a cell to be measured: settings on a data set, in a setting, at a size of the train set. Its trials
// differ in their seed alone.
type Experiment struct {
	Graph    *datasets.Graph
	Settings Settings

	Setting      datasets.Setting
	Arrivals     datasets.Arrivals // how new nodes join, in the inductive setting
	TrainPercent int
	SplitSeed    uint64
	// Resplit draws a split of its own for each trial, from the trial's seed. Otherwise all trials share the split of
	// SplitSeed and differ in first weights, masks and dropout: the paper's "10 trials with random initializations".
	Resplit bool

	// Smoothness measures MAD after each trial.
	Smoothness bool
	// CacheInference also predicts the test nodes from cached representations of the train nodes, in the inductive setting.
	CacheInference bool
	// Keep fills a cache after each trial, for new nodes to be predicted from later.
	Keep bool
}

// Result is a trial and where it belongs.
type Result struct {
	*Trial
	SplitSeed uint64
	SplitHash string
	Nodes     *NodeCounts // in the inductive setting
	MAD       *Smoothness // if the experiment measures it
	Cached    *Metrics    // of the test nodes predicted from the cache, if the experiment does that
	Cache     *Cache      // if the experiment keeps it
}

// Saved is the trained model of a result of x, ready to be saved.
func (r *Result) Saved(x Experiment) *SavedModel {
	return &SavedModel{Settings: x.Settings, Classes: x.Graph.Classes, Features: x.Graph.Features.Width, Data: x.Graph.Name, Seed: r.Seed, Weights: r.Weights}
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
}

// Run runs one trial a seed and returns their results in the order of the seeds. When the context is cancelled, or a
// trial fails, the results so far come with the error; those missing are nil.
func (x Experiment) Run(ctx context.Context, b *Backend, seeds []uint64, o RunOptions) ([]*Result, error) {
	if err := x.Settings.Check(); err != nil {
		return nil, err
	}
	if x.CacheInference && x.Setting != datasets.Inductive {
		return nil, fmt.Errorf("nmgnn: caching needs nodes that arrive after training: the %s setting has none", x.Setting)
	}
	jobs := min(max(o.Jobs, 1), len(seeds))
	open, err := b.forJobs(jobs)
	if err != nil {
		return nil, err
	}
	results := make([]*Result, len(seeds))
	group, ctx := errgroup.WithContext(ctx)
	todo := make(chan int)
	group.Go(func() error {
		defer close(todo)
		for i := range seeds {
			select {
			case todo <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	var reporting sync.Mutex
	for job := range jobs {
		group.Go(func() error {
			own, err := open(job)
			if err != nil {
				return err
			}
			if own != b {
				defer own.Finalize()
			}
			w := worker{experiment: x, backend: own}
			defer w.close()
			for i := range todo {
				trainer, split, err := w.prepare(seeds[i])
				if err != nil {
					return err
				}
				trial, err := trainer.Train(ctx, seeds[i], func(epoch int, e Epoch) {
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
				r := &Result{Trial: trial, SplitSeed: split.Seed, SplitHash: split.Hash()}
				if err := x.measure(ctx, trainer, r); err != nil {
					return fmt.Errorf("trial %d (seed %d): %w", i+1, seeds[i], err)
				}
				reporting.Lock()
				results[i] = r
				if o.Done != nil {
					o.Done(i, r)
				}
				reporting.Unlock()
			}
			return nil
		})
	}
	return results, group.Wait()
}

// measure adds to a result what is computed from the trained weights.
func (x Experiment) measure(ctx context.Context, t *Trainer, r *Result) error {
	if x.Setting == datasets.Inductive {
		counts := CountNodes(t.view, len(t.model.Layers))
		r.Nodes = &counts
	}
	if x.Smoothness {
		s, err := t.Smoothness(ctx)
		if err != nil {
			return err
		}
		r.MAD = &s
	}
	if x.Keep {
		var err error
		if r.Cache, err = t.Cache(); err != nil {
			return err
		}
	}
	if x.CacheInference {
		predictions, err := t.PredictCached()
		if err != nil {
			return err
		}
		m, err := Evaluate(t.testScored(predictions), t.labels.test, t.classes)
		if err != nil {
			return err
		}
		r.Cached = &m
	}
	return nil
}

// worker keeps what consecutive trials share: the compiled program, unless each has a split of its own.
type worker struct {
	experiment Experiment
	backend    *Backend
	split      *datasets.Split
	trainer    *Trainer
}

func (w *worker) prepare(seed uint64) (*Trainer, *datasets.Split, error) {
	x := w.experiment
	if w.trainer != nil && !x.Resplit {
		return w.trainer, w.split, nil
	}
	w.close()
	from := x.SplitSeed
	if x.Resplit {
		from = seed
	}
	split, err := datasets.Stratified(x.Graph, datasets.SplitOptions{TrainPercent: x.TrainPercent, Seed: from})
	if err != nil {
		return nil, nil, err
	}
	view, err := datasets.NewView(x.Graph, split, x.Setting, x.Arrivals)
	if err != nil {
		return nil, nil, err
	}
	trainer, err := NewTrainer(w.backend, x.Settings.Build(x.Graph.NumClasses()), x.Graph, view, x.Settings.Options(view))
	if err != nil {
		return nil, nil, err
	}
	w.split, w.trainer = split, trainer
	return trainer, split, nil
}

func (w *worker) close() {
	if w.trainer != nil {
		w.trainer.Close()
		w.trainer = nil
	}
}

// Seeds are the seeds of a number of trials: first, first+1, ….
func Seeds(first uint64, trials int) []uint64 {
	seeds := make([]uint64, trials)
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}
