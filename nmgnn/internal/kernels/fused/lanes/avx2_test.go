package lanes

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func skipWithout(t *testing.T) {
	if !HaveAVX2() {
		t.Skip("skipped: this processor has no AVX2")
	}
}

// rows is the input of AddRows and the others.
type rows struct {
	h                  []float32
	columns, positions []int32
	stride             int
	weights            []float32
}

// draw makes n rows of normal numbers, whose sums nearly all need rounding.
func draw(t *rapid.T, n, width, heads int) rows {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	x := rows{stride: width + rapid.IntRange(0, 9).Draw(t, "gap"), columns: make([]int32, n)}
	numbers := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	x.h = numbers(20 * x.stride)
	for i := range x.columns {
		x.columns[i] = int32(r.IntN(20))
	}
	if heads > 1 || rapid.Bool().Draw(t, "weights") {
		x.weights = numbers(heads * n)
		if rapid.Bool().Draw(t, "positions") {
			x.positions = make([]int32, n)
			for i, j := range r.Perm(n) {
				x.positions[i] = int32(j)
			}
		}
	}
	return x
}

func (x rows) number(i, k, head, heads int) (h, w float32) {
	h, w = x.h[int(x.columns[i])*x.stride+k], 1
	if x.weights != nil {
		at := i
		if x.positions != nil {
			at = int(x.positions[i])
		}
		w = x.weights[at*heads+head]
	}
	return h, w
}

func TestAddRowsAddsOneRowOf64NumbersAfterTheOther(t *testing.T) {
	skipWithout(t)
	rapid.Check(t, func(t *rapid.T) {
		heads := rapid.SampledFrom([]int{1, 8}).Draw(t, "heads")
		x := draw(t, rapid.IntRange(0, 9).Draw(t, "n"), 64, heads)
		want, got := make([]float32, 64), make([]float32, 64)
		for k := range want {
			for i := range x.columns {
				h, w := x.number(i, k, k/(64/heads), heads)
				want[k] += float32(w * h) // Go may skip roundings, but not of conversions
			}
			got[k] = 7 // to be overwritten
		}
		if heads == 8 {
			AddRowsOf8Heads(got, x.h, x.columns, x.stride, x.weights, x.positions)
		} else {
			AddRows(got, x.h, x.columns, x.stride, x.weights, x.positions)
		}
		require.Equal(t, want, got)
	})
}

func TestAddFoursIsAPlainLoopToTheLastBit(t *testing.T) {
	skipWithout(t)
	rapid.Check(t, func(t *rapid.T) {
		heads := rapid.SampledFrom([]int{1, 1, 2, 3, 4, 8}).Draw(t, "heads")
		share := rapid.IntRange(1, 264/heads).Draw(t, "share")
		n := rapid.IntRange(0, 13).Draw(t, "n")
		x := draw(t, n, share*heads, heads)
		for head := range heads {
			want, got := make([]float32, share), make([]float32, share)
			for k := range want {
				// Go may fuse operations, but a conversion always rounds.
				term := func(i int) float32 { h, w := x.number(i, head*share+k, head, heads); return float32(w * h) }
				i := 0
				for ; i+4 <= n; i += 4 {
					want[k] += float32(float32(term(i)+term(i+1)) + float32(term(i+2)+term(i+3)))
				}
				for ; i < n; i++ {
					want[k] += term(i)
				}
				got[k] = 7
			}
			weights := x.weights
			if weights != nil {
				weights = weights[min(head, len(weights)):]
			}
			done := AddFours(got, x.h[head*share:], x.columns, x.stride, weights, heads, x.positions)
			require.Equal(t, share/8*8, done)
			require.Equal(t, want[:done], got[:done])
			for _, y := range got[done:] {
				require.EqualValues(t, 7, y, "what is left is not touched")
			}
		}
	})
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
		require.Equal(t, 1000, DropEach(y, x, first, key0, key1, bound, 0.5))
		require.Equal(t, 1000, DropEach(ones, nil, first, key0, key1, bound, 0.5))
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
	require.Zero(t, DropEach(nil, nil, 0, 0, 0, 0, 1))
}
