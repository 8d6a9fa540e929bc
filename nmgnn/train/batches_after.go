package train

import (
	"context"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/stats"
)

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
