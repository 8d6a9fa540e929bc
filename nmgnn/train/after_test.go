package train

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
)

// sixNodes is a triangle of train nodes a, b, c with features 1, 2, 4, and new nodes d, e, f with 8, 16, 32: d is
// joined to c and e, f to e and a.
func sixNodes(t *testing.T) (*datasets.Graph, *datasets.View) {
	t.Helper()
	edges := gnntest.Undirected(t, 6, [][2]int32{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}})
	g := &datasets.Graph{Name: "six", Edges: edges, Features: gnntest.SparseRows([][]float32{{1}, {2}, {4}, {8}, {16},
		{32}}),
		Labels: []int32{0, 1, 0, 1, 0, 1}, Classes: []string{"even", "odd"}}
	view, err := datasets.NewView(g, &datasets.Split{Train: []int32{0, 1, 2}, Validation: []int32{3}, Test: []int32{4, 5}},
		datasets.Inductive, datasets.AllEdges)
	require.NoError(t, err)
	return g, view
}

func TestNewNodesUseTheCacheAndOneAnother(t *testing.T) {
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		g, view := sixNodes(t)
		m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{1}}, nmgnn.GIN{Width: []int{2}}}}
		o := options{Plan: &plan, Parameters: small()}
		o.NormalizeFeatures = false
		trainer, err := newTrainer(b, m, g, view, o)
		require.NoError(t, err)
		defer trainer.Close()
		require.NoError(t, trainer.start.Reset(trainer.store, trainer.options.LearningRate, 1))
		trainer.trained = true // pretend
		require.NoError(t, gomlx.SetWeights(trainer.store, []infer.Weight{
			{Path: "/model/layer0/linear0/weights", Dimensions: []int{1, 1}, Values: []float32{1}},
			{Path: "/model/layer0/linear0/biases", Dimensions: []int{1, 1}, Values: []float32{0}},
			{Path: "/model/layer1/linear0/weights", Dimensions: []int{1, 2}, Values: []float32{1, -1}},
			{Path: "/model/layer1/linear0/biases", Dimensions: []int{1, 2}, Values: []float32{0, 0}}}))
		cache, err := trainer.Cache()
		require.NoError(t, err)
		// A triangle: each is 1+2+4 = 7 after one layer.
		require.Equal(t, []float32{7, 7, 7}, cache.Hidden[0].Values)
		require.Equal(t, []int32{2, 2, 2}, cache.Degrees)
		require.Equal(t, []string{"0", "1", "2"}, cache.IDs)

		logits := func(last infer.Representation) (first []float32) {
			for v := range last.Rows {
				require.Equal(t, -last.Row(v)[0], last.Row(v)[1])
				first = append(first, last.Row(v)[0])
			}
			return first
		}
		// a, b and c are as on the train graph: 7, then 7+7+7 = 21.
		together, err := trainer.representCached(true)
		require.NoError(t, err)
		// ĥ¹: d 8+4+16 = 28, e 16+8+32 = 56, f 32+16+1 = 49.
		require.Equal(t, []float32{7, 7, 7, 28, 56, 49}, together[0].Values)
		// ĥ²: d 28 + h̃¹_c + ĥ¹_e = 28+7+56 = 91, e 56+28+49 = 133, f 49+56+7 = 112.
		require.Equal(t, []float32{21, 21, 21, 91, 133, 112}, logits(together[1]))

		apart, err := trainer.representCached(false)
		require.NoError(t, err)
		// d sees the cached c only: ĥ¹ = 8+4 = 12, ĥ² = 12+7 = 19. e sees nothing: 16, 16. f sees a: 32+1 = 33, 33+7 =
		// 40.
		require.Equal(t, []float32{7, 7, 7, 12, 16, 33}, apart[0].Values)
		require.Equal(t, []float32{21, 21, 21, 19, 16, 40}, logits(apart[1]))

		full, err := trainer.Representations()
		require.NoError(t, err)
		// Without the cache all are computed anew: a 1+2+4+32 = 39, c 4+1+2+8 = 15; so d 28+15+56 = 99, f 49+56+39 =
		// 144.
		require.Equal(t, []float32{99, 133, 144}, logits(full[1])[3:])
		for _, company := range []bool{true, false} {
			classes, err := fullGraph{trainer}.PredictCached(t.Context(), nil, company)
			require.NoError(t, err)
			require.Equal(t, []int32{0, 0, 0, 0, 0, 0}, classes)
		}
	})
}

