package nmgnn

import (
	"fmt"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
)

// forEachPlan runs a test on each backend that is here, with each way of computing.
func forEachPlan(t *testing.T, test func(t *testing.T, b *Backend, plan Plan)) {
	t.Helper()
	for _, id := range []string{"go", "xla:cpu"} {
		b, err := OpenBackend(id)
		plans := []Plan{
			{Kernel: FusedKernel},
			{Kernel: ChainKernel},
			{Kernel: ScatterKernel},
			{Kernel: ScatterKernel, DenseFeatures: true},
			{Kernel: FusedKernel, DenseFeatures: true, Transposed: true},
		}
		for _, plan := range plans {
			t.Run(fmt.Sprintf("%s/%s,dense=%t,transposed=%t", id, plan.Kernel, plan.DenseFeatures, plan.Transposed), func(t *testing.T) {
				if err != nil {
					t.Skipf("skipped: %v", err)
				}
				test(t, b, plan)
			})
		}
	}
}

// forEachBestPlan runs a test with each kernel on the go backend, and on XLA with those that it is used with: what
// XLA compiles otherwise takes long to compile and adds little.
func forEachBestPlan(t *testing.T, test func(t *testing.T, b *Backend, plan Plan)) {
	t.Helper()
	for _, c := range []struct {
		id   string
		plan Plan
	}{
		{"go", Plan{Kernel: FusedKernel}}, {"go", Plan{Kernel: ChainKernel}}, {"go", Plan{Kernel: ScatterKernel}},
		{"xla:cpu", Plan{Kernel: FusedKernel}}, {"xla:cpu", Plan{Kernel: ChainKernel}},
	} {
		t.Run(fmt.Sprintf("%s/%s", c.id, c.plan.Kernel), func(t *testing.T) {
			b, err := OpenBackend(c.id)
			if err != nil {
				t.Skipf("skipped: %v", err)
			}
			test(t, b, c.plan)
		})
	}
}

// fixed is a model with fixed weights on a graph, to be computed once.
type fixed struct {
	model    Model
	edges    *csr.Graph
	features datasets.Features
	mask     []float32 // nil: inactive
	labels   []int32
	score    []int32
	classes  int
	weights  map[string][]float32 // by path
}

// computed is what came out: representations of all layers, the loss, and its gradient for every weight.
type computed struct {
	layers    [][][]float32
	loss      float64
	gradients map[string][]float32
}

// compute runs forward and backward once, through the same parts that training uses.
func (f fixed) compute(t *testing.T, b *Backend, plan Plan) computed {
	t.Helper()
	store := model.NewStore()
	data, err := newPhaseData(store, "/data/train", f.edges, f.features, plan, true)
	require.NoError(t, err)
	trainer := &Trainer{store: store, classes: f.classes}
	labels := make([]int32, len(f.score))
	for i, v := range f.score {
		labels[i] = f.labels[v]
	}
	targets, err := trainer.targets("train", f.score, labels)
	require.NoError(t, err)
	delta := f.mask
	if delta == nil {
		delta = make([]float32, f.edges.NumNodes())
	}
	var paths []string
	exec, err := model.NewExec(b.Backend, store, func(scope *model.Scope, delta *Node) []*Node {
		g := delta.Graph()
		mask := delta
		if f.mask == nil {
			mask = nil
		}
		layers := f.model.Forward(Pass{Scope: scope.At(modelScope), Near: data.neighbours(true, nil), Features: data.input(g, true), Mask: mask})
		loss := targets.loss(last(layers))
		outputs := append([]*Node{loss}, layers...)
		outputs = append(outputs, scope.BuildTrainableVariablesGradientsGraph(loss)...)
		paths = nil
		for v := range scope.IterVariables() {
			if v.Trainable {
				paths = append(paths, v.Path())
			}
		}
		return outputs
	})
	require.NoError(t, err)
	// The variables exist once the computation has been built.
	column := tensors.FromFlatDataAndDimensions(delta, len(delta), 1)
	_, err = exec.Compile(column.Shape())
	require.NoError(t, err)
	for path, values := range f.weights {
		v := store.GetVariable(path)
		require.NotNil(t, v, "no variable %s", path)
		require.NoError(t, v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)))
	}
	for v := range store.IterVariables() {
		require.True(t, v.HasValue(), "no weights given for %s", v.Path())
	}
	outputs, err := exec.Call(column)
	require.NoError(t, err)
	result := computed{loss: float64(tensors.ToScalar[float32](outputs[0])), gradients: map[string][]float32{}}
	depth := len(f.model.Layers)
	for _, h := range outputs[1 : 1+depth] {
		result.layers = append(result.layers, h.Value().([][]float32))
	}
	for i, path := range paths {
		result.gradients[path] = tensors.MustCopyFlatData[float32](outputs[1+depth+i])
	}
	return result
}

// sparseRows stores the nonzeros of x.
func sparseRows(x [][]float32) datasets.Features {
	f := datasets.Features{Rows: len(x), Offsets: []int64{0}}
	for _, row := range x {
		f.Width = len(row)
		for c, value := range row {
			if value != 0 {
				f.Columns = append(f.Columns, int32(c))
				f.Values = append(f.Values, value)
			}
		}
		f.Offsets = append(f.Offsets, int64(len(f.Columns)))
	}
	return f
}

func undirected(t testing.TB, nodes int, pairs [][2]int32) *csr.Graph {
	t.Helper()
	edges := make([]csr.Edge, len(pairs))
	for i, p := range pairs {
		edges[i] = csr.Edge{Node: p[0], Neighbour: p[1]}
	}
	g, _, err := csr.FromEdges(nodes, edges, csr.Options{})
	require.NoError(t, err)
	return g
}

func flatten(rows [][]float32) []float32 {
	var flat []float32
	for _, row := range rows {
		flat = append(flat, row...)
	}
	return flat
}

func inDelta(t *testing.T, want, got []float32, delta float64, format string, args ...any) {
	t.Helper()
	require.Len(t, got, len(want), fmt.Sprintf(format, args...))
	for i := range want {
		require.InDelta(t, want[i], got[i], delta, fmt.Sprintf(format, args...)+": entry %d", i)
	}
}

func directed(nodes int, pairs [][2]int32) (*csr.Graph, error) {
	edges := make([]csr.Edge, len(pairs))
	for i, p := range pairs {
		edges[i] = csr.Edge{Node: p[0], Neighbour: p[1]}
	}
	g, _, err := csr.FromEdges(nodes, edges, csr.Options{Directed: true})
	return g, err
}

func shapeOf(dimensions ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dimensions...) }
