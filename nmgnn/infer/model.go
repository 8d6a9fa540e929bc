// Package infer runs a model with its weights, trained or not, over any graph.
package infer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/variables"
)

// Model is a model with its weights, trained or not, which runs over any graph.
type Model struct {
	nmgnn.Model
	// Weights by path.
	Weights []Weight
	// NormalizeFeatures divides each row of the features by the sum of its absolute values first.
	NormalizeFeatures bool
}

// Weight is one variable of a model, trained or a running statistic that training keeps: its Path, its Dimensions, and
// its Values row by row.
type Weight = variables.Weight

// Options say how a model is run over a graph. The zero value runs it as after training.
type Options struct {
	// Mask says which nodes are masked; nil: none.
	Mask []bool
	// Delta is what nodes are multiplied by where others sum them up, as [nmgnn.Mask] draws it; nil: 0 where Mask says so.
	Delta []float32
	// Degrees holds |N_v| where the rows of the graph do not tell, as in a part of a larger one; nil: they do.
	Degrees []int32
}

// Represent returns h^(1)…h^(k) of all nodes of a graph by the model's weights, the last of them the logits; with a
// readout, the logits come behind it. x holds the features before any normalization. It compiles a program for this
// graph each time: to predict many nodes that arrive later, use a cached.Predictor.
//
// It returns an error for a model without layers, for weights that are not those that the model asks for, for no graph
// or one that is not sound, for features that are not finite or not as many rows as nodes, for options of other sizes,
// and for a backend that is closed.
func (m Model) Represent(b *backend.Backend, edges *csr.Graph, x datasets.Features,
	o Options) (all []Representation, err error) {
	defer gomlx.Guard(&err, "computing representations")
	if err := m.check(b, edges, x); err != nil {
		return nil, err
	}
	store := model.NewStore()
	defer store.Finalize()
	exec, err := m.program(b, store, edges, x, o)
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	if err := variables.SetWeights(store, m.Weights); err != nil {
		return nil, err
	}
	outputs, err := exec.Call()
	if err != nil {
		return nil, gomlx.Error(err)
	}
	return Representations(outputs)
}

// check returns an error unless the model can run over the graph, as kernels do not look what they read.
func (m Model) check(b *backend.Backend, edges *csr.Graph, x datasets.Features) error {
	if edges == nil {
		return errors.New("the graph is nil: build one with csr.FromEdges")
	}
	if err := cmp.Or(m.Check(), gomlx.CheckOpen(b)); err != nil {
		return err
	}
	if _, err := csr.New(edges.Offsets, edges.Indices); err != nil {
		return fmt.Errorf("the graph: %w", err)
	}
	return x.Check()
}

// program compiles the model for one graph; its weights have no values yet.
func (m Model) program(b *backend.Backend, store *model.Store, edges *csr.Graph, x datasets.Features,
	o Options) (*model.Exec, error) {
	n := edges.NumNodes()
	if o.Mask != nil && len(o.Mask) != n {
		return nil, fmt.Errorf("a mask of %d entries for %d nodes", len(o.Mask), n)
	}
	if o.Delta != nil && len(o.Delta) != n {
		return nil, fmt.Errorf("a δ of %d entries for %d nodes", len(o.Delta), n)
	}
	if o.Degrees != nil && len(o.Degrees) != n {
		return nil, fmt.Errorf("%d degrees for %d nodes", len(o.Degrees), n)
	}
	if m.NormalizeFeatures {
		x = x.RowNormalized()
	}
	data, err := nmgnn.Load(store, "/"+variables.DataScope, edges, x, nmgnn.LoadOptions{Plan: b.PlanFor(x.Density())})
	if err != nil {
		return nil, err
	}
	if o.Degrees != nil {
		degrees := make([]float32, n)
		for v, degree := range o.Degrees {
			degrees[v] = float32(degree)
		}
		if err := data.SetDegrees(degrees); err != nil {
			return nil, err
		}
	}
	var delta *model.Variable
	if o.Mask != nil || o.Delta != nil {
		values := slices.Clone(o.Delta)
		if values == nil {
			values = make([]float32, n)
			for v, masked := range o.Mask {
				if !masked {
					values[v] = 1
				}
			}
		}
		into := kernels.NewConstants(store, "/"+variables.DataScope)
		if delta = into.Floats("delta", values, n, 1); into.Err() != nil {
			return nil, into.Err()
		}
	}
	return gomlx.Compile(b.Backend, b.ID, store, func(scope *model.Scope, graph *Graph) []*Node {
		p := nmgnn.Pass{Scope: scope.At(variables.ModelScope), Near: data.Neighbours(false, nil),
			Features: data.Features(graph, false)}
		if delta != nil {
			p.Mask = delta.NodeValue(graph)
		}
		return m.Model.Forward(p)
	})
}

// Untrained returns a model for a number of features a node with the weights that training begins with, drawn from
// the seed.
func Untrained(b *backend.Backend, m nmgnn.Model, features int, seed uint64) (w Model, err error) {
	defer gomlx.Guard(&err, "making a model")
	w.Model = m
	if err := cmp.Or(m.Check(), gomlx.CheckOpen(b)); err != nil {
		return w, err
	}
	if features < 1 {
		return w, fmt.Errorf("%d features a node: a model needs at least one", features)
	}
	store := model.NewStore()
	defer store.Finalize()
	// What the weights are depends on no graph: one node will do.
	alone, _, err := csr.FromEdges(1, nil, csr.Options{})
	if err != nil {
		return w, err
	}
	x := datasets.Features{Rows: 1, Width: features, Dense: make([]float32, features)}
	exec, err := w.program(b, store, alone, x, Options{})
	if err != nil {
		return w, err
	}
	defer exec.Finalize()
	for v := range store.IterVariables() {
		if !variables.IsWeight(v) || v.HasValue() && !variables.IsMade(store, v) { // a layer's own values stay
			continue
		}
		value, err := variables.FirstValue(store, v, seed)
		if err != nil {
			return w, err
		}
		if err := v.SetValue(value); err != nil {
			return w, gomlx.Error(err)
		}
	}
	w.Weights, err = variables.WeightsOf(store)
	return w, err
}
