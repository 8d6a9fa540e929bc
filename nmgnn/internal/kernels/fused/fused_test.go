package fused_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/kernels/fused"
)

func TestTimesIsTheSumOverEntriesTimesTheirWeights(t *testing.T) {
	forEachShape(t, func(t *testing.T, b *backend.Backend, r *rand.Rand, s shape) {
		p := draw(r, s.rows, s.columns, s.most)
		h, w := numbers(r, s.columns, s.width), numbers(r, len(p.entries), s.heads)
		at := shuffled(r, len(p.entries))
		sum, weighted, moved := zeros(s.rows, s.width), zeros(s.rows, s.width), zeros(s.rows, s.width)
		p.each(func(row, i, c int) {
			for k := range s.width {
				head := k / (s.width / s.heads)
				sum[row][k] += float64(h[c][k])
				weighted[row][k] += float64(w[i][head]) * float64(h[c][k])
				moved[row][k] += float64(w[at[i][0]][head]) * float64(h[c][k])
			}
		})
		got := compute(t, b, p, func(m fused.Matrix, x []*Node) []*Node {
			return []*Node{m.Times(x[0], nil, nil, fused.Rows{}), m.Times(x[0], x[1], nil, fused.Rows{}),
				m.Times(x[0], x[1], x[2], fused.Rows{})}
		}, h, w, at)
		near(t, sum, got[0], "Σ h")
		near(t, weighted, got[1], "Σ w·h")
		near(t, moved, got[2], "Σ w·h, weights elsewhere")
	})
}

func TestRowsThatAreNotHeardOrWantedChangeNoOther(t *testing.T) {
	forEachShape(t, func(t *testing.T, b *backend.Backend, r *rand.Rand, s shape) {
		p := draw(r, s.rows, s.columns, s.most)
		h, w := numbers(r, s.columns, s.width), numbers(r, len(p.entries), s.heads)
		heard, wanted := silence(r, h, 2, 2), make([][]float32, s.rows)
		for row := range wanted {
			wanted[row] = []float32{float32(r.IntN(3))}
		}
		at := shuffled(r, len(p.entries))
		got := compute(t, b, p, func(m fused.Matrix, x []*Node) []*Node {
			h, w, at, heard, wanted := x[0], x[1], x[2], x[3], x[4]
			var results []*Node
			for _, rows := range []fused.Rows{{}, {Heard: heard}, {Wanted: wanted}, {Heard: heard, Wanted: wanted}} {
				results = append(results, m.Times(h, nil, nil, rows), m.Times(h, w, nil, rows), m.Times(h, w, at, rows))
			}
			return results
		}, h, w, at, heard, wanted)
		for i, what := range []string{"Σ h", "Σ w·h", "Σ w·h, weights elsewhere"} {
			require.Equal(t, got[i], got[3+i], "%s, to the last bit", what)
			want := slices.Clone(got[i].([][]float32))
			for row := range want {
				if wanted[row][0] == 0 {
					want[row] = make([]float32, s.width)
				}
			}
			require.Equal(t, want, got[6+i], "%s, where it is wanted", what)
			require.Equal(t, want, got[9+i], "%s, where it is wanted, of what is heard", what)
		}
	})
}

func TestReachIsWhatSumsOfSeenRowsRead(t *testing.T) {
	b, err := backend.Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	p := pattern{4, 4, [][]int32{{0}, {2}, {3}, {4}, {4}}, [][]int32{{1}, {2}, {0}, {0}}} // 0–1, 0–2, and 3 alone
	for _, c := range []struct{ seen, heard, want [][]float32 }{
		{[][]float32{{1}, {0}, {0}, {0}}, nil, [][]float32{{1}, {1}, {1}, {0}}},
		{[][]float32{{0}, {2}, {0}, {1}}, nil, [][]float32{{1}, {1}, {0}, {1}}},
		{[][]float32{{1}, {0}, {0}, {0}}, [][]float32{{0}, {0}, {3}, {1}}, [][]float32{{1}, {0}, {1}, {0}}},
	} {
		got := compute(t, b, p, func(m fused.Matrix, x []*Node) []*Node {
			var heard *Node
			if c.heard != nil {
				heard = Const(x[0].Graph(), c.heard)
			}
			return []*Node{m.Reach(x[0], heard)}
		}, c.seen)
		require.Equal(t, c.want, got[0])
	}
}

