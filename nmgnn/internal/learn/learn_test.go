package learn

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
	scored, err := NewTargets(store, "some", []int32{0, 2}, []int32{0, 1}, 3, 2)
	require.NoError(t, err)
	padded, err := NewPaddedTargets(store, "padded", 3, 2)
	require.NoError(t, err)
	require.NoError(t, padded.Replace([]int32{0, 2}, []int32{0, 1}))
	for _, targets := range []*Targets{scored, padded} {
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
	exact, err := NewTargets(store, "exact", []int32{0, 2}, []int32{0, 1}, 3, 2)
	require.NoError(t, err)
	padded, err := NewPaddedTargets(store, "padded", 2, 2)
	require.NoError(t, err)
	require.Error(t, exact.Replace([]int32{1}, []int32{1}))
	require.NoError(t, padded.Replace([]int32{1}, []int32{1}))
	require.Error(t, exact.Replace([]int32{0, 1, 2}, []int32{1, 1, 1}))
	require.Error(t, padded.Replace([]int32{0, 1, 2}, []int32{1, 1, 1}))
}

// Estimates were fitted to measurements: measure again when changing them.
func TestEstimatesAreThoseThatWereFitted(t *testing.T) {
	cora := Size{Nodes: 2708, Edges: 10556, Features: 1433, Classes: 7, Sparse: true, Values: 49216}
	dense := cora
	dense.Sparse, dense.Values = false, 0
	for model, want := range map[string][]float64{
		"gin":   {7525440, 52365648, 1507814.4, 7985712, 22539328},
		"gat":   {9889984, 54730192, 1507814.4, 10899168, 25452784},
		"sgat":  {9889984, 54730192, 1507814.4, 8196832, 22750448},
		"gcn":   {7525440, 52365648, 1507814.4, 8196832, 22750448},
		"sage":  {9368640, 54208848, 1507814.4, 7985712, 22539328},
		"gatv2": {11733184, 56573392, 1507814.4, 10899168, 25452784},
	} {
		p, err := hyper.For(model)
		require.NoError(t, err)
		require.InDeltaSlice(t, want, []float64{
			cora.Whole(p, false), dense.Whole(p, true), cora.Pass(p),
			float64(cora.Batch(p, 0)), float64(dense.Batch(p, 1e6)),
		}, 1, model)
	}
}
