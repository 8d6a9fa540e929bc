package nmgnn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
)

// WeightedModel is a model with its weights, trained or not: what can be run over any graph.
type WeightedModel struct {
	Model Model
	// Weights by path, as in [Trial.Weights] and [SavedModel].
	Weights []Weight
	// NormalizeFeatures divides each row of the features by its sum first.
	NormalizeFeatures bool
}

// Weighted is the saved model as one that can be run over any graph.
func (m *SavedModel) Weighted() WeightedModel {
	return WeightedModel{Model: m.Settings.Build(len(m.Classes)), Weights: m.Weights, NormalizeFeatures: m.Settings.NormalizeFeatures}
}

// RepresentOptions say how a model is run over a graph. The zero value runs it as after training.
type RepresentOptions struct {
	// Mask says which nodes are masked; nil: none.
	Mask []bool
	// Degrees are |N_v|, where the rows of the graph do not tell, as for a part of a larger one; nil: they do.
	Degrees []int32
}

// Represent returns h^(1)…h^(k) of all nodes of a graph by the model's weights, the last of them the logits. The features
// are as they come, before any normalization. It compiles a program for this graph each time: to predict many nodes that
// arrive later, use a [Predictor].
func (m WeightedModel) Represent(b *Backend, edges *csr.Graph, x datasets.Features, o RepresentOptions) (all []Representation, err error) {
	defer guard(&err, "computing representations")
	store := model.NewStore()
	defer store.Finalize()
	exec, err := m.program(b, store, edges, x, o)
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	if err := putWeights(store, m.Weights); err != nil {
		return nil, err
	}
	outputs, err := exec.Call()
	if err != nil {
		return nil, fmt.Errorf("nmgnn: %s", firstLine(err))
	}
	return representations(outputs)
}

// program compiles the model for one graph; its weights have no values yet.
func (m WeightedModel) program(b *Backend, store *model.Store, edges *csr.Graph, x datasets.Features, o RepresentOptions) (*model.Exec, error) {
	n := edges.NumNodes()
	if o.Mask != nil && len(o.Mask) != n {
		return nil, fmt.Errorf("nmgnn: a mask of %d entries for %d nodes", len(o.Mask), n)
	}
	if o.Degrees != nil && len(o.Degrees) != n {
		return nil, fmt.Errorf("nmgnn: %d degrees for %d nodes", len(o.Degrees), n)
	}
	if m.NormalizeFeatures {
		x = x.RowNormalized()
	}
	data, err := newPhaseData(store, "/"+dataScope, edges, x, b.PlanFor(x.Density()), false)
	if err != nil {
		return nil, err
	}
	if o.Degrees != nil {
		degrees := make([]float32, n)
		for v, degree := range o.Degrees {
			degrees[v] = float32(degree)
		}
		if err := data.adjacency.setDegrees(degrees); err != nil {
			return nil, err
		}
	}
	var delta *model.Variable
	if o.Mask != nil {
		values := make([]float32, n)
		for v, masked := range o.Mask {
			if !masked {
				values[v] = 1
			}
		}
		into := variables{store: store, path: "/" + dataScope}
		if delta = into.floats("delta", values, n, 1); into.err != nil {
			return nil, into.err
		}
	}
	exec, err := model.NewExec(b.Backend, store, func(scope *model.Scope, graph *Graph) []*Node {
		p := Pass{Scope: scope.At(modelScope), Near: data.neighbours(false, nil), Features: data.input(graph, false)}
		if delta != nil {
			p.Mask = delta.NodeValue(graph)
		}
		return m.Model.Forward(p)
	})
	if err != nil {
		return nil, fmt.Errorf("nmgnn: %s", firstLine(err))
	}
	if _, err := exec.Compile(); err != nil {
		exec.Finalize()
		return nil, fmt.Errorf("nmgnn: compiling for %s: %s", b.ID, firstLine(err))
	}
	return exec, nil
}

// representations copies a program's outputs to the host and frees them.
func representations(outputs []*tensors.Tensor) ([]Representation, error) {
	defer finalize(outputs)
	all := make([]Representation, len(outputs))
	for i, output := range outputs {
		all[i] = Representation{Rows: output.Shape().Dimensions[0], Width: output.Shape().Dimensions[1]}
		var err error
		if all[i].Values, err = tensors.CopyFlatData[float32](output); err != nil {
			return nil, fmt.Errorf("nmgnn: %s", firstLine(err))
		}
	}
	return all, nil
}

// Untrained gives a model for so many features a node the weights that [Trainer.Train] begins with, as it draws them from
// the seed.
func Untrained(b *Backend, m Model, features int, seed uint64) (w WeightedModel, err error) {
	defer guard(&err, "making a model")
	w.Model = m
	if err := m.Check(); err != nil {
		return w, err
	}
	if features < 1 {
		return w, fmt.Errorf("nmgnn: %d features a node: a model needs at least one", features)
	}
	store := model.NewStore()
	defer store.Finalize()
	// What the weights are depends on no graph: one node will do.
	alone, _, err := csr.FromEdges(1, nil, csr.Options{})
	if err != nil {
		return w, err
	}
	x := datasets.Features{Rows: 1, Width: features, Dense: make([]float32, features)}
	exec, err := w.program(b, store, alone, x, RepresentOptions{})
	if err != nil {
		return w, err
	}
	defer exec.Finalize()
	for v := range store.IterVariables() {
		if !v.Trainable {
			continue
		}
		value, err := firstValue(store, v, seed)
		if err != nil {
			return w, err
		}
		if err := v.SetValue(value); err != nil {
			return w, err
		}
	}
	w.Weights, err = weightsOf(store)
	return w, err
}