func TestReachOfALargeMatrix(t *testing.T) {
	b, err := backend.Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, most := range []int{3, 200} { // with 200, all is reached before the last row
		p := draw(r, 1001, 1001, most)
		seen, heard := numbers(r, 1001, 1), numbers(r, 1001, 1)
		silence(r, seen, 2, 1)
		silence(r, heard, 2, 1)
		want := make([][]float32, 1001)
		for row := range want {
			want[row] = []float32{0}
		}
		for row := range seen {
			if seen[row][0] != 0 {
				want[row][0] = 1
			}
		}
		p.each(func(row, _, c int) {
			if seen[row][0] != 0 && heard[c][0] != 0 {
				want[c][0] = 1
			}
		})
		got := compute(t, b, p, func(m fused.Matrix, x []*Node) []*Node { return []*Node{m.Reach(x[0], x[1])} }, seen, heard)
		require.Equal(t, want, got[0])
	}
}

func TestRootsAndBiasesAreAddedToSums(t *testing.T) {
	b, err := backend.Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	for i, s := range cases {
		r := rand.New(rand.NewPCG(8, uint64(i)))
		p := draw(r, s.rows, s.columns, s.most)
		h, root, bias := numbers(r, s.columns, s.width), numbers(r, s.rows, s.width), numbers(r, 1, s.width)
		wanted := numbers(r, s.rows, 1)
		silence(r, wanted, 2, 1)
		heard := silence(r, slices.Clone(h), 2, 2)
		got := compute(t, b, p, func(m fused.Matrix, x []*Node) (all []*Node) {
			h, root, bias := x[0], x[3], x[4]
			for _, rows := range []fused.Rows{{}, {Heard: x[1]}, {Wanted: x[2]}} {
				sum := Add(root, m.Times(h, nil, nil, rows))
				rows.Root = root
				all = append(all, sum, m.Times(h, nil, nil, rows))
				rows.Bias = bias
				all = append(all, Add(sum, bias), m.Times(h, nil, nil, rows))
			}
			return all
		}, h, heard, wanted, root, bias)
		for k := 0; k < len(got); k += 2 {
			require.Equal(t, got[k], got[k+1], "%+v, pair %d", s, k/2)
		}
	}
}

func TestTimesOfSmallWholeNumbersIsExact(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			p := draw(r, 1+r.IntN(9), 1+r.IntN(9), 9)
			width := 1 + r.IntN(70)
			h, want := numbers(r, p.columns, width), make([][]float32, p.rows)
			for _, row := range h {
				for k := range row {
					row[k] = float32(r.IntN(17) - 8)
				}
			}
			for row := range want {
				want[row] = make([]float32, width)
			}
			p.each(func(row, _, c int) {
				for k := range width {
					want[row][k] += h[c][k]
				}
			})
			got := compute(t, b, p, func(m fused.Matrix, x []*Node) []*Node {
				return []*Node{m.Times(x[0], nil, nil, fused.Rows{})}
			}, h)
			require.Equal(t, want, got[0])
		})
	})
}

func TestTotalAndHighestReduceEachRow(t *testing.T) {
	forEachShape(t, func(t *testing.T, b *backend.Backend, r *rand.Rand, s shape) {
		p := draw(r, s.rows, s.columns, s.most)
		e := numbers(r, len(p.entries), s.heads)
		at := shuffled(r, len(p.entries))
		total, moved, highest := zeros(s.rows, s.heads), zeros(s.rows, s.heads), zeros(s.rows, s.heads)
		for _, row := range highest {
			for k := range row {
				row[k] = float64(float32(-1e30)) // empty rows
			}
		}
		p.each(func(row, i, _ int) {
			for k := range s.heads {
				total[row][k] += float64(e[i][k])
				moved[row][k] += float64(e[at[i][0]][k])
				highest[row][k] = max(highest[row][k], float64(e[i][k]))
			}
		})
		got := compute(t, b, p, func(m fused.Matrix, x []*Node) []*Node {
			return []*Node{m.Total(x[0], nil), m.Total(x[0], x[1]), m.Highest(x[0])}
		}, e, at)
		near(t, total, got[0], "total")
		near(t, moved, got[1], "total, entries elsewhere")
		near(t, highest, got[2], "highest")
	})
}

