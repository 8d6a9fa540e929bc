package train

import (
	"context"
	"errors"
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
)

// CheckBatches returns an error if [InBatches] would refuse the experiment before its first trial.
func CheckBatches(x Experiment, clusters int) error {
	if err := x.Check(); err != nil {
		return err
	}
	switch {
	case clusters < 2:
		return fmt.Errorf("%d clusters: expected 2 or more, or Experiment.Run", clusters)
	case x.Own != nil:
		return errors.New("a model of one's own layers: expected one that Parameters describe, or Experiment.Run")
	case x.Graph.OneWay:
		return errors.New("a directed graph: clusters are of undirected ones; expected Experiment.Run")
	case x.Smoothness:
		return errors.New("MAD reads the whole graph at once: expected an experiment without")
	case x.Parameters.Regulariser == hyper.DropEdgeRegulariser:
		return errors.New("DropEdge drops both directions of an edge alike, and the ends of an edge may be in two batches: " +
			"expected another regulariser")
	case x.Parameters.Regulariser == hyper.DropGNNRegulariser:
		return errors.New("DropGNN masks nodes in testing too, which batches do not: expected another regulariser")
	}
	return nil
}

// InBatches runs trials like [Experiment.Run], but one by one and with one cluster of nodes at a time, so that a graph
// may be larger than memory (see [Spill]). The train graph is cut into the given number of clusters. Larger validation
// and test graphs are cut into proportionally more clusters.
//
// Neighbours outside the cluster contribute cached representations h̃_u^(i) of the previous epoch (section 4 of the
// node-masking paper; as in GNNAutoScale, Fey et al. 2021). Their features h^(0) are exact; masked nodes contribute
// nothing. Validation computes layer by layer over all clusters, and is exact.
//
// Of the measurements after a trial, InBatches supports only [Experiment].CacheInference and Keep.
func InBatches(ctx context.Context, b *backend.Backend, x Experiment, clusters int, seeds []uint64,
	o RunOptions) ([]*Result, error) {
	if err := CheckBatches(x, clusters); err != nil {
		return nil, err
	}
	if err := gomlx.CheckOpen(b); err != nil {
		return nil, err
	}
	if err := x.Graph.Check(); err != nil {
		return nil, err
	}
	var t *batchTrainer
	var split *datasets.Split
	defer func() { t.Close() }()
	trial := func(ctx context.Context, x Experiment, seed uint64, report func(epoch int, e Epoch)) (_ *Result, err error) {
		if t == nil || x.Splits() {
			t.Close()
			if split, err = x.Split(seed); err != nil {
				return nil, err
			}
			view, err := datasets.NewView(x.Graph, split, x.Setting, x.Arrivals)
			if err != nil {
				return nil, err
			}
			if t, err = newBatchTrainer(b, x, view, clusters); err != nil {
				return nil, err
			}
		}
		result, err := trainBy(ctx, t, seed, report)
		if err != nil {
			return nil, err
		}
		return result, x.complete(ctx, t, result, split)
	}
	return newSeries(x, seeds, o).runAll(ctx, trial)
}

func (t *batchTrainer) Predict(ctx context.Context, trial *Result) ([]int32, error) {
	return t.predict(ctx, t.view.Test, trial)
}

func (t *batchTrainer) PredictCached(ctx context.Context, trial *Result, together bool) (classes []int32, err error) {
	defer gomlx.Guard(&err, "caching")
	edges, err := t.view.CachedEdges(together)
	if err != nil {
		return nil, err
	}
	return t.predict(ctx, datasets.Phase{Edges: edges, Nodes: t.view.Test.Nodes}, trial)
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
	if err != nil {
		return nil, err
	}
	return t.onGraph(classes), nil
}

// Cache returns the trial's cache. Hidden representations are in temporary files without names until the program ends.
func (t *batchTrainer) Cache(ctx context.Context, trial *Result) (_ *cached.Cache, err error) {
	defer gomlx.Guard(&err, "caching")
	e := t.train
	e.weights = trial.Weights
	defer func() { e.weights = nil }()
	if err := e.represent(ctx); err != nil {
		return nil, err
	}
	var hidden []infer.Representation
	for i, h := range e.hidden[1:] {
		rows := e.phase.Edges.NumNodes()
		hidden = append(hidden, infer.Representation{Rows: rows, Width: len(h.Values) / rows, Values: h.Values})
		e.hidden[i+1] = nil // so that the engine does not close the cache's file
	}
	return cached.New(t.graph, e.phase, t.features.Select(e.phase.Nodes), hidden), nil
}
