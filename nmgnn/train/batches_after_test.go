package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/learn"
)

func TestTheCacheOfATrialInBatchesIsThatOfItsWeights(t *testing.T) {
	b := gnntest.Go(t)
	for _, model := range hyper.Models() {
		for _, clusters := range []int{1, 3} {
			x := batchExperiment(t, model)
			x.Setting, x.Keep, x.CacheInference = datasets.Inductive, true, true
			x.Parameters.Layers, x.Parameters.MaxEpochs = 3, 3
			results, err := InBatches(t.Context(), b, x, Batches{Clusters: clusters}, hyper.Seeds(5, 1), RunOptions{})
			require.NoError(t, err, model)
			r := results[0]
			split, err := x.Split(1)
			require.NoError(t, err)
			view, err := datasets.NewView(x.Graph, split, x.Setting, x.Arrivals)
			require.NoError(t, err)
			network := r.Saved(x).Network()
			features := x.Graph.Features
			if x.Parameters.NormalizeFeatures {
				features = features.RowNormalized()
			}
			all, err := network.Represent(b, view.Train.Edges, features.Select(view.Train.Nodes), infer.Options{})
			require.NoError(t, err)
			require.Len(t, r.Cache.Hidden, 2)
			for i, h := range r.Cache.Hidden {
				require.Equal(t, all[i].Width, h.Width)
				require.InDeltaSlice(t, all[i].Values, h.Values, 1e-4, "%s in %d clusters, layer %d", model, clusters, i+1)
			}
			require.Equal(t, features.Select(view.Train.Nodes), r.Cache.Features)
			for together, got := range map[bool]float64{true: r.Cached.MacroF1, false: r.Apart.MacroF1} {
				edges, err := learn.CachedEdges(view, together)
				require.NoError(t, err)
				all, err := network.Represent(b, edges, features.Select(view.Test.Nodes), infer.Options{})
				require.NoError(t, err)
				want, err := learn.Evaluate(x.Graph, view.Test, all[len(all)-1].Classes())
				require.NoError(t, err)
				require.InDelta(t, want.MacroF1, got, 1e-9, "%s in %d clusters, together %v", model, clusters, together)
			}
		}
	}
}
