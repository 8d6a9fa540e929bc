package train

import (
	"context"
	"errors"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/newcomers"
	"nodemask/nmgnn/internal/variables"
	"nodemask/stats"
)

// errUntrained is what asks for predictions by the first weights, which are random.
var errUntrained = errors.New("nothing was trained yet: expected Train or its siblings before")

// represent runs the model over a phase: what [nmgnn.Model.Forward] returns for all its nodes, the logits last.
func (t *Trainer) represent(phase *nmgnn.Loaded) ([]infer.Representation, error) {
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
	return infer.Representations(outputs)
}

// representer returns the program that represent runs.
func (t *Trainer) representer(phase *nmgnn.Loaded) (*model.Exec, error) {
	if exec := t.represents[phase]; exec != nil {
		return exec, nil
	}
	exec, err := model.NewExec(t.backend.Backend, t.store, func(scope *model.Scope, graph *Graph) []*Node {
		return t.forward(scope, graph, phase)
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

// Representations returns h^(1)…h^(k) of all nodes of the test graph, in the order of View.Test.Nodes, by the weights
// that training left. The last of them is the logits; with a readout, the logits come behind it. Like what follows, it
// returns an error before anything was trained.
func (t *Trainer) Representations() (all []infer.Representation, err error) {
	defer gomlx.Guard(&err, "computing representations")
	return t.represent(t.test.data)
}

// Predict returns the class of every node of the test graph, in the order of View.Test.Nodes, by the weights that
// training left, without mask or dropout.
func (t *Trainer) Predict() (classes []int32, err error) {
	defer gomlx.Guard(&err, "predicting")
	all, err := t.represent(t.test.data)
	if err != nil {
		return nil, err
	}
	return last(all).Classes(), nil
}

// Cache returns what nodes that arrive later need, by the weights that training left.
func (t *Trainer) Cache() (c *cached.Cache, err error) {
	defer gomlx.Guard(&err, "filling the cache")
	train := t.view.Train
	all, err := t.represent(t.train.data)
	if err != nil {
		return nil, err
	}
	return cached.New(t.graph, train, t.rows(train), all[:len(t.model.Layers)-1]), nil
}

// allEdges is room for the edges of any test graph, if other splits are to find room.
func (t *Trainer) allEdges() int {
	if !t.options.Room {
		return 0
	}
	return len(t.graph.Edges.Indices)
}

// arrivals is the test graph as the cache sees it.
type arrivals struct {
	data *nmgnn.Loaded
	of   *datasets.View // that it was made for
}

// representCached runs the model over the test graph as the cache sees it.
func (t *Trainer) representCached(together bool) ([]infer.Representation, error) {
	a := t.arrivals[together]
	if a.of != t.view {
		edges, err := newcomers.Edges(t.view, together)
		if err != nil {
			return nil, err
		}
		if a.data == nil {
			name := "apart"
			if together {
				name = "together"
			}
			a.data, err = t.test.data.WithEdges("/"+variables.DataScope+"/cached/"+name+"/edges", edges, t.allEdges())
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

// Smoothness measures MAD over all nodes of the test graph, by the weights that training left.
func (t *Trainer) Smoothness(ctx context.Context) (s stats.Smoothness, err error) {
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