func TestUntrainedModelsAreWhatTrainingBeginsWith(t *testing.T) {
	b := gnntest.Go(t)
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 60, Classes: 3, Seed: 1})
	require.NoError(t, err)
	view := gnntest.View(t, g, 50, datasets.Transductive)
	for _, kind := range []string{"gat", "gin"} {
		p, err := hyper.For(kind)
		require.NoError(t, err)
		if kind == "gin" {
			p.MLPLayers, p.Norm, p.Readout, p.Residual = 2, hyper.NormBoth, hyper.ReadoutAll, true
		}
		untrainedIsFirst(t, b, g, view, p)
	}
}

func untrainedIsFirst(t *testing.T, b *backend.Backend, g *datasets.Graph, view *datasets.View, p hyper.Parameters) {
	t.Helper()
	m := nmgnn.Build(p, 3)
	trainer, err := newTrainer(b, m, g, view, optionsOf(p))
	require.NoError(t, err)
	defer trainer.Close()
	require.NoError(t, trainer.start.Reset(trainer.store, trainer.options.LearningRate, 7))
	trainer.trained = true // pretend
	want, err := gomlx.WeightsOf[infer.Weight](trainer.store)
	require.NoError(t, err)
	got, err := infer.Untrained(b, m, g.Features.Width, 7)
	require.NoError(t, err)
	require.ElementsMatch(t, want, got.Weights)
	got.NormalizeFeatures = p.NormalizeFeatures
	theirs, err := trainer.Representations()
	require.NoError(t, err)
	ours, err := got.Represent(b, g.Edges, g.Features, infer.Options{})
	require.NoError(t, err)
	require.Equal(t, theirs, ours)
}

func TestTwoClassesHaveAnAUC(t *testing.T) {
	_, settings := blocks(t, 5)
	for classes := 2; classes <= 3; classes++ {
		g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 150, Classes: classes})
		require.NoError(t, err)
		r := NewRunner(gnntest.Go(t))
		result, err := r.Trial(t.Context(), Experiment{Graph: g, Parameters: settings, Setting: datasets.Inductive,
			TrainPercent: 20, SplitSeed: 1}, 1, nil)
		require.NoError(t, err)
		if classes == 3 {
			require.Nil(t, result.AUC)
		} else {
			all, err := r.trainer.Representations()
			require.NoError(t, err)
			ordered, pairs := 0.0, 0.0
			scored := r.trainer.view.Test.Score
			for i, v := range scored {
				for j, u := range scored {
					if r.trainer.test.labels[i] == 1 && r.trainer.test.labels[j] == 0 {
						pairs++
						a, b := last(all).Row(int(v)), last(all).Row(int(u))
						if a[1]-a[0] > b[1]-b[0] {
							ordered++
						}
					}
				}
			}
			require.InDelta(t, ordered/pairs, *result.AUC, 1e-12)
			require.Greater(t, *result.AUC, 0.6)
		}
		r.Close()
	}
}

func TestAUCCountsPairs(t *testing.T) {
	auc, err := rocArea([]float32{3, 1, 2, 2, 0}, []bool{true, false, true, false, true})
	require.NoError(t, err)
	require.InDelta(t, 3.5/6, auc, 1e-15) // 3 beats 1 and 2; 2 beats 1 and equals 2; 0 beats none
	for _, of := range [][]bool{{true}, {true, true}, {false, false}} {
		_, err = rocArea([]float32{1, 2}, of)
		require.Error(t, err)
	}
	_, err = rocArea([]float32{1, float32(math.NaN())}, []bool{true, false})
	require.ErrorContains(t, err, "node 1 is NaN")
}
