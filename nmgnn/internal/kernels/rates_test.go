package kernels_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

func TestARateThatIsReplacedDropsAsOneCompiledIn(t *testing.T) {
	draw := func(key *Node, kernel kernels.Kernel, rates *kernels.Rates, first, second float64) []*Node {
		rates.Use(key.Graph())
		r := kernels.NewRandom(key, kernel)
		x := OnePlus(IotaFull(key.Graph(), shapeOf(30, 4)))
		positions := Iota(key.Graph(), shapes.Make(dtypes.Uint32, 30, 1), 0)
		return []*Node{r.Dropout(x, first), r.Next().Keep(positions, second), r.Next().Kept(positions, first),
			r.Dropout(x, 0.25)}
	}
	gnntest.ForEachKernel(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		key := []uint32{5, 8}
		store := model.NewStore()
		rates, err := kernels.NewRates(store, "/data/rates", []float64{0.3, 0, 0.6})
		require.NoError(t, err)
		exec, err := model.NewExec(b.Backend, store, func(_ *model.Scope, key *Node) []*Node {
			return draw(key, plan.Kernel, rates, 0.3, 0.6)
		})
		require.NoError(t, err)
		defer exec.Finalize()
		for _, now := range [][2]float64{{0.3, 0.6}, {0.8, 0.1}, {0.5, 0.5}} {
			require.NoError(t, rates.Replace([]float64{now[0], 0, now[1]}))
			got, err := exec.Call(key)
			require.NoError(t, err)
			want, err := model.CallOnceN(b.Backend, model.NewStore(), func(_ *model.Scope, key *Node) []*Node {
				return draw(key, plan.Kernel, nil, now[0], now[1])
			}, key)
			require.NoError(t, err)
			for i := range want {
				require.Equal(t, want[i].Value(), got[i].Value(), "draw %d at %v", i, now)
			}
		}
	})
}

func TestRatesOfAnotherProgramDoNotFit(t *testing.T) {
	rates, err := kernels.NewRates(model.NewStore(), "/data/rates", []float64{0.5, 0, 0.5})
	require.NoError(t, err)
	for name, other := range map[string][]float64{"fewer": {0.5, 0}, "none is drawn": {0, 0, 0.5},
		"one is drawn": {0.5, 0.1, 0.5}, "two that were one": {0.5, 0, 0.4}} {
		require.ErrorIs(t, rates.Replace(other), kernels.ErrNoFit, name)
	}
	require.NoError(t, rates.Replace([]float64{0.1, 0, 0.1}))
	none, err := kernels.NewRates(model.NewStore(), "/data/rates", nil)
	require.NoError(t, err)
	require.NoError(t, none.Replace(nil))
}
