package infer_test

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

// path returns 0–1–2 with features [3, 3]; last is one of node 2's features.
func path(t *testing.T, last float32) (*csr.Graph, datasets.Features) {
	return gnntest.Undirected(t, 3, [][2]int32{{0, 1}, {1, 2}}), datasets.Features{Rows: 3, Width: 3, Dense: []float32{1,
		0, 2, -1, 1, 1, last, 1, 5}}
}

func untrained(t *testing.T, b *backend.Backend, layers ...nmgnn.Layer) infer.Model {
	t.Helper()
	m, err := infer.Untrained(b, nmgnn.Model{Layers: layers}, 3, 3)
	require.NoError(t, err)
	return m
}

func TestANodeIsSeenAsFarAsThereAreLayers(t *testing.T) {
	b := gnntest.Go(t)
	hidden, logits := nmgnn.GIN{Width: []int{8}}, nmgnn.GIN{Width: []int{2}}
	for layers, sees := range map[int]bool{1: false, 2: true} {
		m := untrained(t, b, []nmgnn.Layer{hidden, logits}[2-layers:]...)
		first := func(last float32) []float32 {
			edges, x := path(t, last)
			all, err := m.Represent(b, edges, x, infer.Options{})
			require.NoError(t, err)
			require.Len(t, all, layers)
			return all[layers-1].Row(0)
		}
		require.Equal(t, sees, !slices.Equal(first(50), first(-50)), "%d layers", layers)
	}
}

func TestMasksAndDegreesGoIntoRepresentations(t *testing.T) {
	// Weights of one, no biases: h' = h + Σ δ(u)·h_u, and (Σ δ(u)·h_u)/degree + h for SAGE.
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		edges := gnntest.Undirected(t, 3, [][2]int32{{0, 1}, {1, 2}})
		x := datasets.Features{Rows: 3, Width: 1, Dense: []float32{1, 2, 4}}
		represent := func(layer nmgnn.Layer, weights []infer.Weight, o infer.Options) []float32 {
			all, err := infer.Model{Model: nmgnn.Model{Layers: []nmgnn.Layer{layer}}, Weights: weights}.Represent(b, edges, x, o)
			require.NoError(t, err)
			return all[0].Values
		}
		gin := []infer.Weight{{Path: "/model/layer0/linear0/weights", Dimensions: []int{1, 1}, Values: []float32{1}},
			{Path: "/model/layer0/linear0/biases", Dimensions: []int{1, 1}, Values: []float32{0}}}
		require.Equal(t, []float32{3, 7, 6}, represent(nmgnn.GIN{Width: []int{1}}, gin, infer.Options{}))
		require.Equal(t, []float32{3, 3, 6}, represent(nmgnn.GIN{Width: []int{1}}, gin,
			infer.Options{Mask: []bool{false, false, true}}))
		sage := []infer.Weight{{Path: "/model/layer0/weights", Dimensions: []int{1, 1}, Values: []float32{1}},
			{Path: "/model/layer0/root_weights", Dimensions: []int{1, 1}, Values: []float32{1}}, {Path: "/model/layer0/biases",
				Dimensions: []int{1, 1}, Values: []float32{0}}}
		require.Equal(t, []float32{3, 4.5, 6}, represent(nmgnn.SAGE{Width: 1}, sage, infer.Options{}))
		require.Equal(t, []float32{2, 3.25, 6}, represent(nmgnn.SAGE{Width: 1}, sage, infer.Options{Degrees: []int32{2, 4,
			1}}))
	})
}

func TestWhatCannotBeRepresentedIsAnErrorThatSaysWhy(t *testing.T) {
	b := gnntest.Go(t)
	edges, x := path(t, 0)
	m := untrained(t, b, nmgnn.GIN{Width: []int{2}})
	_, err := m.Represent(b, edges, x, infer.Options{Mask: []bool{true}})
	require.EqualError(t, err, "a mask of 1 entries for 3 nodes")
	_, err = m.Represent(b, edges, x, infer.Options{Degrees: []int32{1}})
	require.EqualError(t, err, "1 degrees for 3 nodes")
	_, err = m.Represent(b, edges, datasets.Features{Rows: 3, Width: 5, Dense: make([]float32, 15)}, infer.Options{})
	require.ErrorContains(t, err, "they belong to other settings or features")
	_, err = m.Represent(b, edges, datasets.Features{Rows: 2, Width: 3, Dense: make([]float32, 6)}, infer.Options{})
	require.ErrorContains(t, err, "2 rows of features for 3 nodes")
	_, err = m.Represent(b, nil, x, infer.Options{})
	require.EqualError(t, err, "the graph is nil: build one with csr.FromEdges")
	_, err = m.Represent(b, &csr.Graph{Offsets: []int64{0, 1, 1, 1}, Indices: []int32{5000}}, x, infer.Options{})
	require.EqualError(t, err, "the graph: row 0 names node 5000, but the graph has 3 nodes")
	for _, sparse := range []bool{false, true} {
		spoilt := x.Stored(sparse)
		if values := spoilt.Values; sparse {
			values[len(values)-1] = float32(math.NaN())
		} else {
			spoilt.Dense = slices.Clone(spoilt.Dense)
			spoilt.Dense[8] = float32(math.NaN())
		}
		_, err = m.Represent(b, edges, spoilt, infer.Options{})
		require.EqualError(t, err, "features: row 2, column 2 is NaN: expected a finite number")
	}
	_, err = infer.Model{}.Represent(b, edges, x, infer.Options{})
	require.EqualError(t, err, "a model needs at least one layer")
	_, err = infer.Untrained(b, m.Model, 0, 1)
	require.EqualError(t, err, "0 features a node: a model needs at least one")
	_, err = infer.Untrained(b, nmgnn.Model{}, 3, 1)
	require.ErrorContains(t, err, "at least one layer")
}

