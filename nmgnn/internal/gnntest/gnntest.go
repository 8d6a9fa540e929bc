// Package gnntest has what tests share: small graphs, backends and choices of kernels.
package gnntest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/kernels"
)

// Torture reports whether tests run under 'make torture'.
func Torture() bool { return os.Getenv("NODEMASK_TORTURE") != "" }

// Go returns the pure-Go backend.
func Go(t testing.TB) *backend.Backend {
	t.Helper()
	b, err := backend.Open("go")
	require.NoError(t, err)
	return b
}

// XLA returns the backend xla:cpu, or skips the test if XLA is not installed.
func XLA(t testing.TB) *backend.Backend {
	t.Helper()
	b, err := backend.Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	return b
}

// Store returns a new store with a fixed seed for initial weights. With some seeds all units of a small model are
// inactive.
func Store(t testing.TB) *model.Store {
	t.Helper()
	store := model.NewStore()
	require.NoError(t, store.SetRNGStateFromSeed(1))
	return store
}

// ForEachBackend runs a subtest on the pure-Go backend and, if installed, xla:cpu.
func ForEachBackend(t *testing.T, test func(t *testing.T, b *backend.Backend)) {
	t.Helper()
	t.Run("go", func(t *testing.T) { test(t, Go(t)) })
	t.Run("xla:cpu", func(t *testing.T) { test(t, XLA(t)) })
}

// ForEachPlan runs a subtest on each backend with each kernel plan: those of [EveryKernel] and two with dense features.
func ForEachPlan(t *testing.T, test func(t *testing.T, b *backend.Backend, plan kernels.Plan)) {
	t.Helper()
	ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		forEach(t, b, test, append(EveryKernel(),
			kernels.Plan{Kernel: kernels.ScatterKernel, DenseFeatures: true},
			kernels.Plan{Kernel: kernels.FusedKernel, DenseFeatures: true, Transposed: true}))
	})
}

// ForEachKernel runs a subtest on each backend with each plan of [EveryKernel].
func ForEachKernel(t *testing.T, test func(t *testing.T, b *backend.Backend, plan kernels.Plan)) {
	t.Helper()
	ForEachBackend(t, func(t *testing.T, b *backend.Backend) { forEach(t, b, test, EveryKernel()) })
}

// Sampled skips the test on XLA, where compiling takes seconds, unless sampled is true or 'make torture' runs.
func Sampled(t *testing.T, b *backend.Backend, sampled bool) {
	t.Helper()
	if b.ID != "go" && !sampled && !Torture() {
		t.Skip("skipped: XLA compiles it for a while: run it with NODEMASK_TORTURE=1")
	}
}

func forEach(t *testing.T, b *backend.Backend, test func(t *testing.T, b *backend.Backend, plan kernels.Plan),
	plans []kernels.Plan) {
	for _, plan := range plans {
		t.Run(fmt.Sprintf("%s,dense=%t,transposed=%t", plan.Kernel, plan.DenseFeatures, plan.Transposed),
			func(t *testing.T) { test(t, b, plan) })
	}
}

// EveryKernel returns one plan for each kernel. All plans leave features sparse.
func EveryKernel() (plans []kernels.Plan) {
	for _, kernel := range kernels.Kernels() {
		plans = append(plans, kernels.Plan{Kernel: kernel})
	}
	return plans
}

// Undirected returns a graph with edges in both directions between the nodes of each pair.
func Undirected(t testing.TB, nodes int, pairs [][2]int32) *csr.Graph {
	t.Helper()
	return graph(t, nodes, pairs, csr.Options{})
}

// Directed returns a graph in which each pair's second node is a neighbour of the first.
func Directed(t testing.TB, nodes int, pairs [][2]int32) *csr.Graph {
	t.Helper()
	return graph(t, nodes, pairs, csr.Options{Directed: true})
}

func graph(t testing.TB, nodes int, pairs [][2]int32, o csr.Options) *csr.Graph {
	t.Helper()
	edges := make([]csr.Edge, len(pairs))
	for i, p := range pairs {
		edges[i] = csr.Edge{Node: p[0], Neighbour: p[1]}
	}
	g, _, err := csr.FromEdges(nodes, edges, o)
	require.NoError(t, err)
	return g
}

// SparseRows converts a dense matrix x, of shape [nodes, features], to sparse features.
func SparseRows(x [][]float32) datasets.Features {
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

// TwoCamps returns a graph of two classes, in which most edges and features reveal a node's class.
func TwoCamps(t testing.TB) *datasets.Graph {
	t.Helper()
	const n = 60
	r := rand.New(rand.NewPCG(3, 4))
	var edges []csr.Edge
	labels := make([]int32, n)
	x := make([]float32, 0, n*4)
	for v := range int32(n) {
		labels[v] = v % 2
		for range 3 {
			u := int32(r.IntN(n/2))*2 + v%2
			if r.Float64() < 0.1 {
				u = int32(r.IntN(n))
			}
			edges = append(edges, csr.Edge{Node: v, Neighbour: u})
		}
		word := labels[v]
		if r.Float64() < 0.2 {
			word = 1 - word
		}
		row := make([]float32, 4)
		row[word], row[2+r.IntN(2)] = 1, 1
		x = append(x, row...)
	}
	g, report, err := csr.FromEdges(n, edges, csr.Options{})
	require.NoError(t, err)
	features := datasets.Features{Rows: n, Width: 4, Dense: x}
	return &datasets.Graph{Name: "two camps", Edges: g, Features: features, Labels: labels, Classes: []string{"even",
		"odd"}, Report: report}
}

// Camps returns [TwoCamps] and a [View] of it.
func Camps(t testing.TB, percent int, setting datasets.Setting) (*datasets.Graph, *datasets.View) {
	t.Helper()
	g := TwoCamps(t)
	return g, View(t, g, percent, setting)
}

// Cora returns the embedded Cora graph, or fails the test.
func Cora(t testing.TB) *datasets.Graph {
	t.Helper()
	g, err := datasets.Cora()
	require.NoError(t, err)
	return g
}

// View returns a view of g with all edges and a stratified split drawn with seed 1.
func View(t testing.TB, g *datasets.Graph, percent int, setting datasets.Setting) *datasets.View {
	t.Helper()
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: percent, Seed: 1})
	require.NoError(t, err)
	view, err := datasets.NewView(g, split, setting, datasets.AllEdges)
	require.NoError(t, err)
	return view
}

// InDelta requires that want and got have equal lengths and differ by at most delta in each element.
func InDelta(t testing.TB, want, got []float32, delta float64, format string, args ...any) {
	t.Helper()
	require.Len(t, got, len(want), fmt.Sprintf(format, args...))
	for i := range want {
		require.InDelta(t, want[i], got[i], delta, fmt.Sprintf(format, args...)+": entry %d", i)
	}
}
