package explain_test

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/combin"

	"nodemask/aggtree"
	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/explain"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
)

// randomGraph returns a graph whose features, about half 0, are dense or sparse.
func randomGraph(t *testing.T, r *rand.Rand, nodes, edges int, sparse bool) *datasets.Graph {
	t.Helper()
	var pairs []csr.Edge
	for range edges {
		pairs = append(pairs, csr.Edge{Node: r.Int32N(int32(nodes)), Neighbour: r.Int32N(int32(nodes))})
	}
	g, _, err := csr.FromEdges(nodes, pairs, csr.Options{})
	require.NoError(t, err)
	x := datasets.Features{Rows: nodes, Width: 4, Dense: make([]float32, 4*nodes)}
	for i := range x.Dense {
		if r.IntN(2) == 0 {
			x.Dense[i] = float32(r.NormFloat64())
		}
	}
	return &datasets.Graph{Name: "random", Edges: g, Features: x.Stored(sparse), Classes: []string{"a", "b", "c"}}
}

func network(t *testing.T, b *backend.Backend, name string, seed uint64) infer.Model {
	return deepNetwork(t, b, name, 2, seed)
}

func deepNetwork(t *testing.T, b *backend.Backend, name string, layers int, seed uint64) infer.Model {
	t.Helper()
	p, err := hyper.For(name)
	require.NoError(t, err)
	p.Layers, p.Hidden, p.Heads = layers, 6, 2
	m, err := infer.Untrained(b, nmgnn.Build(p, 3), 4, seed)
	require.NoError(t, err)
	r := gomlx.HostRandom(seed, name)
	for _, w := range m.Weights {
		for i := range w.Values {
			w.Values[i] += float32(r.Float64()) - 0.4
		}
	}
	m.NormalizeFeatures = seed%2 == 1
	return m
}

func explained(t *testing.T, b *backend.Backend, m infer.Model, g *datasets.Graph, v int32,
	o explain.Options) *explain.Explanation {
	t.Helper()
	e, err := explain.Node(t.Context(), b, m, g, v, o)
	require.NoError(t, err)
	return e
}

func logits(t *testing.T, b *backend.Backend, m infer.Model, edges *csr.Graph, x datasets.Features,
	o infer.Options) infer.Representation {
	t.Helper()
	all, err := m.Represent(b, edges, x, o)
	require.NoError(t, err)
	return all[len(all)-1]
}

// onTree runs a model on the masked tree and returns the root's logit.
func onTree(t *testing.T, b *backend.Backend, m infer.Model, g *datasets.Graph, tree *aggtree.Tree, kept []bool,
	class int) float64 {
	t.Helper()
	o := infer.Options{Mask: make([]bool, len(kept)), Degrees: make([]int32, len(kept))}
	for i, base := range tree.Base {
		// Masks nothing below a masked node, which attention would notice.
		o.Mask[i], o.Degrees[i] = !kept[i] && heard(tree, kept, tree.Parent[i]), int32(g.Edges.Degree(base))
	}
	return float64(logits(t, b, m, tree.AsGraph(), g.Features.Select(tree.Base), o).Row(0)[class])
}

func heard(tree *aggtree.Tree, kept []bool, i int32) bool {
	for ; i > 0; i = tree.Parent[i] {
		if !kept[i] {
			return false
		}
	}
	return true
}

func TestTheUnmaskedTreeHasTheLogitsOfTheGraph(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for k, name := range hyper.Models() {
			g := randomGraph(t, rand.New(rand.NewPCG(uint64(k), 1)), 12, 20, k%2 == 0)
			m := network(t, b, name, uint64(k))
			all := logits(t, b, m, g.Edges, g.Features, infer.Options{})
			for _, v := range []int32{0, 7} {
				e := explained(t, b, m, g, v, explain.Options{})
				want := all.Row(int(v))
				for c := range want {
					require.InDelta(t, want[c], e.Logits[c], 1e-5*math.Max(1, math.Abs(float64(want[c]))), "%s, node %d", name, v)
				}
				require.Equal(t, int(all.Classes()[v]), e.Predicted)
				require.Equal(t, e.Predicted, e.Class)
			}
		}
	})
}

