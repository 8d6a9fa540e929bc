package batches

import (
	"context"
	"errors"
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/train"
)

// Run runs one trial of an experiment per seed, one after the other, and returns their results in the order of the seeds, as
// [train.Experiment.Run] does. Of what an experiment measures after training it measures what is predicted from the cache,
// and keeps the cache if asked, in the inductive setting; their memory is not part of [Estimate].
func Run(ctx context.Context, b *backend.Backend, x train.Experiment, o Options, seeds []uint64, r train.RunOptions) ([]*train.Result, error) {
	if err := x.Parameters.Check(); err != nil {
		return nil, err
	}
	switch {
	case x.Smoothness:
		return nil, errors.New("batches: MAD reads the whole graph at once: expected an experiment without")
	case (x.CacheInference || x.Keep) && x.Setting != datasets.Inductive:
		return nil, fmt.Errorf("batches: caching needs nodes that arrive after training: the %s setting has none", x.Setting)
	case (x.CacheInference || x.Keep) && o.Memory > 0:
		return nil, errors.New("batches: what caching takes is not estimated: expected a number of clusters, and no limit")
	}
	results, clusters := make([]*train.Result, len(seeds)), o.Clusters
	ended := x.Ended(results, r)
	var t *trainer
	var split *datasets.Split
	var content identity
	defer func() {
		if t != nil {
			t.Close()
		}
	}()
	for i, seed := range seeds {
		if t == nil || x.Resplit {
			if t != nil {
				t.Close()
				t = nil
			}
			var view *datasets.View
			var err error
			if split, view, err = viewOf(x, seed); err != nil {
				return results, err
			}
			o.Options = train.OptionsOf(x.Parameters, view)
			o.Clusters = clusters
			said, err := choose(b, x, view, &o)
			if err != nil {
				return results, err
			}
			if o.Said != nil {
				o.Said(said)
			}
			if o.Checkpoint != "" {
				if content.Features == "" {
					content = contentOf(x.Graph, o.Release)
				}
				if o.Identity, err = identify(b, x, split, o, content); err != nil {
					return results, err
				}
			}
			if t, err = newTrainer(b, nmgnn.Build(x.Parameters, x.Graph.NumClasses()), x.Graph, view, o); err != nil {
				return results, err
			}
		}
		trial, err := t.Train(ctx, seed, func(epoch int, e train.Epoch) {
			if r.Progress != nil {
				r.Progress(train.Progress{Trial: i, Seed: seed, Epoch: epoch, Last: e})
			}
		})
		if err != nil {
			if errors.Is(err, ctx.Err()) {
				return results, err
			}
			return results, fmt.Errorf("trial %d (seed %d): %w", i+1, seed, err)
		}
		result := &train.Result{Trial: trial, SplitSeed: split.Seed, SplitHash: split.Hash()}
		if err := t.measure(ctx, x, result); err != nil {
			return results, err
		}
		ended(i, result)
	}
	return results, nil
}

// viewOf splits an experiment's graph as the trial of a seed has it.
func viewOf(x train.Experiment, seed uint64) (split *datasets.Split, view *datasets.View, err error) {
	if !x.Resplit {
		seed = x.SplitSeed
	}
	if split = x.Graph.OwnSplit; !x.OwnSplit || split == nil {
		split, err = datasets.Stratified(x.Graph, datasets.SplitOptions{TrainPercent: x.TrainPercent, ValidationShare: float64(x.ValidationPercent) / 100, Seed: seed})
		if err != nil {
			return nil, nil, err
		}
	}
	view, err = datasets.NewView(x.Graph, split, x.Setting, x.Arrivals)
	return split, view, err
}
