package hyper_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/hyper"
)

func draw(p hyper.KeepRate, nodes int, only []int32) hyper.Mask {
	return p.Draw(rand.New(rand.NewPCG(7, 0)), nodes, only)
}

func TestTheZeroKeepRateAndOneMaskNoNode(t *testing.T) {
	require.Empty(t, draw(0, 100, nil).Masked())
	require.Empty(t, draw(1, 100, nil).Masked())
}

func TestAMaskKeepsAboutTheKeepRate(t *testing.T) {
	const n = 40_000
	for _, rate := range []hyper.KeepRate{0.1, 0.5, 0.9} {
		require.InDelta(t, 1-float64(rate), float64(len(draw(rate, n, nil).Masked()))/n, 0.0125, "five standard errors at one half")
	}
}

func TestOnlyTheListedNodesAreMasked(t *testing.T) {
	require.Empty(t, draw(0.1, 50, []int32{}).Masked())
	only := []int32{3, 5, 8, 13, 21, 34}
	require.NotEmpty(t, draw(0.1, 50, only).Masked())
	require.Subset(t, only, draw(0.1, 50, only).Masked())
}

func TestHigherKeepRatesMaskFewerOfTheSameNodes(t *testing.T) {
	low, high := draw(0.3, 1000, nil), draw(0.6, 1000, nil)
	require.Subset(t, low.Masked(), high.Masked())
	require.Less(t, len(high.Masked()), len(low.Masked()))
}

func TestRescaleDividesWhatIsKeptByTheKeepRate(t *testing.T) {
	random := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	p := hyper.Parameters{KeepRate: 0.5}
	require.Equal(t, []float32{0, 1, 0, 1, 0, 1, 0, 1}, p.DrawDelta(random(), 8, nil))
	p.Rescale = true
	require.Equal(t, []float32{0, 2, 0, 2, 0, 2, 0, 2}, p.DrawDelta(random(), 8, []int32{0}))
	p.MaskOver = hyper.MaskTrain
	require.Equal(t, []float32{1, 0, 1, 2, 1, 0, 1, 2}, p.DrawDelta(random(), 8, []int32{1, 3, 5, 7}))
	p.KeepRate = 0
	require.Equal(t, []float32{1, 1, 1, 1, 1, 1, 1, 1}, p.DrawDelta(random(), 8, nil))
}

// An epoch's mask of eight nodes, in two forms.
func ExampleKeepRate_Draw() {
	m := hyper.KeepRate(0.5).Draw(rand.New(rand.NewPCG(1, 2)), 8, nil)
	fmt.Println(m.Delta(), m.Masked())
	// Output: [0 1 0 1 0 1 0 1] [0 2 4 6]
}
