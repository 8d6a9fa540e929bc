package fused

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// compilerFuses reports whether Go fuses multiply-add, as for ARM and GOAMD64=v3.
//
//go:noinline
func compilerFuses(x float32) bool { return x*x+-1 != float32(x*x)+-1 }

func TestARowIsTheSameToTheLastBitWithVectorInstructions(t *testing.T) {
	if compilerFuses(1 + 1.0/(1<<20)) {
		t.Skip("skipped: Go's own loops use FMA on this processor")
	}
	rapid.Check(t, func(t *rapid.T) {
		heads := rapid.SampledFrom([]int{1, 1, 2, 3, 4, 8}).Draw(t, "heads")
		width := heads * rapid.IntRange(1, 264/heads).Draw(t, "share")
		if rapid.Bool().Draw(t, "usual") {
			width = 64 / heads * heads
		}
		n := rapid.IntRange(0, 13).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a := timesArgs{columns: make([]int32, 3+n), h: normal(r, 20*width), width: width, heads: heads}
		for i := range a.columns {
			a.columns[i] = int32(r.IntN(20))
		}
		if heads > 1 || rapid.Bool().Draw(t, "weights") {
			a.weights = normal(r, heads*len(a.columns))
			if rapid.Bool().Draw(t, "positions") {
				for _, i := range r.Perm(len(a.columns)) {
					a.positions = append(a.positions, int32(i))
				}
			}
		}
		want, got := make([]float32, width), slices.Repeat([]float32{7}, width)
		a.scalars(3, int32(3+n), want, 0)
		a.row(3, int32(3+n), got)
		require.Equal(t, want, got)
	})
}
