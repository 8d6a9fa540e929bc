package gomlx_test

import (
	"testing"

	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"

	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"
)

type weight = struct {
	Path       string
	Dimensions []int
	Values     []float32
}

func TestWeightsOfAsManyNumbersInAnotherShapeAreRefused(t *testing.T) {
	store := model.NewStore()
	into := kernels.NewConstants(store, "/model")
	into.Floats("w", make([]float32, 6), 2, 3).SetTrainable(true)
	require.NoError(t, into.Err())
	own := []weight{{Path: "/model/w", Dimensions: []int{2, 3}, Values: []float32{1, 2, 3, 4, 5, 6}}}
	require.NoError(t, gomlx.SetWeights(store, own))
	kept, err := gomlx.WeightsOf[weight](store)
	require.NoError(t, err)
	require.Equal(t, own, kept)
	for _, wrong := range []weight{
		{Path: "/model/w", Dimensions: []int{3, 2}, Values: []float32{6, 5, 4, 3, 2, 1}},
		{Path: "/model/w", Dimensions: []int{6}, Values: []float32{6, 5, 4, 3, 2, 1}},
		{Path: "/model/v", Dimensions: []int{2, 3}, Values: []float32{6, 5, 4, 3, 2, 1}},
	} {
		require.EqualError(t, gomlx.SetWeights(store, []weight{wrong}),
			"the model has no weights /model/w of shape [2 3]: they belong to other settings or features")
	}
	kept, err = gomlx.WeightsOf[weight](store)
	require.NoError(t, err)
	require.Equal(t, own, kept, "weights that are refused change nothing")
}

func TestTheHostsGeneratorsAreThese(t *testing.T) {
	// Recorded weights, masks and splits depend on these numbers.
	require.Equal(t, []uint64{6743862346269210244, 11959427466504650078}, []uint64{gomlx.HostRandom(1, "mask").Uint64(),
		gomlx.HostRandom(1, "dropout").Uint64()})
	require.Equal(t, gomlx.HostRandom(1, "mask").Uint64(), gomlx.HostRandom(1, "mask").Uint64())
	require.NotEqual(t, gomlx.HostRandom(1, "mask").Uint64(), gomlx.HostRandom(2, "mask").Uint64())
}