// Reference: a pass over the tree for each of the 2ⁿ masks, and Shapley's formula.
func TestBranchesAddWhatMaskingTheTreeChanges(t *testing.T) {
	b := gnntest.Go(t)
	// From 0: 1 and 2, 0 below 1, and 0, 3, 4 below 2; along a path: 1, 0 and 2 below it, then 1, and 1 and 3.
	branched := gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {0, 2}, {2, 3}, {2, 4}})
	path := gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {1, 2}, {2, 3}})
	for k, name := range append(hyper.Models(), hyper.Models()...) {
		g := randomGraph(t, rand.New(rand.NewPCG(5, uint64(k))), 5, 0, k%2 == 0)
		layers, masks := 2, 27 // (1 + 2)·(1 + 2³)
		if g.Edges = branched; k >= len(hyper.Models()) {
			g.Edges, layers, masks = path, 3, 16 // 1 + (1 + 2)·(1 + 2²)
		}
		m := deepNetwork(t, b, name, layers, uint64(k))
		class := 1
		e := explained(t, b, m, g, 0, explain.Options{Class: &class})
		n := e.Tree.NumNodes() - 1
		require.Equal(t, 6, n)
		require.True(t, e.Exact)
		require.Equal(t, masks, e.Masks)

		values := make([]float64, 1<<n)
		for set := range values {
			kept := append([]bool{true}, make([]bool, n)...)
			for i := range n {
				kept[i+1] = set&(1<<i) != 0
			}
			values[set] = onTree(t, b, m, g, e.Tree, kept, class)
		}
		all := 1<<n - 1
		require.InDelta(t, values[0], e.Alone, 1e-5, name)
		sum := e.Alone
		for i := range n {
			shapley := 0.0
			for set := range values {
				if size := bits.OnesCount(uint(set)); set&(1<<i) != 0 {
					shapley += (values[set] - values[set&^(1<<i)]) / (float64(n * combin.Binomial(n-1, size-1)))
				}
			}
			at := e.Branches[i+1]
			require.InDelta(t, shapley, at.Share, 1e-5, "%s, tree node %d", name, i+1)
			require.Zero(t, at.Error)
			require.InDelta(t, values[all]-values[all&^(1<<i)], at.Without, 1e-5, "%s, tree node %d", name, i+1)
			only := 0
			for j := range n {
				for a := int32(j + 1); a > 0; a = e.Tree.Parent[a] { // below it
					if a == int32(i+1) {
						only |= 1 << j
					}
				}
				for a := int32(i + 1); a > 0; a = e.Tree.Parent[a] { // above it
					if a == int32(j+1) {
						only |= 1 << j
					}
				}
			}
			require.InDelta(t, values[only]-values[0], at.Only, 1e-5, "%s, tree node %d", name, i+1)
			sum += at.Share
		}
		require.InDelta(t, values[all], sum, 1e-5, "what the branches add makes the logit")
		require.Equal(t, e.Logits[class], float32(e.Logit()))
	}
}

func TestEstimatedSharesAreNearTheExactOnesByTheirErrors(t *testing.T) {
	b := gnntest.Go(t)
	g := randomGraph(t, rand.New(rand.NewPCG(9, 9)), 6, 0, true)
	g.Edges = gnntest.Undirected(t, 6, [][2]int32{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}, {3, 4}, {4, 5}})
	m := network(t, b, "gin", 2)
	exact := explained(t, b, m, g, 0, explain.Options{})
	require.True(t, exact.Exact)
	n := exact.Tree.NumNodes()
	require.Equal(t, 405, exact.Masks, "(1 + 2²)·(1 + 2³)·(1 + 2³)")
	o := explain.Options{Masks: 400, Seed: 3}
	e := explained(t, b, m, g, 0, o)
	require.False(t, e.Exact)
	require.Equal(t, e.Orders*(n-1), e.Masks)
	sum := e.Alone
	for i := 1; i < n; i++ {
		require.InDelta(t, exact.Branches[i].Share, e.Branches[i].Share, 5*e.Branches[i].Error+1e-5)
		require.Equal(t, exact.Branches[i].Without, e.Branches[i].Without)
		sum += e.Branches[i].Share
	}
	require.InDelta(t, e.Logit(), sum, 1e-4, "the shares of every order add up")
	again := explained(t, b, m, g, 0, o)
	require.Equal(t, e, again)
	o.Seed++
	other := explained(t, b, m, g, 0, o)
	require.NotEqual(t, e.Branches, other.Branches)
}

func TestFeatureSharesMatchLeavingFeaturesOut(t *testing.T) {
	b := gnntest.Go(t)
	for _, sparse := range []bool{false, true} {
		for seed := range uint64(4) {
			g := randomGraph(t, rand.New(rand.NewPCG(seed, 3)), 8, 12, sparse)
			m := network(t, b, []string{"gin", "gat", "gcn", "sage"}[seed], seed)
			e := explained(t, b, m, g, 2, explain.Options{})
			var columns []int
			for _, f := range e.Features {
				columns = append(columns, f.Column)
				x := g.Features.Stored(false)
				x.Dense = slices.Clone(x.Dense)
				require.Equal(t, x.Dense[2*4+f.Column], f.Value)
				x.Dense[2*4+f.Column] = 0
				without := logits(t, b, m, g.Edges, x, infer.Options{}).Row(2)[e.Class]
				require.InDelta(t, e.Logit()-float64(without), f.Change, 1e-5)
			}
			slices.Sort(columns)
			require.Equal(t, int(g.Features.Select([]int32{2}).NonZeros()), len(slices.Compact(columns)))
		}
	}
}

