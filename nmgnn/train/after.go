package train

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/stats"
)

func (t *trainer) represent(phase *nmgnn.Loaded) ([]infer.Representation, error) {
	exec, err := t.representer(phase)
	if err != nil {
		return nil, err
	}
	outputs, err := exec.Call()
	if err != nil {
		return nil, gomlx.Error(err)
	}
	return gomlx.Matrices[infer.Representation](outputs)
}

func (t *trainer) representer(phase *nmgnn.Loaded) (*model.Exec, error) {
	if exec := t.represents[phase]; exec != nil {
		return exec, nil
	}
	exec, err := gomlx.Compile(t.backend.Backend, t.backend.ID, t.store, func(scope *model.Scope, graph *Graph) []*Node {
		return t.forward(scope, graph, phase, nil)
	})
	if err == nil {
		t.represents[phase] = exec
	}
	return exec, err
}

// Representations returns [nmgnn.Model.Forward]'s results on the test graph under the current weights.
func (t *trainer) Representations() (all []infer.Representation, err error) {
	defer gomlx.Guard(&err, "computing representations")
	return t.represent(t.test.data)
}

// testGraph identifies the test graph of a [datasets.View]. The field view is this view's index: 0 for the trainer's
// view, i for [options].Also[i-1]. If cached is set, only edges from train nodes remain ([datasets.View.CachedEdges]).
// If together is also set, edges between new nodes remain too.
type testGraph struct {
	view             int
	cached, together bool
}

// arrivals is a loaded test graph in which new nodes (nodes that arrive after training) have other edges than in the
// trainer's own test graph. Both graphs share their features.
type arrivals struct {
	data *nmgnn.Loaded
	of   *datasets.View // value of trainer.view when the edges of arrivals.data were last set
}

// loaded loads the test graph g with the features of the trainer's own test graph, which must contain all of g's
// nodes.
func (t *trainer) loaded(g testGraph) (*nmgnn.Loaded, error) {
	a := t.arrivals[g]
	if g == (testGraph{}) {
		return t.test.data, nil
	} else if a.of == t.view {
		return a.data, nil
	}
	view := t.views()[g.view]
	phase, err := view.Test, error(nil)
	if g.cached {
		if phase.Edges, err = view.CachedEdges(g.together); err != nil {
			return nil, err
		}
	}
	edges, err := onNodes(phase, t.view.Test.Nodes)
	switch {
	case err != nil:
	case a.data == nil:
		room := 0
		if t.options.Room {
			room = len(t.graph.Edges.Indices)
		}
		path := fmt.Sprintf("/%s/arrivals%d/edges", gomlx.DataScope, len(t.arrivals))
		a.data, err = t.test.data.WithEdges(path, edges, room)
	default:
		err = a.data.ReplaceEdges(edges, true)
	}
	a.of = t.view
	t.arrivals[g] = a
	return a.data, err
}

// onNodes returns a training, validation or test phase's edges as a graph whose node i is nodes[i]. The argument
// nodes lists the phase's nodes or all nodes; nodes outside the phase get no edges.
func onNodes(phase datasets.Phase, nodes []int32) (*csr.Graph, error) {
	if len(phase.Nodes) == len(nodes) {
		return phase.Edges, nil
	}
	var edges []csr.Edge
	for i, v := range phase.Nodes {
		for _, u := range phase.Edges.Neighbours(int32(i)) {
			edges = append(edges, csr.Edge{Node: v, Neighbour: phase.Nodes[u]})
		}
	}
	g, _, err := csr.FromEdges(len(nodes), edges, csr.Options{Directed: true})
	return g, err
}

func (t *trainer) predict(g testGraph) (classes []int32, err error) {
	defer gomlx.Guard(&err, "predicting")
	data, err := t.loaded(g)
	if err != nil {
		return nil, err
	}
	all, err := t.represent(data)
	if err != nil {
		return nil, err
	}
	return t.onGraph(last(all).Classes()), nil
}

func (t *trainer) Predict(_ context.Context, trial *Result) ([]int32, error) {
	if err := gomlx.SetWeights(t.store, trial.Weights); err != nil {
		return nil, err
	}
	return t.predict(testGraph{})
}

// PredictCached predicts from cached representations. Like Cache, it uses the weights that Predict set: call Predict
// first.
func (t *trainer) PredictCached(_ context.Context, _ *Result, together bool) ([]int32, error) {
	return t.predict(testGraph{cached: true, together: together})
}

func (t *trainer) auc() (*float64, error) {
	labels := t.test.labels
	if t.graph.NumClasses() != 2 || !slices.Contains(labels, 0) || !slices.Contains(labels, 1) {
		return nil, nil
	}
	all, err := t.Representations()
	if err != nil {
		return nil, err
	}
	scores := make([]float32, len(labels))
	for i, v := range t.view.Test.Score {
		row := last(all).Row(int(v))
		scores[i] = row[1] - row[0]
	}
	auc := rocArea(scores, labels)
	return &auc, nil
}

func (t *trainer) Cache(context.Context, *Result) (c *cached.Cache, err error) {
	defer gomlx.Guard(&err, "filling the cache")
	train := t.view.Train
	all, err := t.represent(t.train.data)
	if err != nil {
		return nil, err
	}
	return cached.New(t.graph, train, t.rows(train), all[:len(t.model.Layers)-1]), nil
}

// Smoothness measures [stats.MAD], the mean distance between representations, over all nodes of the test graph.
func (t *trainer) Smoothness(ctx context.Context) (s stats.Smoothness, err error) {
	all, err := t.Representations()
	if err != nil {
		return s, err
	}
	logits := last(all)
	measure := func(r infer.Representation) (mad float64) {
		if err == nil {
			mad, err = stats.MAD(ctx, r.Values, r.Rows, r.Width)
		}
		return mad
	}
	if len(all) > 1 {
		s.Hidden = measure(all[len(all)-2])
	}
	s.Logits, s.Softmax = measure(logits), measure(logits.Softmax())
	return s, err
}

// rocArea returns the area under the ROC curve: the share of pairs of a class 1 node and a class 0 node in which the
// class 1 node has the higher score. Equal scores count half.
func rocArea(scores []float32, classes []int32) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	var seen [2]float64 // for each class, how many nodes have scores below the current score
	pairs := 0.0
	for from, to := 0, 0; from < len(order); from = to {
		var equal [2]float64
		for ; to < len(order) && scores[order[to]] == scores[order[from]]; to++ {
			equal[classes[order[to]]]++
		}
		pairs += equal[1] * (seen[0] + equal[0]/2)
		seen[0], seen[1] = seen[0]+equal[0], seen[1]+equal[1]
	}
	return pairs / (seen[0] * seen[1])
}
