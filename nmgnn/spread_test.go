package nmgnn_test

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

func TestMinAndStdAreOfEachColumnAmongTheNeighbours(t *testing.T) {
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		mask := [][]float32{{1}, {1}, {0}, {1}, {1}} // c is masked
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, h, mask *Node) []*Node {
			n := near(nil)
			return []*Node{n.Min(h, nil), n.Min(h, mask), n.Std(h, nil)}
		}, fiveRows, mask)
		require.NoError(t, err)
		require.Equal(t, [][]float32{{2, -3}, {1, -3}, {1, -5}, {4, -3}, {0, 0}}, outputs[0].Value())
		require.Equal(t, [][]float32{{2, -1}, {1, 9}, {1, -5}, {0, 0}, {0, 0}}, outputs[1].Value())
		// Variances of the first column: 20/2 − 3², 17/2 − 2.5², 69/3 − (11/3)², then 0 for one number and for an empty
		// set.
		var want []float32
		for _, variance := range []float64{1, 2.25, 86. / 9, 0, 0} {
			want = append(want, float32(math.Sqrt(variance+1e-5)))
		}
		var got []float32
		for row := range slices.Values(outputs[2].Value().([][]float32)) {
			got = append(got, row[0])
		}
		gnntest.InDelta(t, want, got, 1e-5, "standard deviations")
	})
}

func TestWeightsHaveAColumnForEachFunction(t *testing.T) {
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		near := nearOf(t, store, plan, 5, fivePairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, h *Node) []*Node {
			n := near(nil)
			weights := n.Weights(h.Graph(), "ends", func(_, u int32) float32 { return float32(u) },
				func(v, _ int32) float32 { return float32(v) })
			return []*Node{n.WeightedSum(weights, h, nil)}
		}, fiveRows)
		require.NoError(t, err)
		// b's neighbours are a and c: 0·1 + 2·4, and 1·(9 − 3).
		require.Equal(t, [][]float32{{10, 0}, {8, 6}, {26, 6}, {8, -9}, {0, 0}}, outputs[0].Value())
	})
}
