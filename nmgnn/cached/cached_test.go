package cached_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

// arrivalsOf are the nodes of a view that are not in its train graph, joined to train nodes by their places there. They are
// called by their numbers.
func arrivalsOf(g *datasets.Graph, view *datasets.View) *datasets.Newcomers {
	place := map[int32]int32{}
	for i, v := range view.Train.Nodes {
		place[v] = int32(i)
	}
	n := &datasets.Newcomers{}
	var rows []int32
	for v := range int32(g.NumNodes()) {
		if _, known := place[v]; known {
			continue
		}
		var neighbours []int32
		for _, u := range g.Edges.Neighbours(v) {
			if at, known := place[u]; known {
				neighbours = append(neighbours, at)
			}
		}
		slices.Sort(neighbours)
		n.Known = append(n.Known, neighbours)
		n.IDs = append(n.IDs, fmt.Sprint(v))
		rows = append(rows, v)
	}
	n.Features = g.Features.Select(rows)
	return n
}

// anyModel returns a model of a kind with weights that are far from each other and from zero, biases too.
func anyModel(t testing.TB, b *backend.Backend, kind string, g *datasets.Graph, layers int) *cached.Model {
	t.Helper()
	p, err := hyper.For(kind)
	require.NoError(t, err)
	p.Layers = layers
	return modelOf(t, b, p, g)
}

// modelOf is anyModel with parameters of one's own.
func modelOf(t testing.TB, b *backend.Backend, p hyper.Parameters, g *datasets.Graph) *cached.Model {
	t.Helper()
	p.Hidden, p.Heads = 6, 2
	require.NoError(t, p.Check())
	m, err := infer.Untrained(b, nmgnn.Build(p, len(g.Classes)), g.Features.Width, 1)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for _, w := range m.Weights {
		for i := range w.Values {
			w.Values[i] = float32(r.NormFloat64())
			if strings.HasSuffix(w.Path, "/running_variance") {
				w.Values[i] *= w.Values[i]
			}
		}
	}
	return &cached.Model{Settings: p, Classes: g.Classes, Features: g.Features.Width, Weights: m.Weights}
}

// cacheOf computes the train nodes' representations on the train graph.
func cacheOf(t testing.TB, b *backend.Backend, m *cached.Model, g *datasets.Graph, view *datasets.View) *cached.Cache {
	t.Helper()
	own := g.Features.Select(view.Train.Nodes)
	all, err := m.Network().Represent(b, view.Train.Edges, own, infer.Options{})
	require.NoError(t, err)
	if m.Settings.NormalizeFeatures {
		own = own.RowNormalized()
	}
	return cached.New(g, view.Train, own, all[:m.Settings.Layers-1])
}

func TestPredictingInBatchesFromACacheIsWhatEquationFourSays(t *testing.T) {
	g, err := datasets.SBM(datasets.SBMOptions{Nodes: 700, Classes: 3, MeanDegree: 6, Homophily: 0.8, Features: 12, Seed: 5})
	require.NoError(t, err)
	view := gnntest.View(t, g, 10, datasets.Inductive)
	edges, err := cached.Edges(view)
	require.NoError(t, err)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		models := map[string]*cached.Model{}
		for _, kind := range hyper.Models() {
			models[kind] = anyModel(t, b, kind, g, 3)
		}
		deep, err := hyper.For("gin")
		require.NoError(t, err)
		deep.Layers, deep.MLPLayers, deep.Norm, deep.Readout, deep.Residual = 3, 2, hyper.NormBoth, hyper.ReadoutAll, true
		models["gin with all there is"] = modelOf(t, b, deep, g)
		last, err := hyper.For("gat")
		require.NoError(t, err)
		last.Readout, last.SelfTerm = hyper.ReadoutLast, hyper.SelfKept
		models["gat with a readout"] = modelOf(t, b, last, g)
		for kind, m := range models {
			t.Run(kind, func(t *testing.T) {
				cache := cacheOf(t, b, m, g, view)
				// To run the model over the test graph as the cache sees it is to compute all new nodes at once.
				all, err := m.Network().Represent(b, edges, g.Features.Select(view.Test.Nodes), infer.Options{})
				require.NoError(t, err)
				want := all[len(all)-1].Softmax()

				p, err := cached.NewPredictor(b, m, cache)
				require.NoError(t, err)
				defer p.Close()
				newcomers := arrivalsOf(g, view)
				require.Greater(t, len(newcomers.IDs), cached.LargestBatch, "more than one batch")
				i, sides := 0, map[string]bool{}
				require.NoError(t, p.Predict(context.Background(), newcomers, func(got cached.Prediction) error {
					require.Equal(t, newcomers.IDs[i], got.ID)
					v, err := strconv.Atoi(got.ID)
					require.NoError(t, err)
					class := slices.Index(g.Classes, got.Class)
					require.InDelta(t, want.Row(v)[class], got.Probability, 1e-5)
					require.InDelta(t, slices.Max(want.Row(v)), got.Probability, 1e-5)
					require.Equal(t, len(newcomers.Known[i]), got.Neighbours)
					sides[got.Class] = true
					i++
					return nil
				}))
				require.Equal(t, len(newcomers.IDs), i)
				require.Greater(t, len(sides), 1, "not all the same")
			})
		}
	})
}

