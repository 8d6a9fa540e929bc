package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/kernels"
)

func TestNewNodesAreComputedFromCachedNeighboursAndThemselves(t *testing.T) {
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		g, view := gnntest.FiveNodes(t)
		trainer, err := New(b, nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{1}}, nmgnn.GIN{Width: []int{2}}}}, g, view, Options{Plan: &plan})
		require.NoError(t, err)
		defer trainer.Close()
		require.NoError(t, trainer.reset(1))
		require.NoError(t, infer.SetWeights(trainer.store, []infer.Weight{
			{Path: "/model/layer0/linear0/weights", Dimensions: []int{1, 1}, Values: []float32{1}},
			{Path: "/model/layer0/linear0/biases", Dimensions: []int{1, 1}, Values: []float32{0}},
			{Path: "/model/layer1/linear0/weights", Dimensions: []int{1, 2}, Values: []float32{1, -1}},
			{Path: "/model/layer1/linear0/biases", Dimensions: []int{1, 2}, Values: []float32{0, 0}}}))
		cache, err := trainer.Cache()
		require.NoError(t, err)
		// On the train graph a triangle: each is 1+2+4 = 7 after one layer.
		require.Equal(t, []float32{7, 7, 7}, cache.Hidden[0].Values)
		require.Equal(t, []int32{2, 2, 2}, cache.Degrees)
		require.Equal(t, []string{"0", "1", "2"}, cache.IDs)

		_, err = trainer.PredictCached()
		require.NoError(t, err)
		all, err := trainer.represent(trainer.arrivals)
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

func TestUntrainedModelsAreWhatTrainingBeginsWith(t *testing.T) {
	b := gnntest.Go(t)
	g, err := datasets.SBM(datasets.SBMOptions{Nodes: 60, Classes: 3, Seed: 1})
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
	trainer, err := New(b, m, g, view, OptionsOf(p, view))
	require.NoError(t, err)
	defer trainer.Close()
	require.NoError(t, trainer.reset(7))
	want, err := infer.WeightsOf(trainer.store)
	require.NoError(t, err)
	got, err := infer.Untrained(b, m, g.Features.Width, 7)
	require.NoError(t, err)
	require.ElementsMatch(t, want, got.Weights)
	// and they compute what the trainer computes with them
	got.NormalizeFeatures = p.NormalizeFeatures
	theirs, err := trainer.Representations()
	require.NoError(t, err)
	ours, err := got.Represent(b, g.Edges, g.Features, infer.Options{})
	require.NoError(t, err)
	require.Equal(t, theirs, ours)
}
