package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/stats"
)

var errUntrained = errors.New("nothing was trained yet: expected Train or its siblings before")

func (t *trainer) represent(phase *nmgnn.Loaded) ([]infer.Representation, error) {
	if !t.trained {
		return nil, errUntrained
	}
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
	exec, err := model.NewExec(t.backend.Backend, t.store, func(scope *model.Scope, graph *Graph) []*Node {
		return t.forward(scope, graph, phase, nil)
	})
	if err == nil {
		_, err = exec.Compile()
	}
	if err != nil {
		return nil, gomlx.Error(err)
	}
	t.represents[phase] = exec
	return exec, nil
}

// Representations returns h^(1)…h^(k) of all nodes of the test graph, in the order of View.Test.Nodes, ending in the
// logits, which a readout appends. Like the methods below, it uses the trained weights; before training it returns an
// error.
func (t *trainer) Representations() (all []infer.Representation, err error) {
	defer gomlx.Guard(&err, "computing representations")
	return t.represent(t.test.data)
}

// Predict returns the class of every node of the test graph, in the order of View.Test.Nodes.
func (t *trainer) Predict() (classes []int32, err error) {
	defer gomlx.Guard(&err, "predicting")
	all, err := t.represent(t.test.data)
	if err != nil {
		return nil, err
	}
	return last(all).Classes(), nil
}

// auc returns nil unless the test nodes are of both of two classes.
func (t *trainer) auc() (*float64, error) {
	if t.graph.NumClasses() != 2 {
		return nil, nil
	}
	all, err := t.Representations()
	if err != nil {
		return nil, err
	}
	logits, scored := last(all), t.view.Test.Score
	scores, second := make([]float32, len(scored)), make([]bool, len(scored))
	for i, v := range scored {
		row := logits.Row(int(v))
		scores[i], second[i] = row[1]-row[0], t.test.labels[i] == 1
	}
	if !slices.Contains(second, true) || !slices.Contains(second, false) {
		return nil, nil
	}
	auc, err := rocArea(scores, second)
	return &auc, err
}

// Cache returns the representations that new nodes read.
func (t *trainer) Cache() (c *cached.Cache, err error) {
	defer gomlx.Guard(&err, "filling the cache")
	train := t.view.Train
	all, err := t.represent(t.train.data)
	if err != nil {
		return nil, err
	}
	return cached.New(t.graph, train, t.rows(train), all[:len(t.model.Layers)-1]), nil
}

func (t *trainer) allEdges() int {
	if !t.options.Room {
		return 0
	}
	return len(t.graph.Edges.Indices)
}

// arrivals is the test graph as the cache sees it.
type arrivals struct {
	data *nmgnn.Loaded
	of   *datasets.View // the graph's view
}

func (t *trainer) representCached(together bool) ([]infer.Representation, error) {
	a := t.arrivals[together]
	if a.of != t.view {
		edges, err := learn.CachedEdges(t.view, together)
		if err != nil {
			return nil, err
		}
		if a.data == nil {
			name := "apart"
			if together {
				name = "together"
			}
			a.data, err = t.test.data.WithEdges("/"+gomlx.DataScope+"/cached/"+name+"/edges", edges, t.allEdges())
		} else {
			err = a.data.ReplaceEdges(edges, true)
		}
		if err != nil {
			return nil, err
		}
		a.of = t.view
		t.arrivals[together] = a
	}
	return t.represent(a.data)
}

// Smoothness returns MAD over all nodes of the test graph.
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

// rocArea returns the area under the ROC curve: the share of pairs (a node of the class, another node) in which the
// first has the higher score; equal scores count half. It returns an error if lengths differ, a side is empty, or a
// score is NaN.
func rocArea(scores []float32, inClass []bool) (float64, error) {
	if len(scores) != len(inClass) {
		return 0, fmt.Errorf("AUC: %d scores for %d nodes", len(scores), len(inClass))
	}
	order := make([]int, len(scores))
	for i, s := range scores {
		if s != s {
			return 0, fmt.Errorf("AUC: the score of node %d is NaN", i)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	var below, inside, pairs float64 // others with lower scores; class nodes so far; pairs won
	for from := 0; from < len(order); {
		to, equal, others := from, 0.0, 0.0
		for ; to < len(order) && scores[order[to]] == scores[order[from]]; to++ {
			if inClass[order[to]] {
				equal++
			} else {
				others++
			}
		}
		pairs += equal * (below + others/2)
		below, inside, from = below+others, inside+equal, to
	}
	if below == 0 || inside == 0 {
		return 0, fmt.Errorf("AUC: %v nodes of the class, %v others: expected some of both", inside, below)
	}
	return pairs / (below * inside), nil
}