func TestAgreementIsTheInnerProductsOfHeads(t *testing.T) {
	forEachShape(t, func(t *testing.T, b *backend.Backend, r *rand.Rand, s shape) {
		p := draw(r, s.rows, s.columns, s.most)
		x, h := numbers(r, s.rows, s.width), numbers(r, s.columns, s.width)
		want := zeros(len(p.entries), s.heads)
		p.each(func(row, i, c int) {
			for k := range s.width {
				want[i][k/(s.width/s.heads)] += float64(x[row][k]) * float64(h[c][k])
			}
		})
		got := compute(t, b, p, func(m fused.Matrix, n []*Node) []*Node {
			return []*Node{m.Agreement(n[0], n[1], s.heads)}
		}, x, h)
		near(t, want, got[0], "agreement")
	})
}

func attention(p pattern, e [][]float64, keep, h, g [][]float32, s shape) (y, alpha, d [][]float64) {
	y, alpha, d = zeros(s.rows, s.width), zeros(len(e), s.heads), zeros(len(e), s.heads)
	whole, shared := zeros(s.rows, s.heads), zeros(s.rows, s.heads)
	p.each(func(row, i, _ int) {
		for head := range s.heads {
			whole[row][head] += math.Exp(e[i][head])
		}
	})
	p.each(func(row, i, c int) {
		for head := range s.heads {
			alpha[i][head] = math.Exp(e[i][head]) / whole[row][head]
		}
		for k := range s.width {
			head := k / (s.width / s.heads)
			kept := alpha[i][head] * float64(keep[i][head])
			y[row][k] += kept * float64(h[c][k])
			d[i][head] += kept * float64(g[row][k]) * float64(h[c][k])
			shared[row][head] += kept * float64(g[row][k]) * float64(h[c][k])
		}
	})
	p.each(func(row, i, _ int) {
		for head := range s.heads {
			d[i][head] -= alpha[i][head] * shared[row][head]
		}
	})
	return y, alpha, d
}

func TestAttendIsSoftmaxTimesNeighbours(t *testing.T) {
	const slope = 0.2
	forEachShape(t, func(t *testing.T, b *backend.Backend, r *rand.Rand, s shape) {
		p := draw(r, s.rows, s.columns, s.most)
		n := len(p.entries)
		source, target, h, g := numbers(r, s.columns, s.heads), numbers(r, s.rows, s.heads), numbers(r, s.columns, s.width),
			numbers(r, s.rows, s.width)
		ones, keep, e := numbers(r, n, s.heads), numbers(r, n, s.heads), numbers(r, n, s.heads)
		given, made := zeros(n, s.heads), zeros(n, s.heads)
		heard := silence(r, h, 3, 1)
		p.each(func(row, i, c int) {
			for head := range s.heads {
				ones[i][head] = 1
				given[i][head] = float64(e[i][head])
				if made[i][head] = float64(source[c][head] + target[row][head]); made[i][head] < 0 {
					made[i][head] *= float64(float32(slope))
				}
			}
		})
		for _, c := range []struct {
			name    string
			e       [][]float64
			keep    [][]float32
			dropout bool
		}{{"pairs", made, ones, false}, {"pairs, dropout", made, keep, true}, {"scores", given, ones, false},
			{"scores, dropout", given, keep, true}} {
			y, alpha, d := attention(p, c.e, c.keep, h, g, s)
			pairs := &c.e[0][0] == &made[0][0]
			towardsTarget := zeros(s.rows, s.heads)
			p.each(func(row, i, col int) {
				for head := range s.heads {
					if pairs && source[col][head]+target[row][head] <= 0 {
						d[i][head] *= float64(float32(slope))
					}
					towardsTarget[row][head] += d[i][head]
				}
			})
			got := compute(t, b, p, func(m fused.Matrix, x []*Node) []*Node {
				scores := fused.Scores{E: x[0]}
				if pairs {
					scores = fused.Scores{Source: x[1], Target: x[2], Slope: Const(x[0].Graph(), [][]float32{{slope}})}
				}
				k := x[5]
				if !c.dropout {
					k = nil
				}
				var all []*Node
				for _, rows := range []fused.Rows{{}, {Heard: x[6]}} {
					y, alpha, kept := m.Attend(scores, x[3], k, rows)
					d, towards := m.AttendBackward(scores, x[3], alpha, kept, x[4], rows)
					if towards == nil {
						towards = m.Total(d, nil)
					}
					all = append(all, y, alpha, Identity(d), towards)
				}
				return all
			}, e, source, target, h, g, c.keep, heard)
			require.Equal(t, got[:4], got[4:], "%s: rows that are not heard change nothing, to the last bit", c.name)
			near(t, y, got[0], c.name+": y")
			near(t, alpha, got[1], c.name+": α")
			near(t, d, got[2], c.name+": towards scores")
			near(t, towardsTarget, got[3], c.name+": towards targets")
		}
	})
}

