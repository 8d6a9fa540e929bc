package theorem

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/aggtree"
	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

// randomGraph returns up to 11 nodes with features, some isolated, some with one-way edges.
func randomGraph(t *testing.T, r *rand.Rand, directed bool) *datasets.Graph {
	t.Helper()
	n := 2 + r.IntN(10)
	var edges []csr.Edge
	for range r.IntN(2 * n) {
		edges = append(edges, csr.Edge{Node: int32(r.IntN(n)), Neighbour: int32(r.IntN(n))})
	}
	g, _, err := csr.FromEdges(n, edges, csr.Options{Directed: directed})
	require.NoError(t, err)
	x := datasets.Features{Rows: n, Width: 3, Dense: make([]float32, 3*n)}
	for i := range x.Dense {
		x.Dense[i] = float32(r.NormFloat64())
	}
	return &datasets.Graph{Name: "random", Edges: g, Features: x, Classes: []string{"a", "b"}}
}

func untrained(t *testing.T, b *backend.Backend, name string, layers int, seed uint64) infer.Model {
	t.Helper()
	model, readings, _ := strings.Cut(name, ", ")
	p, err := hyper.For(model)
	require.NoError(t, err)
	p.Layers, p.Hidden, p.Heads = layers, 8, 2
	switch readings {
	case "both, all":
		p.MLPLayers, p.Norm, p.Readout, p.Residual = 2, hyper.NormBoth, hyper.ReadoutAll, true
	case "last, kept":
		p.Readout, p.SelfTerm = hyper.ReadoutLast, hyper.SelfKept
	}
	require.NoError(t, p.Check())
	m, err := infer.Untrained(b, nmgnn.Build(p, 2), 3, seed)
	require.NoError(t, err)
	return m
}

func ofLayer(t *testing.T, b *backend.Backend, layer nmgnn.Layer) infer.Model {
	t.Helper()
	m, err := infer.Untrained(b, nmgnn.Model{Layers: []nmgnn.Layer{layer}}, 3, 1)
	require.NoError(t, err)
	return m
}

func TestTheorem1HoldsForEveryModelGraphDepthAndMask(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		graphs := map[string]uint64{"go": 12, "xla:cpu": 1}[b.ID] // XLA compiles per graph and tree
		for _, name := range append(hyper.Models(), "gin, both, all", "gat, last, kept") {
			t.Run(name, func(t *testing.T) {
				for seed := range graphs {
					r := rand.New(rand.NewPCG(seed, 1))
					g := randomGraph(t, r, seed%3 == 2)
					m := untrained(t, b, name, 1+int(seed+1)%3, seed)
					mask := make([]bool, g.Edges.NumNodes())
					for v := range mask {
						mask[v] = r.IntN(2) == 0
					}
					root := int32(r.IntN(len(mask)))
					options := []Options{{}, {Mask: mask}}
					if !strings.HasPrefix(name, "gat") {
						options = append(options, Options{Mask: mask, Pruned: true})
					}
					for _, o := range options {
						check, err := Check(context.Background(), b, m, g, root, o)
						require.NoError(t, err)
						assert.True(t, check.Holds(), "graph %d, root %d, %+v: %v on the graph, %v on the tree", seed, root, o,
							check.OnGraph, check.OnTree)
						assert.Len(t, check.OnGraph, 2)
					}
				}
			})
		}
	})
}

func TestTheorem1IsNoTruismOfTheCheck(t *testing.T) {
	b := gnntest.Go(t)
	g := randomGraph(t, rand.New(rand.NewPCG(1, 1)), false)
	// 0 - 1 - 2, and 2 has a large weight
	g.Edges = gnntest.Undirected(t, g.Edges.NumNodes(), [][2]int32{{0, 1}, {1, 2}})
	for i := range 3 {
		g.Features.Dense[2*3+i] = 50
	}
	// GAT's softmax includes masked neighbours, which the pruned tree lacks.
	mask := make([]bool, g.Edges.NumNodes())
	mask[2] = true
	check, err := Check(context.Background(), b, untrained(t, b, "gat", 2, 1), g, 0, Options{Mask: mask, Pruned: true})
	require.NoError(t, err)
	assert.False(t, check.Holds())
	assert.Equal(t, 3, check.TreeNodes, "0, 1 below it, and 0 below that")
}

// forgetful sums all neighbours, masked or not.
type forgetful struct{}

