package nmgnn_test

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

func TestSGATDropsWeightsOfEachHeadsShareInTrainingAlone(t *testing.T) {
	gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		store := gnntest.Store(t)
		var pairs [][2]int32
		for v := range int32(40) {
			pairs = append(pairs, [2]int32{v, (v + 1) % 40}, [2]int32{v, (v + 9) % 40})
		}
		near := nearOf(t, store, plan, 40, pairs)
		outputs, err := model.CallOnceN(b.Backend, store, func(scope *model.Scope, key, h *Node) []*Node {
			layer := nmgnn.SGAT{Width: 2, Dropout: 0.5, Heads: 2}
			return []*Node{
				layer.Forward(scope.At("layer"), near(nmgnn.NewRandom(key)), nmgnn.Dense(h), nil),
				layer.Forward(scope.At("layer"), near(nil), nmgnn.Dense(h), nil),
				layer.Forward(scope.At("layer"), near(nil), nmgnn.Dense(ZerosLike(h)), nil), // the biases
			}
		}, []uint32{3, 9}, whole(40, 2, 0)) // all entries of a column alike
		require.NoError(t, err)
		trained, tested, biases := outputs[0].Value().([][]float32), outputs[1].Value().([][]float32),
			outputs[2].Value().([][]float32)
		same := 0
		for v := range trained {
			var fifths [2]float64 // each of five weights of ⅕ is dropped or doubled
			for c := range fifths {
				require.InDelta(t, tested[0][c], tested[v][c], 1e-5, "the mean of what is alike")
				fifths[c] = 2.5 * float64((trained[v][c]-biases[v][c])/(tested[v][c]-biases[v][c]))
				require.InDelta(t, math.Round(fifths[c]), fifths[c], 1e-4)
			}
			if math.Round(fifths[0]) == math.Round(fifths[1]) {
				same++
			}
		}
		require.Less(t, same, 30, "the shares drop weights of their own")
	})
}

func whole(rows, width, seed int) [][]float32 {
	x := make([][]float32, rows)
	for v := range x {
		x[v] = make([]float32, width)
		for c := range x[v] {
			x[v][c] = float32((v*seed+c*(seed+2))%17 - 8)
		}
	}
	return x
}
