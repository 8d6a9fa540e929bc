package train

import (
	"context"
	"errors"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gomlx"
)

// InBatches runs trials like [Experiment.Run], one by one, cluster by cluster, on graphs larger than memory. Nodes
// outside a batch contribute cached representations h̃_u^(i) from the epoch before (section 4 of the paper; as in
// GNNAutoScale, Fey et al. 2021). Features, h^(0), are always exact; masked nodes contribute nothing. Validation
// computes layer by layer over all batches, and is exact. One cluster trains exactly as Run does.
//
// After training it measures only cached predictions, and keeps the cache if asked; [Estimate] excludes their memory.
// Results have no Nodes, whose counting needs random access to the graph. It does not check a graph that [Spill] moved.
func InBatches(ctx context.Context, b *backend.Backend, x Experiment, o Batches, seeds []uint64,
	r RunOptions) ([]*Result, error) {
	if err := x.Check(); err != nil {
		return nil, err
	}
	if err := gomlx.CheckOpen(b); err != nil {
		return nil, err
	}
	if o.Release == nil {
		if err := x.Graph.Check(); err != nil {
			return nil, err
		}
	}
	switch {
	case x.Own != nil:
		return nil, errors.New("a model of one's own layers: expected one that Parameters describe, or Experiment.Run")
	case x.Graph.OneWay:
		return nil, errors.New("a directed graph: clusters are of undirected ones; expected Experiment.Run")
	case x.Smoothness:
		return nil, errors.New("MAD reads the whole graph at once: expected an experiment without")
	case (x.CacheInference || x.Keep) && o.Memory > 0:
		return nil, errors.New("what caching takes is not estimated: expected a number of clusters, and no limit")
	}
	run := batchRunner{backend: b, experiment: x, options: o}
	defer run.close()
	if len(seeds) > 0 { // invalid options are not the first trial's fault
		if err := run.prepare(seeds[0]); err != nil {
			return make([]*Result, len(seeds)), err
		}
	}
	return x.runBy(ctx, seeds, r, func(seed uint64, report func(epoch int, e Epoch)) (*Result, error) {
		return run.trial(ctx, seed, report)
	})
}

type batchRunner struct {
	backend    *backend.Backend
	experiment Experiment
	options    Batches
	content    identity // the graph's hashes, computed once
	seed       uint64   // the trainer's
	split      *datasets.Split
	trainer    *batchTrainer
}

func (r *batchRunner) close() {
	if r.trainer != nil {
		r.trainer.Close()
		r.trainer = nil
	}
}

func (r *batchRunner) trial(ctx context.Context, seed uint64, report func(epoch int, e Epoch)) (*Result, error) {
	if r.experiment.Splits() && seed != r.seed {
		if err := r.prepare(seed); err != nil {
			return nil, err
		}
	}
	trial, err := r.trainer.Train(ctx, seed, report)
	if err != nil {
		return nil, err
	}
	return trial, r.experiment.complete(ctx, r.trainer, trial, r.split)
}

func (r *batchRunner) prepare(seed uint64) (err error) {
	r.close()
	r.seed = seed
	x, o := r.experiment, r.options
	if r.split, err = x.Split(seed); err != nil {
		return err
	}
	view, err := datasets.NewView(x.Graph, r.split, x.Setting, x.Arrivals)
	if err != nil {
		return err
	}
	o.training = optionsOf(x.Parameters)
	if err := o.check(); err != nil {
		return err
	}
	said, err := choose(r.backend, x, view, &o)
	if err != nil {
		return err
	}
	if o.Said != nil {
		o.Said(said)
	}
	if o.Checkpoint != "" {
		if r.content.Features == "" {
			r.content = contentOf(x.Graph, o.Release)
		}
		if o.identity, err = identify(r.backend, x, r.split, o, r.content); err != nil {
			return err
		}
	}
	t, err := newBatchTrainer(r.backend, nmgnn.Build(x.Parameters, x.Graph.NumClasses()), x.Graph, view, o)
	if err == nil {
		r.trainer = t
	}
	return err
}
