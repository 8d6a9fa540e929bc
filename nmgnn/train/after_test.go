package train

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
	"nodemask/datasets"
)

// arrivalsOf are the nodes of a view that are not in its train graph, joined to train nodes by their places there.
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
		n.IDs = append(n.IDs, nodeID(g, v))
		rows = append(rows, v)
	}
	n.Features = g.Features.Select(rows)
	return n
}

// The graph a(0)–b(1), a–c(2), b–c, c–d(3), d–e(4), with h = 1, 2, 4, 8, 16. Train nodes are a, b, c; d and e arrive.
func fiveNodeView(t *testing.T) (*datasets.Graph, *datasets.View) {
	edges := undirected(t, 5, [][2]int32{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}})
	g := &datasets.Graph{Name: "five", Edges: edges, Features: sparseRows([][]float32{{1}, {2}, {4}, {8}, {16}}),
		Labels: []int32{0, 1, 0, 1, 0}, Classes: []string{"even", "odd"}}
	train, _, err := edges.Induced([]int32{0, 1, 2})
	require.NoError(t, err)
	all := []int32{0, 1, 2, 3, 4}
	return g, &datasets.View{Setting: datasets.Inductive, Arrivals: datasets.AllEdges,
		Train:      datasets.Phase{Edges: train, Nodes: []int32{0, 1, 2}, Score: []int32{0, 1, 2}},
		Validation: datasets.Phase{Edges: edges, Nodes: all, Score: []int32{3}},
		Test:       datasets.Phase{Edges: edges, Nodes: all, Score: []int32{4}}}
}

func TestNewNodesAreComputedFromCachedNeighboursAndThemselves(t *testing.T) {
	forEachBestPlan(t, func(t *testing.T, b *Backend, plan Plan) {
		g, view := fiveNodeView(t)
		trainer, err := NewTrainer(b, Model{Layers: []Layer{GIN{Width: []int{1}}, GIN{Width: []int{2}}}}, g, view, TrainOptions{Plan: &plan})
		require.NoError(t, err)
		defer trainer.Close()
		require.NoError(t, trainer.reset(1))
		require.NoError(t, trainer.restore([]Weight{
			{"/model/layer0/linear0/weights", []int{1, 1}, []float32{1}}, {"/model/layer0/linear0/biases", []int{1, 1}, []float32{0}},
			{"/model/layer1/linear0/weights", []int{1, 2}, []float32{1, -1}}, {"/model/layer1/linear0/biases", []int{1, 2}, []float32{0, 0}}}))
		cache, err := trainer.Cache()
		require.NoError(t, err)
		// On the train graph a triangle: each is 1+2+4 = 7 after one layer.
		require.Equal(t, []float32{7, 7, 7}, cache.Hidden[0].Values)
		require.Equal(t, []int32{2, 2, 2}, cache.Degrees)
		require.Equal(t, []string{"0", "1", "2"}, cache.IDs)

		_, err = trainer.PredictCached()
		require.NoError(t, err)
		all, err := trainer.represent(trainer.cached)
		require.NoError(t, err)
		// d sees the cached c only, not e: ĥ¹ = 8+4 = 12, ĥ² = 12 + h̃¹_c = 12+7 = 19. e sees nothing: 16, 16.
		// c is as it was on the train graph: 7, then 7+7+7 = 21, whatever arrives beside it.
		require.Equal(t, []float32{7, 7, 7, 12, 16}, all[0].Values)
		require.Equal(t, [][]float32{{21, -21}, {21, -21}, {21, -21}, {19, -19}, {16, -16}},
			[][]float32{all[1].Row(0), all[1].Row(1), all[1].Row(2), all[1].Row(3), all[1].Row(4)})

		full, err := trainer.Representations()
		require.NoError(t, err)
		// Without the cache all of d's neighbours are computed anew: d 8+4+16 = 28, c 4+1+2+8 = 15, e 16+8 = 24;
		// then d 28+15+24 = 67.
		require.Equal(t, []float32{67, -67}, full[1].Row(3))
	})
}

func TestNodesAreCountedByHand(t *testing.T) {
	_, view := fiveNodeView(t)
	// All 5. Test node e reaches d in one hop and c in two: 3. Cached: d and e are new, and no train node is next to e: 2.
	require.Equal(t, NodeCounts{All: 5, Reached: 3, Cached: 2}, CountNodes(view, 2))
	view.Test.Score = []int32{3}
	// d reaches c and e, then a and b: all 5. Cached: d, e, and c next to d: 3.
	require.Equal(t, NodeCounts{All: 5, Reached: 5, Cached: 3}, CountNodes(view, 2))
	require.Equal(t, 1, CountNodes(view, 0).Reached)
}

// trained trains a small model of each kind for a few epochs.
func trained(t *testing.T, b *Backend, name string, g *datasets.Graph, view *datasets.View) (*Trainer, *SavedModel) {
	t.Helper()
	s, err := Preset(PresetFor(name))
	require.NoError(t, err)
	s.Model, s.Hidden, s.Heads, s.Layers, s.MaxEpochs = name, 6, 2, 3, 3
	trainer := trainerOf(t, b, g, view, s)
	trial, err := trainer.Train(context.Background(), 1, nil)
	require.NoError(t, err)
	return trainer, &SavedModel{Settings: s, Classes: g.Classes, Features: g.Features.Width, Weights: trial.Weights}
}

func TestPredictingInBatchesFromACacheIsWhatEquationFourSays(t *testing.T) {
	for _, id := range []string{"go", "xla:cpu"} {
		b, err := OpenBackend(id)
		if err != nil {
			t.Logf("skipped: %v", err)
			continue
		}
		g, err := datasets.SBM(datasets.SBMOptions{Nodes: 700, Classes: 3, MeanDegree: 6, Homophily: 0.8, Features: 12, Seed: 5})
		require.NoError(t, err)
		view := viewOf(t, g, 10, datasets.Inductive)
		for _, name := range Models() {
			t.Run(fmt.Sprintf("%s/%s", id, name), func(t *testing.T) {
				trainer, saved := trained(t, b, name, g, view)
				cache, err := trainer.Cache()
				require.NoError(t, err)
				_, err = trainer.PredictCached()
				require.NoError(t, err)
				all, err := trainer.represent(trainer.cached)
				require.NoError(t, err)
				want := all[len(all)-1].softmax()

				p, err := NewPredictor(b, saved, cache)
				require.NoError(t, err)
				defer p.Close()
				newcomers := arrivalsOf(g, view)
				require.Greater(t, len(newcomers.IDs), largestBatch, "more than one batch")
				i := 0
				require.NoError(t, p.Predict(context.Background(), newcomers, func(got Prediction) error {
					require.Equal(t, newcomers.IDs[i], got.ID)
					var v int
					_, err := fmt.Sscan(got.ID, &v)
					require.NoError(t, err)
					class := slices.Index(g.Classes, got.Class)
					require.InDelta(t, want.Row(v)[class], got.Probability, 1e-5)
					require.InDelta(t, slices.Max(want.Row(v)), got.Probability, 1e-5)
					require.Equal(t, len(newcomers.Known[i]), got.Neighbours)
					i++
					return nil
				}))
				require.Equal(t, len(newcomers.IDs), i)
			})
		}
	}
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
		got, err := cachedEdges(view)
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
