package train

import (
	"context"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/stats"
)

func (t *trainer) variants(ctx context.Context, seed uint64) (results []*Result, err error) {
	defer gomlx.Guard(&err, "training")
	var rules []stopped
	views := t.views()
	for _, on := range hyper.StopOns() {
		for i := range views {
			rules = append(rules, stopped{earlyStopping: earlyStopping{On: on}, View: i})
		}
	}
	begin := time.Now()
	if _, err := follow(ctx, t, seed, rules, nil); err != nil {
		return nil, err
	}
	for _, rule := range rules {
		if err := gomlx.SetWeights(t.store, rule.Weights); err != nil {
			return nil, err
		}
		view := views[rule.View]
		score := func(g testGraph) (m stats.Metrics, err error) {
			classes, err := t.predict(g)
			if err != nil {
				return m, err
			}
			return subject{graph: t.graph, view: view}.score(classes)
		}
		r := &Result{Seed: seed, StopOn: rule.On, History: rule.History, BestEpoch: rule.best, Validation: rule.Validation}
		if r.Test, err = score(testGraph{view: rule.View}); err != nil {
			return nil, err
		}
		if view.Setting == datasets.Inductive {
			cached, err := score(testGraph{view: rule.View, cached: true, together: true})
			if err != nil {
				return nil, err
			}
			r.Arrivals, r.Cached = view.Arrivals, &cached
		}
		results = append(results, r)
	}
	for _, r := range results {
		r.Seconds = time.Since(begin).Seconds()
	}
	return results, nil
}

// Variants trains once and returns a result for each combination of [hyper.StopOns] and, in the inductive setting,
// [datasets.AllArrivals], because the paper leaves both open. Inductive results also have test scores of cached
// prediction. Results lack weights and predictions. Variants ignores x's settings StopOn, Arrivals, Smoothness,
// CacheInference and Keep.
func (r *Runner) Variants(ctx context.Context, x Experiment, seed uint64) ([]*Result, error) {
	x.Arrivals, x.Parameters.StopOn = datasets.AllEdges, hyper.StopOnLoss
	if err := x.Check(); err != nil {
		return nil, err
	}
	if err := r.prepare(x, seed, true); err != nil {
		return nil, err
	}
	results, err := r.trainer.variants(ctx, seed)
	for _, one := range results {
		one.Split, one.SplitSeed, one.SplitHash = r.split, r.split.Seed, r.split.Hash()
	}
	return results, err
}