func (forgetful) Forward(_ *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, _ *Node) *Node {
	return near.Sum(h.Times(OneHot(Iota(h.Graph(), shapes.Make(dtypes.Int32, h.Width()), 0), h.Width(), dtypes.Float32)),
		nil)
}

func TestOnlyThePrunedTreeNoticesALayerThatForgetsTheMask(t *testing.T) {
	b := gnntest.Go(t)
	g := randomGraph(t, rand.New(rand.NewPCG(4, 1)), false)
	g.Edges = gnntest.Undirected(t, g.Edges.NumNodes(), [][2]int32{{0, 1}})
	mask := make([]bool, g.Edges.NumNodes())
	mask[1] = true
	m := ofLayer(t, b, forgetful{})
	for pruned, holds := range map[bool]bool{false: true, true: false} {
		check, err := Check(context.Background(), b, m, g, 0, Options{Mask: mask, Pruned: pruned})
		require.NoError(t, err)
		assert.Equal(t, holds, check.Holds(), "pruned: %v", pruned)
	}
}

// highest takes the neighbours' columnwise maximum, negative here.
type highest struct{}

func (highest) Forward(_ *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	same := OneHot(Iota(h.Graph(), shapes.Make(dtypes.Int32, h.Width()), 0), h.Width(), dtypes.Float32)
	return near.Max(AddScalar(h.Times(same), -100), mask)
}

func TestTheorem1HoldsOfAMaximumWithoutTheMaskedNodes(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		g := randomGraph(t, rand.New(rand.NewPCG(4, 1)), false)
		g.Edges = gnntest.Undirected(t, g.Edges.NumNodes(), [][2]int32{{0, 1}, {0, 2}})
		mask := make([]bool, g.Edges.NumNodes())
		mask[1] = true
		m := ofLayer(t, b, highest{})
		check, err := Check(context.Background(), b, m, g, 0, Options{Mask: mask, Pruned: true})
		require.NoError(t, err)
		assert.True(t, check.Holds(), "%v on the graph, %v on the tree", check.OnGraph, check.OnTree)
	})
}

func TestLimitAndContextEndTheCheck(t *testing.T) {
	b := gnntest.Go(t)
	g := randomGraph(t, rand.New(rand.NewPCG(2, 1)), false)
	m := untrained(t, b, "gin", 2, 1)
	g.Edges = gnntest.Undirected(t, g.Edges.NumNodes(), [][2]int32{{0, 1}})
	_, err := Check(context.Background(), b, m, g, 0, Options{Limit: 2})
	var tooLarge *aggtree.TooLargeError
	assert.True(t, errors.As(err, &tooLarge))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Check(ctx, b, m, g, 0, Options{})
	assert.ErrorIs(t, err, context.Canceled)
}

// halfNaN returns NaN and 1.
type halfNaN struct{}

func (halfNaN) Forward(_ *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, _ *Node) *Node {
	one := Ones(h.Graph(), shapes.Make(dtypes.Float32, near.NumNodes(), 1))
	return Concatenate([]*Node{Sqrt(Neg(one)), one}, 1)
}

func TestANaNIsADifferenceWhereverItStands(t *testing.T) {
	b := gnntest.Go(t)
	g := randomGraph(t, rand.New(rand.NewPCG(3, 1)), false)
	m := ofLayer(t, b, halfNaN{})
	check, err := Check(context.Background(), b, m, g, 0, Options{})
	require.NoError(t, err)
	require.True(t, math.IsNaN(float64(check.OnGraph[0])))
	require.Equal(t, float32(1), check.OnGraph[1])
	assert.False(t, check.Holds())
}

func TestATheoremThatDoesNotFitIntoMemoryIsNotChecked(t *testing.T) {
	var edges []csr.Edge
	for v := range int32(1000) {
		edges = append(edges, csr.Edge{Node: 0, Neighbour: v + 1})
	}
	star, _, err := csr.FromEdges(1001, edges, csr.Options{})
	require.NoError(t, err)
	g := &datasets.Graph{Edges: star, Features: randomFeatures(1001, 16, 1)}
	require.NoError(t, checkFits(t.Context(), g, 1, 2, memory.Left{Bytes: 1e9, Of: "this machine"}))
	require.ErrorContains(t, checkFits(t.Context(), g, 0, 5, memory.Left{Bytes: 1e9, Of: "this machine"}),
		"and a tree of 1002002001, and this machine leaves 1.0 GB: ask for fewer hops")
}