func TestAClosedBackendIsAnErrorThatSaysSo(t *testing.T) {
	const closed = "the backend is closed, or was never opened: open one with backend.Open"
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		edges, x := path(t, 0)
		m := untrained(t, b, nmgnn.GIN{Width: []int{2}})
		require.False(t, b.IsFinalized())
		b.Finalize()
		require.True(t, b.IsFinalized())
		for _, b := range []*backend.Backend{b, nil, {}} {
			_, err := m.Represent(b, edges, x, infer.Options{})
			require.EqualError(t, err, closed)
			_, err = infer.Untrained(b, m.Model, 3, 1)
			require.EqualError(t, err, closed)
		}
	})
}

func firstValues(t *testing.T, b *backend.Backend, m nmgnn.Model, seed uint64) map[string][]float32 {
	t.Helper()
	w, err := infer.Untrained(b, m, 3, seed)
	require.NoError(t, err)
	values := map[string][]float32{}
	for _, one := range w.Weights {
		values[one.Path] = one.Values
	}
	return values
}

func TestFirstValuesFollowFromTheSeed(t *testing.T) {
	m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GAT{Width: 50}, nmgnn.GIN{Width: []int{2}}}}
	of := func(b *backend.Backend, seed uint64) map[string][]float32 { return firstValues(t, b, m, seed) }
	first := of(gnntest.Go(t), 7)
	require.Equal(t, first, of(gnntest.Go(t), 7))
	require.NotEqual(t, first, of(gnntest.Go(t), 8))
	for path, bound := range map[string]float32{
		"/model/layer0/weights":         0.3365, // √(6/(3+50))
		"/model/layer1/linear0/weights": 0.1415, // 1/√50
		"/model/layer0/biases":          0,
	} {
		require.LessOrEqual(t, slices.Max(first[path]), bound, path)
		require.GreaterOrEqual(t, slices.Max(first[path]), 0.9*bound, path)
		require.GreaterOrEqual(t, slices.Min(first[path]), -bound, path)
	}
	t.Run("xla:cpu", func(t *testing.T) { require.Equal(t, first, of(gnntest.XLA(t), 7), "on every backend alike") })
}

// ramp is a custom layer that sets its initial scale.
type ramp struct{}

func (ramp) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	scale := scope.VariableWithValue("scale", [][]float32{{1, 2}}).NodeValue(h.Graph())
	return Mul(near.Sum(h.Times(nmgnn.ZeroWeights(scope, h.Graph(), "w", h.Width(), 2)), mask), scale)
}

func TestALayersOwnFirstValuesAreKept(t *testing.T) {
	values := firstValues(t, gnntest.Go(t), nmgnn.Model{Layers: []nmgnn.Layer{ramp{}}}, 7)
	require.Equal(t, []float32{1, 2}, values["/model/layer0/scale"])
}

func TestClassesAndSoftmax(t *testing.T) {
	r := infer.Representation{Rows: 3, Width: 3, Values: []float32{1, 3, 2, 5, 5, 5, 1000, -1000, 0}}
	require.Equal(t, []int32{1, 0, 0}, r.Classes())
	p := r.Softmax()
	// e/(1+e+e²) and so on; a third each; and scores beyond exp's range.
	gnntest.InDelta(t, []float32{0.0900306, 0.6652410, 0.2447285, 1. / 3, 1. / 3, 1. / 3, 1, 0, 0}, p.Values, 1e-6,
		"probabilities")
	require.Equal(t, []float32{5, 5, 5}, r.Row(1), "the logits are left alone")
	require.Equal(t, 3, p.Rows)
	require.Equal(t, 3, p.Width)
}

func TestNormsStartAtOneAndZeroAndMoveNoOtherFirstValue(t *testing.T) {
	b := gnntest.Go(t)
	of := func(norm bool) map[string][]float32 {
		return firstValues(t, b, nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{3, 2}, Norm: norm}}}, 7)
	}
	plain, normed := of(false), of(true)
	require.Len(t, normed, len(plain)+4)
	for path, values := range plain {
		require.Equal(t, values, normed[path], path)
	}
	require.Equal(t, []float32{1, 1, 1}, normed["/model/layer0/norm0/gamma"])
	require.Equal(t, []float32{0, 0, 0}, normed["/model/layer0/norm0/beta"])
	require.Equal(t, []float32{0, 0, 0}, normed["/model/layer0/norm0/running_mean"])
	require.Equal(t, []float32{1, 1, 1}, normed["/model/layer0/norm0/running_variance"])
}
