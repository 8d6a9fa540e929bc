// Package infer runs models, trained or not, over any graph.
package infer

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

// Model is a model with its weights, trained or not.
type Model struct {
	nmgnn.Model
	// Weights holds the model's variables.
	Weights []Weight
	// NormalizeFeatures first divides each row of features by its sum of absolute values.
	NormalizeFeatures bool
}

// Weight is a variable of a model: a trained variable or a running statistic, as in batch normalisation.
type Weight struct {
	Path       string // path in the store, such as /model/layer0/weights
	Dimensions []int
	Values     []float32 // row-major
}

// Options configure a run.
type Options struct {
	// Mask is true for masked nodes; nil masks none.
	Mask []bool
	// Degrees holds |N_v| for each node v, if the graph lacks some neighbours; nil means the numbers of neighbours in
	// the graph.
	Degrees []int32
}

// Represent returns the representations of all nodes: h^(1) to h^(k) for a model of k layers. The last element always
// holds the logits: without a readout, the logits are h^(k); with a readout, they follow h^(k) as one more element. x
// holds features before normalization. Each call compiles a program: for many new nodes use a cached.Predictor.
func (m Model) Represent(b *backend.Backend, edges *csr.Graph, x datasets.Features,
	o Options) ([]Representation, error) {
	if err := m.check(b, edges, x); err != nil {
		return nil, err
	}
	return m.Run(b, edges, x, o, m.Model.Forward)
}

// Run builds a computation by the function do, runs it over a graph with the model's weights, and returns the results.
// The graph must be valid.
func (m Model) Run(b *backend.Backend, edges *csr.Graph, x datasets.Features, o Options,
	do func(p nmgnn.Pass) []*Node) (all []Representation, err error) {
	defer gomlx.Guard(&err, "computing representations")
	store := model.NewStore()
	defer store.Finalize()
	exec, err := m.program(b, store, edges, x, o, do)
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	if err := gomlx.SetWeights(store, m.Weights); err != nil {
		return nil, err
	}
	outputs, err := exec.Call()
	if err != nil {
		return nil, gomlx.Error(err)
	}
	return gomlx.Matrices[Representation](outputs)
}

// check returns an error for invalid inputs, which kernels do not check.
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

func (m Model) program(b *backend.Backend, store *model.Store, edges *csr.Graph, x datasets.Features,
	o Options, do func(p nmgnn.Pass) []*Node) (*model.Exec, error) {
	n := edges.NumNodes()
	if o.Mask != nil && len(o.Mask) != n {
		return nil, fmt.Errorf("a mask of %d entries for %d nodes", len(o.Mask), n)
	}
	if o.Degrees != nil && len(o.Degrees) != n {
		return nil, fmt.Errorf("%d degrees for %d nodes", len(o.Degrees), n)
	}
	if m.NormalizeFeatures {
		x = x.RowNormalized()
	}
	data, err := nmgnn.Load(store, "/"+gomlx.DataScope, edges, x, nmgnn.LoadOptions{Backend: b.Backend})
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
	if o.Mask != nil {
		into := kernels.NewConstants(store, "/"+gomlx.DataScope)
		if delta = into.Floats("delta", hyper.Mask(o.Mask).Delta(), n, 1); into.Err() != nil {
			return nil, into.Err()
		}
	}
	return gomlx.Compile(b.Backend, b.ID, store, func(scope *model.Scope, graph *Graph) []*Node {
		p := nmgnn.Pass{Scope: scope.At(gomlx.ModelScope), Near: data.Neighbours(false, nil),
			Features: data.Features(graph, false)}
		if delta != nil {
			p.Mask = delta.NodeValue(graph)
		}
		return do(p)
	})
}

// Untrained returns a model with initial weights drawn from the seed, for this many features per node.
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
	// One node is enough, because initial weights do not depend on the graph.
	alone, _, err := csr.FromEdges(1, nil, csr.Options{})
	if err != nil {
		return w, err
	}
	x := datasets.Features{Rows: 1, Width: features, Dense: make([]float32, features)}
	exec, err := w.program(b, store, alone, x, Options{}, m.Forward)
	if err != nil {
		return w, err
	}
	defer exec.Finalize()
	for v := range store.IterVariables() {
		// Skip non-weights, and weights whose value a layer has set itself.
		if !gomlx.IsWeight(v) || v.HasValue() && !gomlx.IsMade(store, v) {
			continue
		}
		value, err := gomlx.FirstValue(store, v, seed)
		if err != nil {
			return w, err
		}
		if err := v.SetValue(value); err != nil {
			return w, gomlx.Error(err)
		}
	}
	w.Weights, err = gomlx.WeightsOf[Weight](store)
	return w, err
}

// Representation is a layer's result for all nodes: row v is h_v.
type Representation struct {
	Rows, Width int
	Values      []float32 // row-major
}

// Row returns h_v, as a slice of r.Values (not a copy).
func (r Representation) Row(v int) []float32 { return r.Values[v*r.Width : (v+1)*r.Width] }

// Classes returns the column of each row's maximum: the predicted class for logits or probabilities.
func (r Representation) Classes() []int32 {
	classes := make([]int32, r.Rows)
	for v := range classes {
		row := r.Row(v)
		for c, x := range row {
			if x > row[classes[v]] {
				classes[v] = int32(c)
			}
		}
	}
	return classes
}

// Softmax returns the softmax of each row.
func (r Representation) Softmax() Representation {
	p := Representation{Rows: r.Rows, Width: r.Width, Values: make([]float32, len(r.Values))}
	for v := range r.Rows {
		from, to := r.Row(v), p.Row(v)
		highest, sum := math.Inf(-1), 0.0
		for _, x := range from {
			highest = max(highest, float64(x))
		}
		for _, x := range from {
			sum += math.Exp(float64(x) - highest)
		}
		for c, x := range from {
			to[c] = float32(math.Exp(float64(x)-highest) / sum)
		}
	}
	return p
}