func TestBatchesOfOneShapeShareAProgram(t *testing.T) {
	b := gnntest.Go(t)
	g := gnntest.TwoCamps(t)
	view := gnntest.View(t, g, 50, datasets.Inductive)
	m := anyModel(t, b, "gin", g, 2)
	p, err := cached.NewPredictor(b, m, cacheOf(t, b, m, g, view))
	require.NoError(t, err)
	defer p.Close()
	var together, alone []cached.Prediction
	into := func(all *[]cached.Prediction) func(cached.Prediction) error {
		return func(got cached.Prediction) error { *all = append(*all, got); return nil }
	}
	newcomers := arrivalsOf(g, view)
	require.NoError(t, p.Predict(t.Context(), newcomers, into(&together)))
	require.Equal(t, 1, p.Programs())
	for i := range newcomers.IDs {
		one := &datasets.Newcomers{IDs: newcomers.IDs[i : i+1], Known: newcomers.Known[i : i+1], Features: newcomers.Features.Select([]int32{int32(i)})}
		require.NoError(t, p.Predict(t.Context(), one, into(&alone)))
	}
	require.Less(t, p.Programs(), len(newcomers.IDs)/2)
	require.Len(t, alone, len(together))
	for i := range together {
		require.InDelta(t, together[i].Probability, alone[i].Probability, 1e-5, "a node's prediction does not depend on its batch")
		together[i].Probability = alone[i].Probability
	}
	require.Equal(t, together, alone)
}

func TestWhatDoesNotFitAModelIsRefused(t *testing.T) {
	b := gnntest.Go(t)
	g := gnntest.TwoCamps(t)
	view := gnntest.View(t, g, 50, datasets.Inductive)
	m := anyModel(t, b, "gin", g, 2)
	cache := cacheOf(t, b, m, g, view)
	_, err := cached.NewPredictor(b, anyModel(t, b, "gin", g, 3), cache)
	require.ErrorContains(t, err, "a cache of 4 features and 1 hidden layers for a model with 4 and 2")
	p, err := cached.NewPredictor(b, m, cache)
	require.NoError(t, err)
	defer p.Close()
	wide := &datasets.Newcomers{IDs: []string{"x"}, Known: [][]int32{nil}, Features: datasets.Features{Rows: 1, Width: 5, Dense: make([]float32, 5)}}
	none := func(cached.Prediction) error { t.Fatal("nothing can be predicted"); return nil }
	require.ErrorContains(t, p.Predict(t.Context(), wide, none), "5 features a node: the model was trained with 4")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Predict(ctx, arrivalsOf(g, view), none), context.Canceled)
}

func TestNodesAreCountedByHand(t *testing.T) {
	_, view := gnntest.FiveNodes(t)
	// All 5. Test node e reaches d in one hop and c in two: 3. Cached: d and e are new, and no train node is next to e: 2.
	require.Equal(t, cached.NodeCounts{All: 5, Reached: 3, Cached: 2}, cached.CountNodes(view, 2))
	view.Test.Score = []int32{3}
	// d reaches c and e, then a and b: all 5. Cached: d, e, and c next to d: 3.
	require.Equal(t, cached.NodeCounts{All: 5, Reached: 5, Cached: 3}, cached.CountNodes(view, 2))
	require.Equal(t, 1, cached.CountNodes(view, 0).Reached)
}

func TestTheCacheSeesTrainRowsAsTheyWereAndNewRowsWithTrainNeighboursOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "nodes")
		var pairs []csr.Edge
		for v := range n {
			for u := range v {
				if rapid.Bool().Draw(t, "edge") {
					pairs = append(pairs, csr.Edge{Node: int32(u), Neighbour: int32(v)})
				}
			}
		}
		edges, _, err := csr.FromEdges(n, pairs, csr.Options{})
		require.NoError(t, err)
		var train, all []int32
		isTrain := make([]bool, n)
		for v := range int32(n) {
			all = append(all, v)
			if isTrain[v] = rapid.Bool().Draw(t, "train"); isTrain[v] {
				train = append(train, v)
			}
		}
		view := &datasets.View{Train: datasets.Phase{Nodes: train}, Test: datasets.Phase{Edges: edges, Nodes: all}}
		got, err := cached.Edges(view)
		require.NoError(t, err)
		for v := range int32(n) {
			var want []int32
			for _, u := range edges.Neighbours(v) {
				if isTrain[u] {
					want = append(want, u)
				}
			}
			require.Equal(t, want, append([]int32(nil), got.Neighbours(v)...))
		}
	})
}

func TestRunningStatisticsAreSavedWithTheirModel(t *testing.T) {
	b := gnntest.Go(t)
	g := gnntest.TwoCamps(t)
	p, err := hyper.For("gin")
	require.NoError(t, err)
	p.MLPLayers, p.Norm, p.Readout = 2, hyper.NormBoth, hyper.ReadoutAll
	m := modelOf(t, b, p, g)
	path := filepath.Join(t.TempDir(), "model")
	require.NoError(t, m.Save(path))
	back, err := cached.LoadModel(path)
	require.NoError(t, err)
	require.Equal(t, m, back)
	own := slices.DeleteFunc(slices.Clone(back.Weights), func(w infer.Weight) bool { return !strings.Contains(w.Path, "/running_") })
	require.Len(t, own, 8, "a mean and a variance inside each of two MLPs and after each")
	// A model that lost them is refused, and predicts nothing.
	back.Weights = slices.DeleteFunc(back.Weights, func(w infer.Weight) bool { return strings.HasSuffix(w.Path, "layer1/norm/running_mean") })
	_, err = back.Network().Represent(b, g.Edges, g.Features, infer.Options{})
	require.ErrorContains(t, err, "the model has no weights /model/layer1/norm/running_mean of shape [1 6]")
}
