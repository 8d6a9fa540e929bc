package train

import (
	"context"
	"fmt"
	"time"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/stats"
)

func readingViews(g *datasets.Graph, split *datasets.Split, setting datasets.Setting) ([]*datasets.View, error) {
	ways := datasets.AllArrivals()
	if setting == datasets.Transductive {
		ways = ways[:1]
	}
	views := make([]*datasets.View, len(ways))
	for i, way := range ways {
		var err error
		if views[i], err = datasets.NewView(g, split, setting, way); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// variants returns a trial's results: for each of hyper.StopOns on each view (the trainer's, then [options].Also), in
// this order, with new nodes computed anew and, in the inductive setting, from the cache.
func (t *trainer) variants(ctx context.Context, seed uint64) (results []*Result, err error) {
	defer gomlx.Guard(&err, "training")
	var stops []ending
	views := t.views()
	for _, on := range hyper.StopOns() {
		for i := range views {
			stops = append(stops, ending{On: on, View: i})
		}
	}
	begin := time.Now()
	stopped, err := t.follow(ctx, seed, stops)
	if err != nil {
		return nil, err
	}
	if err := t.prepareReadings(views); err != nil {
		return nil, err
	}
	predicted := map[int][][]int32{} // by best epoch, then graph
	for _, s := range stopped {
		if predicted[s.BestEpoch] == nil {
			if predicted[s.BestEpoch], err = t.readings.predict(t.store, s.Weights); err != nil {
				return nil, err
			}
		}
		r := &Result{Seed: seed, StopOn: s.On, History: s.History, BestEpoch: s.BestEpoch, Validation: s.Validation}
		if t.view.Setting == datasets.Inductive {
			r.Arrivals = views[s.View].Arrivals
		}
		for i, graph := range t.readings.graphs {
			if graph.view != s.View {
				continue
			}
			classes := make([]int32, len(t.test.labels))
			for k, v := range views[s.View].Test.Score {
				classes[k] = predicted[s.BestEpoch][i][views[s.View].Test.Nodes[v]]
			}
			m, err := stats.Evaluate(classes, t.test.labels, t.graph.NumClasses())
			if err != nil {
				return nil, err
			}
			if graph.cached {
				r.Cached = &m
			} else {
				r.Test = m
			}
		}
		results = append(results, r)
	}
	for _, r := range results {
		r.Seconds = time.Since(begin).Seconds()
	}
	return results, nil
}

// readingGraphs predicts over several test graphs at once, each with all nodes of the whole graph; absent nodes have no
// edges and are ignored.
type readingGraphs struct {
	exec   *model.Exec
	graphs []readingGraph
	of     *datasets.View // the view the graphs were made for
}

type readingGraph struct {
	view   int
	cached bool
	data   *nmgnn.Loaded
}

func (t *trainer) prepareReadings(views []*datasets.View) error {
	if t.readings != nil && t.readings.of == t.view {
		return nil
	}
	if len(t.view.Test.Nodes) != t.graph.NumNodes() {
		return fmt.Errorf("readings need a trainer whose view has all nodes to test on: %s does not", t.view.Arrivals)
	}
	fresh := t.readings == nil
	if fresh {
		t.readings = &readingGraphs{}
	}
	next := 0
	add := func(view int, cached bool, edges *csr.Graph) (err error) {
		if !fresh {
			next++
			return t.readings.graphs[next-1].data.ReplaceEdges(edges, true)
		}
		g := readingGraph{view: view, cached: cached}
		g.data, err = t.test.data.WithEdges(fmt.Sprintf("/%s/reading%d/edges", gomlx.DataScope, len(t.readings.graphs)),
			edges, t.allEdges())
		t.readings.graphs = append(t.readings.graphs, g)
		return err
	}
	for i, view := range views {
		phases := []datasets.Phase{view.Test}
		if view.Setting == datasets.Inductive {
			edges, err := learn.CachedEdges(view, true)
			if err != nil {
				return err
			}
			phases = append(phases, datasets.Phase{Edges: edges, Nodes: view.Test.Nodes})
		}
		for k, phase := range phases {
			edges, err := onAllNodes(phase, t.graph.NumNodes())
			if err == nil {
				err = add(i, k == 1, edges)
			}
			if err != nil {
				return err
			}
		}
	}
	t.readings.of = t.view
	if !fresh {
		return nil
	}
	exec, err := model.NewExec(t.backend.Backend, t.store, func(scope *model.Scope, graph *Graph) []*Node {
		classes := make([]*Node, len(t.readings.graphs))
		for i, g := range t.readings.graphs {
			classes[i] = ArgMax(last(t.forward(scope, graph, g.data, nil)), 1, dtypes.Int32)
		}
		return classes
	})
	if err != nil {
		return gomlx.Error(err)
	}
	t.readings.exec = exec
	return nil
}

func (r *readingGraphs) predict(store *model.Store, weights []infer.Weight) ([][]int32, error) {
	if err := gomlx.SetWeights(store, weights); err != nil {
		return nil, err
	}
	outputs, err := r.exec.Call()
	if err != nil {
		return nil, gomlx.Error(err)
	}
	defer gomlx.Finalize(outputs)
	classes := make([][]int32, len(outputs))
	for i, output := range outputs {
		if classes[i], err = tensors.CopyFlatData[int32](output); err != nil {
			return nil, gomlx.Error(err)
		}
	}
	return classes, nil
}

func onAllNodes(phase datasets.Phase, nodes int) (*csr.Graph, error) {
	if len(phase.Nodes) == nodes {
		return phase.Edges, nil
	}
	var edges []csr.Edge
	for i, v := range phase.Nodes {
		for _, u := range phase.Edges.Neighbours(int32(i)) {
			edges = append(edges, csr.Edge{Node: v, Neighbour: phase.Nodes[u]})
		}
	}
	g, _, err := csr.FromEdges(nodes, edges, csr.Options{Directed: true})
	return g, err
}

// Variants trains once and returns a result for each way of stopping and testing that the paper leaves open: each of
// [hyper.StopOns] and, in the inductive setting, of [datasets.AllArrivals], with test metrics also from the cache,
// without weights and predictions. It ignores the experiment's own stopping, arrivals and later measurements.
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
