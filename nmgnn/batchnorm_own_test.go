package nmgnn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
)

func TestBatchNormSeesOwnRowsAlone(t *testing.T) {
	all := [][]float32{{1, 2}, {-3, 0.5}, {2, -1}, {7, 7}, {0, 9}}
	weigh := [][]float32{{1, -1}, {0.5, 2}, {-2, 1}, {0, 0}, {0, 0}} // the last two are unused
	b, err := backend.Open("go")
	require.NoError(t, err)
	run := func(rows int, own []float32) (y, dh []float32) {
		store := model.NewStore()
		require.NoError(t, store.SetRNGStateFromSeed(1))
		a := &adjacency{store: store, path: "/data/edges"}
		if own != nil {
			require.NoError(t, a.set(&a.own, "own", own))
		}
		exec, err := model.NewExec(b.Backend, store, func(scope *model.Scope, h, w *Node) []*Node {
			out := batchNorm(scope.WithInitializer(initializer.One).In("norm"), (&Loaded{near: a}).Neighbours(true, nil), h)
			gradients := Gradient(ReduceAllSum(Mul(out, Mul(w, out))), h)
			return []*Node{out, gradients[0]}
		})
		require.NoError(t, err)
		outputs, err := exec.Call(all[:rows], weigh[:rows])
		require.NoError(t, err)
		return tensors.MustCopyFlatData[float32](outputs[0]), tensors.MustCopyFlatData[float32](outputs[1])
	}
	// γ and β are 1.
	y, dh := run(3, nil)
	of, dof := run(5, []float32{1, 1, 1, 0, 0})
	require.InDeltaSlice(t, y, of[:6], 1e-6, "normalised")
	require.InDeltaSlice(t, dh, dof[:6], 1e-6, "gradient")
	require.Equal(t, []float32{0, 0, 0, 0}, dof[6:])
}
