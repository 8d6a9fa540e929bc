package train

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

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
