package learn

import (
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/variables"
)

func TestMasksThatADeviceDrawsAreThoseOfTheHost(t *testing.T) {
	const nodes, trials = 700, 3
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		store := model.NewStore()
		masker, err := NewMasker(store, nodes, nil)
		require.NoError(t, err)
		exec, err := model.NewExec(b.Backend, store, func(_ *model.Scope, draw, kept *Node) *Node {
			return masker.Draw(draw, kept)
		})
		require.NoError(t, err)
		defer exec.Finalize()
		for _, only := range [][]int32{nil, {0, 3, 4, 699}, {}} {
			require.NoError(t, masker.Replace(only))
			for _, mask := range []nmgnn.Mask{{KeepRate: 0.5}, {KeepRate: 0.3, Rescale: true}, {KeepRate: 1e-12},
				{KeepRate: hyper.KeepRate(1 - 1e-16)}} {
				mask.Only = only
				var host, device [trials]*rand.PCG
				for i := range host {
					host[i], device[i] = variables.HostSource(uint64(i), "mask"), variables.HostSource(uint64(i), "mask")
				}
				for range 3 {
					var want []float32
					var draws []uint64
					for i := range host {
						delta := make([]float32, nodes)
						mask.Draw(rand.New(host[i]), delta)
						want = append(want, delta...)
						draw, err := masker.Next(device[i], mask)
						require.NoError(t, err)
						require.Equal(t, host[i], device[i], "the generator goes on where the host's does")
						draws = append(draws, draw...)
					}
					got, err := exec.Call(tensors.FromFlatDataAndDimensions(draws, trials, 3), tensors.FromScalar(mask.Kept()))
					require.NoError(t, err)
					require.Equal(t, want, tensors.MustCopyFlatData[float32](got[0]))
				}
			}
		}
	})
}
