package nmgnn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/nmgnn"
)

func draw(m nmgnn.Mask, nodes int, seed uint64) []float32 {
	delta := make([]float32, nodes)
	m.Draw(rand.New(rand.NewPCG(seed, 0)), delta)
	return delta
}

func TestTheZeroMaskAndKeepRateOneKeepEveryNode(t *testing.T) {
	for _, m := range []nmgnn.Mask{{}, {KeepRate: 1}, {KeepRate: 1, Rescale: true}} {
		require.False(t, m.Active())
		for _, kept := range draw(m, 100, 1) {
			require.Equal(t, float32(1), kept)
		}
	}
}

func TestAMaskKeepsAboutTheKeepRateAndScalesNothing(t *testing.T) {
	const n = 40_000
	for _, rate := range []float64{0.1, 0.5, 0.9} {
		kept := 0
		for _, d := range draw(nmgnn.Mask{KeepRate: rate}, n, 7) {
			require.Contains(t, []float32{0, 1}, d)
			kept += int(d)
		}
		require.InDelta(t, rate, float64(kept)/n, 0.0125, "five standard errors at one half")
	}
}

func TestRescaleDividesWhatIsKeptByTheKeepRate(t *testing.T) {
	for _, d := range draw(nmgnn.Mask{KeepRate: 0.25, Rescale: true}, 100, 1) {
		require.Contains(t, []float32{0, 4}, d)
	}
}

func TestOnlyTheListedNodesAreMasked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		only := rapid.SliceOfDistinct(rapid.Int32Range(0, 49), rapid.ID[int32]).Draw(t, "only")
		rescale := rapid.Bool().Draw(t, "rescale")
		listed := map[int32]bool{}
		for _, v := range only {
			listed[v] = true
		}
		if only == nil {
			only = []int32{}
		}
		for v, d := range draw(nmgnn.Mask{KeepRate: 0.5, Only: only, Rescale: rescale}, 50, rapid.Uint64().Draw(t, "seed")) {
			if !listed[int32(v)] {
				require.Equal(t, float32(1), d, "node %d", v)
			}
		}
	})
}

func TestHigherKeepRatesKeepMoreOfTheSameNodesFromOneSeed(t *testing.T) {
	low, high := draw(nmgnn.Mask{KeepRate: 0.3}, 1000, 5), draw(nmgnn.Mask{KeepRate: 0.6}, 1000, 5)
	for v := range low {
		require.LessOrEqual(t, low[v], high[v])
	}
}

func ExampleMask_Draw() {
	delta := make([]float32, 8)
	nmgnn.Mask{KeepRate: 0.5}.Draw(rand.New(rand.NewPCG(1, 2)), delta)
	fmt.Println(delta)
	// Output: [0 1 0 1 0 1 0 1]
}
