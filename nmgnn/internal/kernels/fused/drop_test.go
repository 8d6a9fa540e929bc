package fused_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/kernels/fused"
)

// hash is "lowbias32".
func hash(x uint32) uint32 {
	x = (x ^ x>>16) * 0x7feb352d
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

func TestDropDropsWhatTheHashSays(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		r := rand.New(rand.NewPCG(3, 3))
		for _, size := range [][2]int{{1, 1}, {3, 5}, {1, 8}, {100, 33}, {4000, 64}} {
			draw := [][]uint32{{r.Uint32(), r.Uint32(), 1 << 31}}
			x := numbers(r, size[0], size[1])
			want, ones := make([][]float32, size[0]), make([][]float32, size[0])
			for i := range x {
				want[i], ones[i] = make([]float32, size[1]), make([]float32, size[1])
				for k := range x[i] {
					if hash(hash(uint32(i*size[1]+k)^draw[0][0])+draw[0][1]) >= draw[0][2] {
						want[i][k], ones[i][k] = x[i][k]*2, 2
					}
				}
			}
			got := call(t, b, func(x []*Node) []*Node {
				return []*Node{fused.Drop(x[0], x[1], x[2], size[0], size[1], nil, nil),
					fused.Drop(x[0], x[1], nil, size[0], size[1], nil, nil)}
			}, draw, [][]float32{{2}}, x)
			for i, want := range [][][]float32{want, ones} {
				for row, numbers := range got[i].([][]float32) {
					for k := range numbers {
						numbers[k] += 0 // no negative zero
					}
					require.Equal(t, want[row], numbers, "%v: row %d", size, row)
				}
			}
		}
	})
}

func TestWhatAGateClosesIsDroppedToo(t *testing.T) {
	b, err := backend.Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	r := rand.New(rand.NewPCG(3, 3))
	for _, size := range [][2]int{{1, 1}, {3, 5}, {100, 33}, {4000, 64}} {
		x, gate := numbers(r, size[0], size[1]), numbers(r, size[0], size[1])
		gate[0][0], gate[size[0]-1][size[1]-1] = 0, float32(math.NaN()) // not below 0
		got := call(t, b, func(x []*Node) []*Node {
			dropped := fused.Drop(x[0], x[1], x[2], size[0], size[1], nil, nil)
			return []*Node{Where(LessThan(x[3], ZerosLike(x[3])), ZerosLike(dropped), dropped),
				fused.Drop(x[0], x[1], x[2], size[0], size[1], nil, x[3])}
		}, [][]uint32{{5, 6, 1 << 31}}, [][]float32{{2}}, x, gate)
		require.Equal(t, got[0], got[1], "%v", size)
	}
}

func TestDroppingEntriesIsDroppingWeightsBitForBit(t *testing.T) {
	forEachShape(t, func(t *testing.T, b *backend.Backend, r *rand.Rand, s shape) {
		p := draw(r, s.rows, s.columns, s.most)
		h, w, at := numbers(r, s.columns, s.width), numbers(r, len(p.entries), 1), shuffled(r, len(p.entries))
		for _, bound := range []uint32{0, 1 << 31, 1<<32 - 1} {
			drawn, scale := [][]uint32{{r.Uint32(), r.Uint32(), bound}}, [][]float32{{1.7}}
			var problem any
			got := compute(t, b, p, func(m fused.Matrix, x []*Node) (results []*Node) {
				h, w, at, drawn, scale := x[0], x[1], x[2], x[3], x[4]
				dropped := fused.Drop(drawn, scale, w, len(p.entries), 1, nil, nil)
				results = []*Node{m.Times(h, dropped, nil, fused.Rows{}), m.Times(h, dropped, at, fused.Rows{})}
				if fused.Skips(h.Graph()) {
					return append(results, m.TimesDropped(drawn, scale, h, w, nil, fused.Rows{}),
						m.TimesDropped(drawn, scale, h, Gather(w, at), at, fused.Rows{}))
				}
				func() {
					defer func() { problem = recover() }()
					m.TimesDropped(drawn, scale, h, w, nil, fused.Rows{})
				}()
				return results
			}, h, w, at, drawn, scale)
			if b.ID == "go" {
				require.ErrorContains(t, problem.(error), "there is no such kernel in Go")
				return
			}
			require.Equal(t, got[0], got[2], "bound %d", bound)
			require.Equal(t, got[1], got[3], "bound %d, weights elsewhere", bound)
		}
	})
}

func TestSomeRowsAreDroppedAsInTheWholeMatrix(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		r := rand.New(rand.NewPCG(4, 4))
		x := numbers(r, 500, 33)
		draw := [][]uint32{{r.Uint32(), r.Uint32(), 1 << 31}}
		for _, of := range [][2]int{{0, 500}, {0, 1}, {499, 1}, {3, 200}, {77, 423}} {
			got := call(t, b, func(x []*Node) []*Node {
				return []*Node{fused.Drop(x[0], x[1], x[2], 500, 33, nil, nil),
					fused.DropRows(x[0], x[1], x[2], of[0], of[1], nil, x[1])}
			}, draw, [][]float32{{2}}, x)
			require.Equal(t, got[0].([][]float32)[of[0]:of[0]+of[1]], got[1])
		}
	})
}
