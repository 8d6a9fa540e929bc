package batches

import (
	"context"

	"nodemask/datasets"
	"nodemask/internal/gomlx"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/learn"
	"nodemask/nmgnn/train"
	"nodemask/stats"
)

// measure adds to a result what the experiment asks of the trained weights: the cache, and the test nodes' scores as
// predicted from it.
func (t *trainer) measure(ctx context.Context, x train.Experiment, r *train.Result) (err error) {
	defer gomlx.Guard(&err, "caching")
	if x.Keep {
		if r.Cache, err = t.cache(ctx, r.Weights); err != nil {
			return err
		}
	}
	if x.CacheInference {
		if r.Cached, err = t.testCached(ctx, r.Weights, true); err == nil {
			r.Apart, err = t.testCached(ctx, r.Weights, false)
		}
	}
	return err
}

// cache computes the train nodes' representations on the train graph, layer by layer, so in two clusters at least. They
// stay in files without names until the program ends.
func (t *trainer) cache(ctx context.Context, weights []infer.Weight) (*cached.Cache, error) {
	phase, o := t.view.Train, t.options
	clusters := clustersOf(phase, phase, max(o.Clusters, 2))
	e, err := newEngine(t.backend, t.model, phase, t.features.features, clusters, nil, t.graph.NumClasses(), false, o)
	if err != nil {
		return nil, err
	}
	defer e.close()
	e.weights = weights
	if err := e.represent(ctx); err != nil {
		return nil, err
	}
	var hidden []infer.Representation
	for i, h := range e.hidden[1:] {
		rows := phase.Edges.NumNodes()
		hidden = append(hidden, infer.Representation{Rows: rows, Width: len(h.Values) / rows, Values: h.Values})
		e.hidden[i+1] = nil // not to be closed with the engine
	}
	return cached.New(t.graph, phase, t.features.features.Select(phase.Nodes), hidden), nil
}

// testCached scores the test nodes as predicted from the cache: together, so that those that arrive see one another, or
// apart.
func (t *trainer) testCached(ctx context.Context, weights []infer.Weight, together bool) (*stats.Metrics, error) {
	edges, err := cached.Edges(t.view, together)
	if err != nil {
		return nil, err
	}
	e, err := t.engineFor(datasets.Phase{Edges: edges, Nodes: t.view.Test.Nodes}, false)
	if err != nil {
		return nil, err
	}
	defer e.close()
	e.weights = weights
	classes, _, err := e.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	m, err := learn.Evaluate(t.graph, t.view.Test, classes)
	return &m, err
}
