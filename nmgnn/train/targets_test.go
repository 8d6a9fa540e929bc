package train

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

func TestTheLossIsTheMeanCrossEntropyOfTheScoredNodes(t *testing.T) {
	store := model.NewStore()
	// The second node is not scored. Logits (1, 1) and (0, ln 3) of classes 0 and 1: ln 2 and ln 4/3, mean ½·ln 8/3.
	logits := [][]float32{{1, 1}, {50, 0}, {0, float32(math.Log(3))}}
	scored, err := newTargets(store, "some", []int32{0, 2}, []int32{0, 1}, 3, 2)
	require.NoError(t, err)
	padded, err := newPaddedTargets(store, "padded", 3, 2)
	require.NoError(t, err)
	require.NoError(t, padded.Replace([]int32{0, 2}, []int32{0, 1}))
	for _, targets := range []*targets{scored, padded} {
		loss, err := model.CallOnce(gnntest.Go(t).Backend, store, func(_ *model.Scope,
			logits *Node) *Node {
			return targets.Loss(logits)
		}, logits)
		require.NoError(t, err)
		require.InDelta(t, math.Log(8.0/3)/2, loss.Value(), 1e-6)
	}
}

func TestTargetsTakeUpToTheirSize(t *testing.T) {
	store := model.NewStore()
	exact, err := newTargets(store, "exact", []int32{0, 2}, []int32{0, 1}, 3, 2)
	require.NoError(t, err)
	padded, err := newPaddedTargets(store, "padded", 2, 2)
	require.NoError(t, err)
	require.Error(t, exact.Replace([]int32{1}, []int32{1}))
	require.NoError(t, padded.Replace([]int32{1}, []int32{1}))
	require.Error(t, exact.Replace([]int32{0, 1, 2}, []int32{1, 1, 1}))
	require.Error(t, padded.Replace([]int32{0, 1, 2}, []int32{1, 1, 1}))
}

// Estimates were fitted to measurements: measure again when changing them.
func TestEstimatesAreThoseThatWereFitted(t *testing.T) {
	cora := graphSize{Nodes: 2708, Edges: 10556, Features: 1433, Classes: 7, Sparse: true, Values: 49216}
	dense := cora
	dense.Sparse, dense.Values = false, 0
	for model, want := range map[string][]float64{
		"gin":   {7373792, 52365648, 1538144},
		"gat":   {9738336, 54730192, 1538144},
		"sgat":  {9738336, 54730192, 1538144},
		"gcn":   {7373792, 52365648, 1538144},
		"sage":  {9216992, 54208848, 1538144},
		"gatv2": {11581536, 56573392, 1538144},
	} {
		p, err := hyper.For(model)
		require.NoError(t, err)
		require.InDeltaSlice(t, want, []float64{cora.trial(p), dense.trial(p), cora.pass(p)}, 1, model)
	}
}
