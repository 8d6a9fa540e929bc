package train

import (
	"context"
	"errors"
	"fmt"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/stats"
)

// Batches configure how to divide the training graph. The zero value does not divide it.
type Batches struct {
	// Clusters of the train graph; 0: 1. Larger validation and test graphs get proportionally more.
	Clusters int
	// Memory limits the bytes of [InBatches], by adding clusters if needed. 0: no limit.
	Memory int64
	// Said, if not nil, receives the estimate from [InBatches] before training.
	Said func(Estimate)
	// Folder is for temporary files of representations and features; "": the system's.
	Folder string
	// Checkpoint is a folder where a trial is saved after each epoch and from which it resumes, with identical results;
	// "": none.
	Checkpoint string
	// Version of the program, required with Checkpoint: other versions refuse the checkpoint.
	Version string
	// Release is [Spill]'s result, called after reading the graph; may be nil.
	Release func()

	training options                  // from the experiment's parameters
	identity string                   // identifies data and settings in checkpoints
	clusters map[*csr.Graph][][]int32 // already computed
}

func (o Batches) divided() bool { return o.Clusters > 1 }

func (o Batches) check() error {
	if o.Clusters < 0 {
		return fmt.Errorf("%d clusters: expected 1 or more", o.Clusters)
	}
	if o.Memory < 0 {
		return fmt.Errorf("%d bytes of memory: expected 1 or more, or 0 for no limit", o.Memory)
	}
	if _, ok := o.training.regulariser().(nmgnn.DropEdge); ok && o.divided() {
		return fmt.Errorf("DropEdge drops both directions of an edge alike, and the ends of an edge may be in two batches: " +
			"expected another regulariser, or one cluster")
	}
	if _, ok := o.training.regulariser().(nmgnn.DropGNN); ok {
		return fmt.Errorf("DropGNN masks nodes in testing too, which batches do not: expected another regulariser")
	}
	return nil
}

// Check returns why [InBatches] would refuse an experiment before its first trial, or nil.
func (o Batches) Check(x Experiment) error {
	if err := x.Check(); err != nil {
		return err
	}
	switch {
	case x.Own != nil:
		return errors.New("a model of one's own layers: expected one that Parameters describe, or Experiment.Run")
	case x.Graph.OneWay:
		return errors.New("a directed graph: clusters are of undirected ones; expected Experiment.Run")
	case x.Smoothness:
		return errors.New("MAD reads the whole graph at once: expected an experiment without")
	case (x.CacheInference || x.Keep) && o.Memory > 0:
		return errors.New("what caching takes is not estimated: expected a number of clusters, and no limit")
	}
	o.training = optionsOf(x.Parameters)
	return o.check()
}

// InBatches runs trials like [Experiment.Run], one by one, cluster by cluster, on graphs larger than memory. Nodes
// outside a batch contribute cached representations h̃_u^(i) from the epoch before (section 4 of the paper; as in
// GNNAutoScale, Fey et al. 2021). Features, h^(0), are always exact; masked nodes contribute nothing. Validation
// computes layer by layer over all batches, and is exact. One cluster trains exactly as Run does.
//
// After training it measures only cached predictions, and keeps the cache if asked; [Estimate] excludes their memory.
// Results have no Nodes, whose counting needs random access to the graph. It does not check a graph that [Spill] moved.
func InBatches(ctx context.Context, b *backend.Backend, x Experiment, o Batches, seeds []uint64,
	r RunOptions) ([]*Result, error) {
	if err := o.Check(x); err != nil {
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

// Predict implements [trainable], like the methods below.
func (t *batchTrainer) Predict(ctx context.Context, trial *Result) ([]int32, error) {
	classes, err := t.predict(ctx, t.view.Test, trial)
	if err != nil {
		return nil, err
	}
	return learn.OnGraph(t.graph, t.view.Test, classes), nil
}

// PredictCached predicts over the test graph as the cache sees it.
func (t *batchTrainer) PredictCached(ctx context.Context, trial *Result, together bool) (classes []int32, err error) {
	defer gomlx.Guard(&err, "caching")
	edges, err := learn.CachedEdges(t.view, together)
	if err != nil {
		return nil, err
	}
	classes, err = t.predict(ctx, datasets.Phase{Edges: edges, Nodes: t.view.Test.Nodes}, trial)
	if err != nil {
		return nil, err
	}
	return learn.OnGraph(t.graph, t.view.Test, classes), nil
}

func (t *batchTrainer) predict(ctx context.Context, phase datasets.Phase, trial *Result) (classes []int32, err error) {
	e := t.validation
	if phase.Edges != t.view.Validation.Edges {
		if e, err = t.engineFor(phase, false); err != nil {
			return nil, err
		}
		defer e.close()
	}
	e.weights = trial.Weights
	defer func() { e.weights = nil }()
	classes, _, err = e.evaluate(ctx)
	return classes, err
}

// Score implements [trainable].
func (t *batchTrainer) Score(classes []int32) (stats.Metrics, error) {
	return learn.EvaluateOnGraph(t.graph, t.view.Test, classes)
}

// Cache returns the train nodes' representations on the train graph, in unnamed files until the program ends, computed
// layer by layer: it needs at least two clusters.
func (t *batchTrainer) Cache(ctx context.Context, trial *Result) (_ *cached.Cache, err error) {
	defer gomlx.Guard(&err, "caching")
	phase := t.view.Train
	e, err := t.newEngine(phase, clustersOf(phase, phase, max(t.options.Clusters, 2)), false)
	if err != nil {
		return nil, err
	}
	defer e.close()
	e.weights = trial.Weights
	if err := e.represent(ctx); err != nil {
		return nil, err
	}
	var hidden []infer.Representation
	for i, h := range e.hidden[1:] {
		rows := phase.Edges.NumNodes()
		hidden = append(hidden, infer.Representation{Rows: rows, Width: len(h.Values) / rows, Values: h.Values})
		e.hidden[i+1] = nil // outlives the engine
	}
	return cached.New(t.graph, phase, t.features.Select(phase.Nodes), hidden), nil
}