func TestScoreIsTheInnerProductWithTwoRowsAndItsGradient(t *testing.T) {
	forEachShape(t, func(t *testing.T, b *backend.Backend, r *rand.Rand, s shape) {
		x, a, c := numbers(r, s.rows, s.width), numbers(r, 1, s.width), numbers(r, 1, s.width)
		v, w := numbers(r, s.rows, s.heads), numbers(r, s.rows, s.heads)
		y, z, dx, da, dc := zeros(s.rows, s.heads), zeros(s.rows, s.heads), zeros(s.rows, s.width), zeros(1, s.width),
			zeros(1, s.width)
		for row := range x {
			for k := range s.width {
				head := k / (s.width / s.heads)
				y[row][head] += float64(x[row][k]) * float64(a[0][k])
				z[row][head] += float64(x[row][k]) * float64(c[0][k])
				dx[row][k] = float64(v[row][head])*float64(a[0][k]) + float64(w[row][head])*float64(c[0][k])
				da[0][k] += float64(v[row][head]) * float64(x[row][k])
				dc[0][k] += float64(w[row][head]) * float64(x[row][k])
			}
		}
		got := call(t, b, func(n []*Node) []*Node {
			y, z := fused.Score(n[0], n[1], n[2], s.heads)
			dx, da, dc := fused.ScoreBackward(n[0], n[1], n[2], n[3], n[4])
			return []*Node{y, z, dx, da, dc}
		}, x, a, c, v, w)
		for i, want := range [][][]float64{y, z, dx, da, dc} {
			near(t, want, got[i], []string{"y", "z", "towards x", "towards a", "towards b"}[i])
		}
	})
}

func TestELUIsExpMinusOneBelowZeroAndItsGradient(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		r := rand.New(rand.NewPCG(5, 5))
		for _, size := range [][2]int{{1, 1}, {3, 5}, {1, 8}, {3000, 65}} {
			x, v := numbers(r, size[0], size[1]), numbers(r, size[0], size[1])
			x[0][0] = -200
			y, dx := zeros(size[0], size[1]), zeros(size[0], size[1])
			for i := range x {
				for k, x := range x[i] {
					if y[i][k], dx[i][k] = float64(x), float64(v[i][k]); x <= 0 {
						y[i][k], dx[i][k] = math.Expm1(float64(x)), float64(v[i][k])*math.Exp(float64(x))
					}
				}
			}
			got := call(t, b, func(x []*Node) []*Node {
				require.True(t, fused.Available(x[0].Graph()))
				return []*Node{fused.ELU(x[0], nil), fused.ELU(x[0], x[1])}
			}, x, v)
			near(t, y, got[0], "ELU")
			near(t, dx, got[1], "gradient")
		}
	})
}

func TestARowWiderThanTheCacheIsSplit(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		const width, entries = 300_000, 20
		h := [][]float32{make([]float32, width)}
		for k := range h[0] {
			h[0][k] = float32(k % 100)
		}
		p := pattern{offsets: [][]int32{{0}, {entries}}, entries: make([][]int32, entries)}
		for i := range p.entries {
			p.entries[i] = []int32{0}
		}
		y := compute(t, b, p, func(m fused.Matrix, x []*Node) []*Node {
			return []*Node{m.Times(x[0], nil, nil, fused.Rows{})}
		},
			h)[0].([][]float32)
		for k := range y[0] {
			if y[0][k] != entries*h[0][k] {
				require.Equal(t, entries*h[0][k], y[0][k], k)
			}
		}
	})
}

func ExampleMatrix() {
	b, err := backend.Open("go")
	if err != nil {
		panic(err)
	}
	// Row 0 has columns 0 and 2, row 1 has column 1.
	y, err := CallOnce(b.Backend, func(offsets, columns, h *Node) *Node {
		return fused.Matrix{Offsets: offsets, Columns: columns}.Times(h, nil, nil, fused.Rows{})
	}, [][]int32{{0}, {2}, {3}}, [][]int32{{0}, {2}, {1}}, [][]float32{{1, 10}, {2, 20}, {3, 30}})
	if err != nil {
		panic(err)
	}
	fmt.Println(y.Value())
	// Output: [[4 40] [2 20]]
}
