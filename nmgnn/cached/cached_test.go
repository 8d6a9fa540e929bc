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

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

// arrivalsOf returns the nodes outside a view's train graph with their edges, named by number.
func arrivalsOf(g *datasets.Graph, view *datasets.View) *datasets.Newcomers {
	place := map[int32]int32{}
	for i, v := range view.Train.Nodes {
		place[v] = int32(i)
	}
	n := &datasets.Newcomers{}
	var rows []int32
	own := map[int32]int32{}
	for v := range int32(g.NumNodes()) {
		if _, ok := place[v]; !ok {
			own[v] = int32(len(rows))
			rows = append(rows, v)
		}
	}
	for _, v := range rows {
		var known, linked []int32
		for _, u := range g.Edges.Neighbours(v) {
			if at, ok := place[u]; ok {
				known = append(known, at)
			} else {
				linked = append(linked, own[u])
			}
		}
		slices.Sort(known)
		n.Known, n.Linked = append(n.Known, known), append(n.Linked, linked)
		n.IDs = append(n.IDs, fmt.Sprint(v))
	}
	n.Features = g.Features.Select(rows)
	return n
}

// anyModel returns a model with weights and biases far from each other and from zero.
func anyModel(t testing.TB, b *backend.Backend, kind string, g *datasets.Graph, layers int) *cached.Model {
	t.Helper()
	p := parametersOf(t, kind)
	p.Layers = layers
	return modelOf(t, b, p, g)
}

// modelOf is anyModel with given parameters.
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

func predictorOf(t testing.TB, b *backend.Backend, m *cached.Model, c *cached.Cache) *cached.Predictor {
	t.Helper()
	p, err := cached.NewPredictor(b, m, c)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// campsPredictor returns a predictor of a two-layer GIN trained on half of two camps, and the new nodes.
func campsPredictor(t testing.TB, b *backend.Backend) (*cached.Predictor, *datasets.Newcomers) {
	t.Helper()
	g := gnntest.TwoCamps(t)
	view := gnntest.View(t, g, 50, datasets.Inductive)
	m := anyModel(t, b, "gin", g, 2)
	return predictorOf(t, b, m, cacheOf(t, b, m, g, view)), arrivalsOf(g, view)
}

func parametersOf(t testing.TB, kind string) hyper.Parameters {
	t.Helper()
	p, err := hyper.For(kind)
	require.NoError(t, err)
	return p
}

// nothing is the callback of predictions that must fail.
func nothing(t *testing.T) func(cached.Prediction) error {
	return func(cached.Prediction) error { t.Fatal("nothing can be predicted"); return nil }
}

// predictsWhatTheModelSays compares predictions with the model's class probabilities of all nodes, and returns the
// number of predicted classes.
func predictsWhatTheModelSays(t *testing.T, p *cached.Predictor, newcomers *datasets.Newcomers, classes []string,
	want infer.Representation) int {
	t.Helper()
	i, sides := 0, map[string]bool{}
	require.NoError(t, p.Predict(t.Context(), newcomers, func(got cached.Prediction) error {
		require.Equal(t, newcomers.IDs[i], got.ID)
		v, err := strconv.Atoi(got.ID)
		require.NoError(t, err)
		class := slices.Index(classes, got.Class)
		const rounding = 1e-4 // weights are so large that float32 resolves logits to some 1e-5
		require.InDelta(t, want.Row(v)[class], got.Probability, rounding)
		require.InDelta(t, slices.Max(want.Row(v)), got.Probability, rounding)
		require.Equal(t, len(newcomers.Known[i]), got.Neighbours)
		arrivals := 0
		if newcomers.Linked != nil {
			arrivals = len(newcomers.Linked[i])
		}
		require.Equal(t, arrivals, got.Arrivals)
		sides[got.Class] = true
		i++
		return nil
	}))
	require.Equal(t, len(newcomers.IDs), i)
	return len(sides)
}

func TestPredictingInBatchesIsEquationFour(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 700, Classes: 3, MeanDegree: 6, Homophily: 0.8,
		Features: 12, Seed: 5})
	require.NoError(t, err)
	view := gnntest.View(t, g, 10, datasets.Inductive)
	arriving := arrivalsOf(g, view)
	require.Greater(t, len(arriving.IDs), cached.LargestBatch, "more than one batch apart")
	require.Greater(t, len(cached.Batches(arriving.Linked)[0]), cached.LargestBatch, "one that is larger together")
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		models := map[string]*cached.Model{}
		for _, kind := range hyper.Models() {
			models[kind] = anyModel(t, b, kind, g, 3)
		}
		deep := parametersOf(t, "gin")
		deep.Layers, deep.MLPLayers, deep.Norm, deep.Readout, deep.Residual = 3, 2, hyper.NormBoth, hyper.ReadoutAll, true
		models["gin with all there is"] = modelOf(t, b, deep, g)
		last := parametersOf(t, "gat")
		last.Readout, last.SelfTerm = hyper.ReadoutLast, hyper.SelfKept
		models["gat with a readout"] = modelOf(t, b, last, g)
		for kind, m := range models {
			t.Run(kind, func(t *testing.T) {
				p := predictorOf(t, b, m, cacheOf(t, b, m, g, view))
				var first infer.Representation
				for _, together := range []bool{true, false} {
					// Running the model over the test graph as the cache sees it computes all new nodes at once.
					edges, err := view.CachedEdges(together)
					require.NoError(t, err)
					all, err := m.Network().Represent(b, edges, g.Features.Select(view.Test.Nodes), infer.Options{})
					require.NoError(t, err)
					want := all[len(all)-1].Softmax()
					if together {
						first = want
						predictsWhatTheModelSays(t, p, arriving, g.Classes, want)
						continue
					}
					require.NotEqual(t, first, want, "whom a node sees matters")
					require.Greater(t, predictsWhatTheModelSays(t, p, arriving.Apart(), g.Classes, want), 1, "not all the same")
				}
			})
		}
	})
}

func TestBatchesKeepLinkedNodesTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		linked := make([][]int32, rapid.IntRange(0, 1500).Draw(t, "nodes"))
		for range rapid.IntRange(0, len(linked)).Draw(t, "links") {
			v, w := rapid.IntRange(0, len(linked)-1).Draw(t, "v"), rapid.IntRange(0, len(linked)-1).Draw(t, "w")
			linked[v] = append(linked[v], int32(w))
		}
		batch := make([]int, len(linked))
		for i, members := range cached.Batches(linked) {
			require.NotEmpty(t, members)
			require.IsIncreasing(t, append([]int32{-1}, members...))
			for _, v := range members {
				require.Zero(t, batch[v], "in one batch")
				batch[v] = i + 1
			}
			if len(members) > cached.LargestBatch {
				// one group: all are reachable from its first node
				reached := map[int32]bool{members[0]: true}
				for grown := true; grown; {
					grown = false
					for v, row := range linked {
						for _, w := range row {
							if reached[int32(v)] != reached[w] {
								reached[int32(v)], reached[w], grown = true, true, true
							}
						}
					}
				}
				require.Len(t, reached, len(members))
			}
		}
		for v, row := range linked {
			require.NotZero(t, batch[v], "in some batch")
			for _, w := range row {
				require.Equal(t, batch[v], batch[w])
			}
		}
	})
}

func TestBatchesOfOneShapeShareAProgram(t *testing.T) {
	p, newcomers := campsPredictor(t, gnntest.Go(t))
	newcomers = newcomers.Apart()
	var together, alone []cached.Prediction
	into := func(all *[]cached.Prediction) func(cached.Prediction) error {
		return func(got cached.Prediction) error { *all = append(*all, got); return nil }
	}
	require.NoError(t, p.Predict(t.Context(), newcomers, into(&together)))
	require.Equal(t, 1, p.Programs())
	for i := range newcomers.IDs {
		require.NoError(t, p.Predict(t.Context(), one(newcomers, i), into(&alone)))
	}
	require.Less(t, p.Programs(), len(newcomers.IDs)/2)
	require.Len(t, alone, len(together))
	for i := range together {
		require.InDelta(t, together[i].Probability, alone[i].Probability, 1e-5,
			"what is predicted of a node that nobody is linked to does not depend on its batch")
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
	p := predictorOf(t, b, m, cache)
	wide := &datasets.Newcomers{IDs: []string{"x"}, Known: [][]int32{nil}, Features: datasets.Features{Rows: 1, Width: 5,
		Dense: make([]float32, 5)}}
	none := nothing(t)
	require.ErrorContains(t, p.Predict(t.Context(), wide, none), "5 features a node: the model was trained with 4")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Predict(ctx, arrivalsOf(g, view), none), context.Canceled)
}

func TestRunningStatisticsAreSavedWithTheirModel(t *testing.T) {
	b := gnntest.Go(t)
	g := gnntest.TwoCamps(t)
	p := parametersOf(t, "gin")
	p.MLPLayers, p.Norm, p.Readout = 2, hyper.NormBoth, hyper.ReadoutAll
	m := modelOf(t, b, p, g)
	path := filepath.Join(t.TempDir(), "model")
	require.NoError(t, m.Save(path))
	back, err := cached.LoadModel(path)
	require.NoError(t, err)
	require.Equal(t, m, back)
	own := slices.DeleteFunc(slices.Clone(back.Weights), func(w infer.Weight) bool {
		return !strings.Contains(w.Path, "/running_")
	})
	require.Len(t, own, 8, "a mean and a variance inside each of two MLPs and after each")
	back.Weights = slices.DeleteFunc(back.Weights, func(w infer.Weight) bool {
		return strings.HasSuffix(w.Path, "layer1/norm/running_mean")
	})
	_, err = back.Network().Represent(b, g.Edges, g.Features, infer.Options{})
	require.ErrorContains(t, err, "the model has no weights /model/layer1/norm/running_mean of shape [1 6]")
}
