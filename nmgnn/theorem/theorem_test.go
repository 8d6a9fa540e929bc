package theorem

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/aggtree"
	"nodemask/csr"
	"nodemask/datasets"
)

// randomGraph is a graph with features, of up to 11 nodes, some isolated and some with edges one way only.
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

// untrained has weights drawn from the seed.
func untrained(t *testing.T, b *Backend, name string, layers int, seed uint64) WeightedModel {
	t.Helper()
	s, err := Preset(PresetFor(name))
	require.NoError(t, err)
	s.Model, s.Layers, s.Hidden, s.Heads = name, layers, 8, 2
	m, err := Untrained(b, s.Build(2), 3, seed)
	require.NoError(t, err)
	return m
}

func TestTheorem1HoldsForEveryModelGraphDepthAndMask(t *testing.T) {
	for _, id := range []string{"go", "xla:cpu"} {
		b, err := OpenBackend(id)
		graphs := map[string]uint64{"go": 12, "xla:cpu": 1}[id] // XLA compiles for each graph and tree
		for _, name := range Models() {
			t.Run(id+"/"+name, func(t *testing.T) {
				if err != nil {
					t.Skipf("skipped: %v", err)
				}
				for seed := range graphs {
					r := rand.New(rand.NewPCG(seed, 1))
					g := randomGraph(t, r, seed%3 == 2)
					m := untrained(t, b, name, 1+int(seed+1)%3, seed)
					mask := make([]bool, g.Edges.NumNodes())
					for v := range mask {
						mask[v] = r.IntN(2) == 0
					}
					root := int32(r.IntN(len(mask)))
					options := []TheoremOptions{{}, {Mask: mask}}
					if name != "gat" && name != "gatv2" {
						options = append(options, TheoremOptions{Mask: mask, Pruned: true})
					}
					for _, o := range options {
						check, err := CheckTheorem1(context.Background(), b, m, g, root, o)
						require.NoError(t, err)
						assert.True(t, check.Holds(), "graph %d, root %d, %+v: %v on the graph, %v on the tree", seed, root, o, check.OnGraph, check.OnTree)
						assert.Len(t, check.OnGraph, 2)
					}
				}
			})
		}
	}
}

func TestTheorem1IsNoTruismOfTheCheck(t *testing.T) {
	b, err := OpenBackend("go")
	require.NoError(t, err)
	g := randomGraph(t, rand.New(rand.NewPCG(1, 1)), false)
	// 0 - 1 - 2, and 2 weighs much
	g.Edges, _, err = csr.FromEdges(g.Edges.NumNodes(), []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 2}}, csr.Options{})
	require.NoError(t, err)
	for i := range 3 {
		g.Features.Dense[2*3+i] = 50
	}
	// The softmax of GAT runs over masked neighbours, which the pruned tree has not.
	mask := make([]bool, g.Edges.NumNodes())
	mask[2] = true
	check, err := CheckTheorem1(context.Background(), b, untrained(t, b, "gat", 2, 1), g, 0, TheoremOptions{Mask: mask, Pruned: true})
	require.NoError(t, err)
	assert.False(t, check.Holds())
	assert.Equal(t, 3, check.TreeNodes, "0, 1 below it, and 0 below that")
	// A node two hops away is seen by two layers and not by one.
	far := g.Features.Select([]int32{0, 1, 2})
	for layers, sees := range map[int]bool{1: false, 2: true} {
		m := untrained(t, b, "gin", layers, 3)
		before, err := m.Represent(b, g.Edges, g.Features, RepresentOptions{})
		require.NoError(t, err)
		changed := g.Features
		changed.Dense = append([]float32(nil), far.Dense...)
		changed.Dense = append(changed.Dense, g.Features.Dense[9:]...)
		for i := range 3 {
			changed.Dense[2*3+i] = -50 + float32(i)*40
		}
		after, err := m.Represent(b, g.Edges, changed, RepresentOptions{})
		require.NoError(t, err)
		assert.Equal(t, sees, fmt.Sprint(last(before).Row(0)) != fmt.Sprint(last(after).Row(0)), "%d layers", layers)
	}
}

func TestWhatCannotBeRepresentedIsAnErrorThatSaysWhy(t *testing.T) {
	b, err := OpenBackend("go")
	require.NoError(t, err)
	g := randomGraph(t, rand.New(rand.NewPCG(2, 1)), false)
	m := untrained(t, b, "gin", 2, 1)
	_, err = m.Represent(b, g.Edges, g.Features, RepresentOptions{Mask: []bool{true}})
	assert.EqualError(t, err, fmt.Sprintf("nmgnn: a mask of 1 entries for %d nodes", g.Edges.NumNodes()))
	_, err = m.Represent(b, g.Edges, g.Features, RepresentOptions{Degrees: []int32{1}})
	assert.EqualError(t, err, fmt.Sprintf("nmgnn: 1 degrees for %d nodes", g.Edges.NumNodes()))
	wide := datasets.Features{Rows: g.Features.Rows, Width: 5, Dense: make([]float32, 5*g.Features.Rows)}
	_, err = m.Represent(b, g.Edges, wide, RepresentOptions{})
	assert.ErrorContains(t, err, "they are of other settings, or for other features")
	_, err = Untrained(b, m.Model, 0, 1)
	assert.EqualError(t, err, "nmgnn: 0 features a node: a model needs at least one")
	_, err = Untrained(b, Model{}, 3, 1)
	assert.ErrorContains(t, err, "at least one layer")
	g.Edges, _, err = csr.FromEdges(g.Edges.NumNodes(), []csr.Edge{{Node: 0, Neighbour: 1}}, csr.Options{})
	require.NoError(t, err)
	_, err = CheckTheorem1(context.Background(), b, m, g, 0, TheoremOptions{Limit: 2})
	var tooLarge *aggtree.TooLargeError
	assert.True(t, errors.As(err, &tooLarge))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = CheckTheorem1(ctx, b, m, g, 0, TheoremOptions{})
	assert.ErrorIs(t, err, context.Canceled)
}
