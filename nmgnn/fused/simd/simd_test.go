package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func skipWithout(t *testing.T) {
	if !Have() {
		t.Skip("skipped: this processor has no AVX2 and FMA")
	}
}

func TestAddRowsAddsUpWeightedRowsOf64Numbers(t *testing.T) {
	skipWithout(t)
	r := rand.New(rand.NewPCG(1, 2))
	whole := func(n int) []float32 { // small whole numbers: sums are exact in any order
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.IntN(9) - 4)
		}
		return x
	}
	for _, stride := range []int{64, 80} {
		for n := range 9 {
			h, columns, positions := whole(20*stride), make([]int32, n), make([]int32, n)
			for i := range n {
				columns[i], positions[i] = int32(r.IntN(20)), int32(r.IntN(n))
			}
			for _, heads := range []int{1, 8} {
				weights := whole(heads * n)
				for _, c := range []struct {
					weights   []float32
					positions []int32
				}{{nil, nil}, {weights, nil}, {weights, positions}} {
					if heads == 8 && c.weights == nil {
						continue
					}
					want := make([]float32, 64)
					for i := range n {
						at := i
						if c.positions != nil {
							at = int(c.positions[i])
						}
						for k := range want {
							w := float32(1)
							if c.weights != nil {
								w = c.weights[at*heads+k/(64/heads)]
							}
							want[k] += w * h[int(columns[i])*stride+k]
						}
					}
					got := whole(64)
					if heads == 8 {
						AddRowsOf8Heads(got, h, columns, stride, c.weights, c.positions)
					} else {
						AddRows(got, h, columns, stride, c.weights, c.positions)
					}
					require.Equal(t, want, got, "%d entries of %d heads, stride %d", n, heads, stride)
				}
			}
		}
	}
}

func TestDropHashesEightNumbersAtATime(t *testing.T) {
	skipWithout(t)
	mix := func(x uint32) uint32 {
		x = (x ^ x>>16) * 0x7feb352d
		x = (x ^ x>>15) * 0x846ca68b
		return x ^ x>>16
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, bound := range []uint32{0, 1, 1 << 31, 1<<31 + 5, 1<<32 - 1} {
		first, key0, key1 := r.Uint32(), r.Uint32(), r.Uint32()
		x, y, ones := make([]float32, 1003), make([]float32, 1003), make([]float32, 1003)
		for i := range x {
			x[i] = float32(1 + i)
		}
		require.Equal(t, 1000, Drop(y, x, first, key0, key1, bound, 0.5))
		require.Equal(t, 1000, Drop(ones, nil, first, key0, key1, bound, 0.5))
		for i := range 1000 {
			want := float32(0)
			if mix(mix((first+uint32(i))^key0)+key1) >= bound {
				want = 0.5
			}
			require.Equal(t, want, ones[i])
			require.Equal(t, want*x[i], y[i])
		}
		require.Zero(t, y[1000], "what is left is not touched")
	}
	require.Zero(t, Drop(nil, nil, 0, 0, 0, 0, 1))
}