func TestWhatCannotBeExplainedIsAnErrorThatSaysWhy(t *testing.T) {
	b := gnntest.Go(t)
	g := randomGraph(t, rand.New(rand.NewPCG(1, 1)), 10, 20, false)
	m := network(t, b, "gin", 2)
	_, err := explain.Node(t.Context(), b, m, g, 10, explain.Options{})
	require.EqualError(t, err, "root 10: the graph has 10 nodes, numbered from 0")
	class := 3
	_, err = explain.Node(t.Context(), b, m, g, 0, explain.Options{Class: &class})
	require.EqualError(t, err, "class 3: the model has classes 0 to 2")
	_, err = explain.Node(t.Context(), b, m, g, 0, explain.Options{Masks: -1})
	require.EqualError(t, err, "-1 masks of a tree of at most 5000 nodes: expected 1 to 16777216 masks, and 1 node or more")
	_, err = explain.Node(t.Context(), b, m, g, 0, explain.Options{Masks: 99999999999})
	require.ErrorContains(t, err, "expected 1 to 16777216 masks")
	var tooLarge *aggtree.TooLargeError
	_, err = explain.Node(t.Context(), b, m, g, 0, explain.Options{Limit: 2})
	require.ErrorAs(t, err, &tooLarge)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = explain.Node(ctx, b, m, g, 0, explain.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestAGraphThatIsNotSoundIsNotExplained(t *testing.T) {
	b := gnntest.Go(t)
	g := randomGraph(t, rand.New(rand.NewPCG(1, 1)), 12, 20, false)
	m := network(t, b, "gin", 1)
	refused := func(g *datasets.Graph, says string) {
		_, err := explain.Node(t.Context(), b, m, g, 0, explain.Options{})
		require.EqualError(t, err, says)
	}
	refused(nil, "the graph is nil: open one with datasets.Open")
	refused(&datasets.Graph{}, "the graph is nil: open one with datasets.Open")
	spoilt := *g
	spoilt.Features.Dense = slices.Clone(g.Features.Dense)
	spoilt.Features.Dense[4*11+2] = float32(math.NaN())
	refused(&spoilt, "features: row 11, column 2 is NaN: expected a finite number")
	spoilt.Features = g.Features.Select([]int32{0, 1})
	refused(&spoilt, "2 rows of features for 12 nodes")
	_, err := explain.Node(t.Context(), nil, m, g, 0, explain.Options{})
	require.ErrorContains(t, err, "the backend is closed, or was never opened: open one with backend.Open")
	_, err = explain.Node(t.Context(), b, infer.Model{}, g, 0, explain.Options{})
	require.ErrorContains(t, err, "a model needs at least one layer")
}

func TestANodeWithoutNeighboursIsItsOwnExplanation(t *testing.T) {
	b := gnntest.Go(t)
	g := randomGraph(t, rand.New(rand.NewPCG(1, 1)), 3, 0, true)
	e := explained(t, b, network(t, b, "gat", 1), g, 1, explain.Options{})
	require.True(t, e.Exact)
	require.Equal(t, e.Logit(), e.Alone)
	require.Empty(t, e.Top(10))
}

func hub(t *testing.T, neighbours int) *datasets.Graph {
	edges := make([][2]int32, neighbours)
	x := datasets.Features{Rows: neighbours + 1, Width: 4, Dense: make([]float32, 4*(neighbours+1))}
	for k := range edges {
		edges[k] = [2]int32{0, int32(k + 1)}
		x.Dense[4*k] = float32(k%7) - 3
	}
	return &datasets.Graph{Name: "hub", Edges: gnntest.Undirected(t, neighbours+1, edges), Features: x}
}

func TestAHubIsExplainedInTheMemoryOfAFewForests(t *testing.T) {
	var before, after runtime.MemStats
	b := gnntest.Go(t)
	g := hub(t, 3000)
	m := deepNetwork(t, b, "gin", 1, 1)
	most := make(chan uint64)
	ctx, done := context.WithCancel(t.Context())
	runtime.GC()
	runtime.ReadMemStats(&before)
	go func() {
		largest := uint64(0)
		for ctx.Err() == nil {
			runtime.ReadMemStats(&after)
			largest = max(largest, after.HeapAlloc)
			time.Sleep(20 * time.Millisecond)
		}
		most <- largest
	}()
	e := explained(t, b, m, g, 0, explain.Options{})
	done()
	// The orders of the branches alone have 9 million entries; a forest has 2 million.
	require.Less(t, (<-most)-before.HeapAlloc, uint64(200<<20))
	sum := e.Alone
	for _, branch := range e.Branches {
		sum += branch.Share
	}
	require.InDelta(t, e.Logit(), sum, 1e-2)
}

func TestExplainingAHubEndsSoonAfterItsContext(t *testing.T) {
	b := gnntest.Go(t)
	g := hub(t, 20_000)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	_, err := explain.Node(ctx, b, deepNetwork(t, b, "gin", 1, 1), g, 0, explain.Options{Limit: 100_000})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(begin), 10*time.Second)
}
