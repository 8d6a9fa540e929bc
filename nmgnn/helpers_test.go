package nmgnn_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

// fixed is a model with fixed weights on a graph.
type fixed struct {
	model    nmgnn.Model
	edges    *csr.Graph
	features datasets.Features
	mask     []float32 // nil: inactive
	labels   []int32
	score    []int32
	classes  int
	weights  map[string][]float32 // by path
}

// computed holds the representations of all layers and a readout's logits, the loss, its gradient for every weight, and
// the running statistics afterwards.
type computed struct {
	layers    [][][]float32
	loss      float64
	gradients map[string][]float32
	running   map[string][]float32
}

func (f fixed) compute(t *testing.T, b *backend.Backend, plan kernels.Plan) computed {
	t.Helper()
	return f.program(t, b, plan).step()
}

type program struct {
	t       *testing.T
	f       fixed
	backend *backend.Backend
	store   *model.Store
	data    *nmgnn.Loaded
	delta   *tensors.Tensor
	exec    *model.Exec
	paths   []string // of the gradients
}

func (f fixed) program(t *testing.T, b *backend.Backend, plan kernels.Plan) *program {
	t.Helper()
	store := gnntest.Store(t)
	data, err := nmgnn.Load(store, "/data/train", f.edges, f.features, nmgnn.LoadOptions{Backend: kernels.Planned{Plan: plan}, Gradients: true})
	require.NoError(t, err)
	delta := f.mask
	if delta == nil {
		delta = make([]float32, f.edges.NumNodes())
	}
	p := &program{t: t, f: f, backend: b, store: store, data: data, delta: tensors.FromFlatDataAndDimensions(delta,
		len(delta), 1)}
	p.exec, err = model.NewExec(b.Backend, store, func(scope *model.Scope, delta *Node) []*Node {
		g := delta.Graph()
		mask := delta
		if f.mask == nil {
			mask = nil
		}
		layers := f.model.Forward(nmgnn.Pass{Scope: scope.At("model"), Near: data.Neighbours(true, nil),
			Features: data.Features(g, true), Mask: mask})
		loss := f.loss(layers[len(layers)-1])
		outputs := append([]*Node{loss}, layers...)
		outputs = append(outputs, scope.BuildTrainableVariablesGradientsGraph(loss)...)
		p.paths = nil
		for v := range scope.IterVariables() {
			if v.Trainable {
				p.paths = append(p.paths, v.Path())
			}
		}
		return outputs
	})
	require.NoError(t, err)
	// Compiling makes the variables.
	_, err = p.exec.Compile(p.delta.Shape())
	require.NoError(t, err)
	for path, values := range f.weights {
		v := store.GetVariable(path)
		require.NotNil(t, v, "no variable %s", path)
		require.NoError(t, v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)))
	}
	for v := range store.IterVariables() {
		if isRunning(v.Path()) && !v.HasValue() {
			first, err := gomlx.FirstValue(store, v, 1)
			require.NoError(t, err)
			require.NoError(t, v.SetValue(first))
		}
		require.True(t, v.HasValue(), "no weights given for %s", v.Path())
	}
	return p
}

func isRunning(path string) bool { return strings.Contains(path, "/running_") }

// step runs forward and backward without changing weights.
func (p *program) step() computed {
	p.t.Helper()
	outputs, err := p.exec.Call(p.delta)
	require.NoError(p.t, err)
	result := computed{loss: float64(tensors.ToScalar[float32](outputs[0])), gradients: map[string][]float32{},
		running: map[string][]float32{}}
	depth := len(outputs) - 1 - len(p.paths)
	for _, h := range outputs[1 : 1+depth] {
		result.layers = append(result.layers, h.Value().([][]float32))
	}
	for i, path := range p.paths {
		result.gradients[path] = tensors.MustCopyFlatData[float32](outputs[1+depth+i])
	}
	for v := range p.store.IterVariables() {
		if isRunning(v.Path()) {
			result.running[v.Path()] = tensors.MustCopyFlatData[float32](v.MustValue())
		}
	}
	return result
}

func (p *program) tested() [][]float32 {
	p.t.Helper()
	logits, err := model.CallOnce(p.backend.Backend, p.store, func(scope *model.Scope, delta *Node) *Node {
		all := p.f.model.Forward(nmgnn.Pass{Scope: scope.At("model"), Near: p.data.Neighbours(false, nil),
			Features: p.data.Features(delta.Graph(), false)})
		return all[len(all)-1]
	}, p.delta)
	require.NoError(p.t, err)
	return logits.Value().([][]float32)
}

func (f fixed) loss(logits *Node) *Node {
	picked := make([][]float32, f.edges.NumNodes())
	for v := range picked {
		picked[v] = make([]float32, f.classes)
	}
	for _, v := range f.score {
		picked[v][f.labels[v]] -= 1 / float32(len(f.score))
	}
	return ReduceAllSum(Mul(LogSoftmax(logits, 1), Const(logits.Graph(), picked)))
}

// fixture is the common part of testdata/*_fixtures.json: a graph, its train nodes, and the loss.
type fixture struct {
	Name   string
	N      int
	Edges  [][2]int32
	X      [][]float32
	Labels []int32
	Train  []int32
	Mask   []float32
	Loss   float64
}

func casesOf[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var file struct{ Cases []T }
	require.NoError(t, json.Unmarshal(data, &file))
	require.NotEmpty(t, file.Cases)
	return file.Cases
}

// fixed returns the case without model and weights.
func (c fixture) fixed(t *testing.T, classes int) fixed {
	t.Helper()
	return fixed{edges: gnntest.Undirected(t, c.N, c.Edges), features: gnntest.SparseRows(c.X), mask: c.Mask,
		labels: c.Labels, score: c.Train, classes: classes, weights: map[string][]float32{}}
}

func (c fixture) agrees(t *testing.T, got computed, layers [][][]float32, gradients map[string][]float32) {
	t.Helper()
	require.Len(t, got.layers, len(layers))
	for l, h := range layers {
		gnntest.InDelta(t, slices.Concat(h...), slices.Concat(got.layers[l]...), 1e-5, "h^(%d)", l+1)
	}
	require.InDelta(t, c.Loss, got.loss, 1e-5, "loss")
	allInDelta(t, gradients, got.gradients, "gradient of")
}

func allInDelta(t *testing.T, want, got map[string][]float32, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for path, numbers := range want {
		gnntest.InDelta(t, numbers, got[path], 1e-5, "%s %s", what, path)
	}
}

func nearOf(t testing.TB, store *model.Store, plan kernels.Plan, nodes int,
	pairs [][2]int32) func(r *nmgnn.Random) nmgnn.Neighbours {
	t.Helper()
	x := datasets.Features{Rows: nodes, Width: 1, Dense: make([]float32, nodes)}
	data, err := nmgnn.Load(store, "/data", gnntest.Undirected(t, nodes, pairs), x,
		nmgnn.LoadOptions{Backend: kernels.Planned{Plan: plan}, Gradients: true})
	require.NoError(t, err)
	return func(r *nmgnn.Random) nmgnn.Neighbours { return data.Neighbours(true, r) }
}

// identity reveals which entries a sum includes.
func identity(g *Graph, n int) *Node { return DiagonalWithValue(Const(g, float32(1)), n) }

func shapeOf(dimensions ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dimensions...) }
