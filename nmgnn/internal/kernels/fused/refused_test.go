package fused_test

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/kernels/fused"
)

func TestMatricesThatDoNotFitAreAnError(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		p := pattern{offsets: [][]int32{{0}, {1}}, entries: [][]int32{{0}}}
		for _, c := range []struct {
			expected string
			f        func(m fused.Matrix, h, w, none *Node) *Node
		}{
			{"weights is (Float32)[2, 3], expected [1, -1]",
				func(m fused.Matrix, h, w, _ *Node) *Node { return m.Times(h, w, nil, fused.Rows{}) }},
			{"offsets is (Float32)[2, 3], expected [-1, 1]", func(m fused.Matrix, h, w, _ *Node) *Node {
				m.Offsets = w
				return m.Times(h, nil, nil, fused.Rows{})
			}},
			{"e is (Float32)[2, 3], expected [1, -1], where -1 stands for any number but 0 columns",
				func(m fused.Matrix, _, w, _ *Node) *Node { return m.Total(w, nil) }},
			{"3 heads cannot share a width of 4", func(m fused.Matrix, h, _, _ *Node) *Node { return m.Agreement(h, h, 3) }},
			{"0 heads cannot share a width of 4", func(_ fused.Matrix, h, _, _ *Node) *Node {
				y, _ := fused.Score(h, h, h, 0)
				return y
			}},
			// Kernels divide by these widths.
			{"h is (Float32)[1, 0]", func(m fused.Matrix, _, _, none *Node) *Node {
				return m.Times(none, nil, nil, fused.Rows{})
			}},
			{"weights is (Float32)[1, 0]", func(m fused.Matrix, h, _, none *Node) *Node {
				return m.Times(h, none, nil, fused.Rows{})
			}},
			{"e is (Float32)[1, 0]", func(m fused.Matrix, _, _, none *Node) *Node { return m.Highest(none) }},
			{"x is (Float32)[1, 0]", func(_ fused.Matrix, _, _, none *Node) *Node { return fused.ELU(none, nil) }},
			{"x is (Float32)[1, 0]", func(_ fused.Matrix, h, _, none *Node) *Node {
				y, _, _ := fused.ScoreBackward(none, none, none, h, h)
				return y
			}},
			{"v is (Float32)[1, 0]", func(_ fused.Matrix, h, _, none *Node) *Node {
				y, _, _ := fused.ScoreBackward(h, h, h, none, none)
				return y
			}},
			{"0 heads cannot share a width of 4", func(m fused.Matrix, h, _, none *Node) *Node {
				y, _, _ := m.Attend(fused.Scores{E: none}, h, nil, fused.Rows{})
				return y
			}},
		} {
			_, err := CallOnce(b.Backend, func(offsets, columns, h, w *Node) *Node {
				return c.f(fused.Matrix{Offsets: offsets, Columns: columns}, h, w, Zeros(h.Graph(), shapes.Make(dtypes.Float32, 1,
					0)))
			}, p.offsets, p.entries, [][]float32{{1, 2, 3, 4}}, [][]float32{{1, 2, 3}, {4, 5, 6}})
			require.ErrorContains(t, err, c.expected)
		}
	})
}

func TestRegisterSaysWhatIsWrong(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		err := fused.Register(b.Backend, "/nowhere/plugin.so")
		require.ErrorContains(t, err, "XLA ")
	})
}

func TestHandlersInCCheckShapesToo(t *testing.T) {
	b, err := backend.Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	zeros := func(h *Node, dimensions ...int) *Node {
		return Zeros(h.Graph(), shapes.Make(dtypes.Float32, dimensions...))
	}
	which := func(h *Node, bits int32) *Node { return Const(h.Graph(), [][]int32{{bits}}) }
	for name, c := range map[string]struct {
		expected string
		call     func(offsets, columns, h *Node) []*Node
	}{
		"too few arguments": {"nodemask times: unexpected number of arguments", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{2, 4}}, which(h, 0), offsets, columns)
		}},
		"results with more rows": {"nodemask times: unexpected types or shapes", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{3, 4}}, which(h, 0), offsets, columns, h)
		}},
		"heads that do not divide": {"width % columns(x[3]) == 0", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{2, 4}}, which(h, 0), offsets, columns, h, zeros(h, 3, 3))
		}},
		"no heads": {"is(x[3], FFI_F32, entries, -1)", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{2, 4}}, which(h, 0), offsets, columns, h, zeros(h, 3, 0))
		}},
		"no matrix": {"nodemask times: unexpected types or shapes", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{2, 4}}, which(h, 0), offsets, columns, Reshape(h, 4))
		}},
		"fewer rows that are wanted": {"is_each(wanted, m)", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{2, 4}}, which(h, 2), zeros(h, 1, 1), offsets, columns, h)
		}},
		"no draw": {"n >= 3 && n <= 5", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{2, 4}}, which(h, 4), offsets, columns, h)
		}},
		"other scores": {"n == fixed + given", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_attend_backward", [][2]int{{3, 1}}, which(h, 0), offsets, columns, h, zeros(h, 3, 1),
				zeros(h, 3, 1), zeros(h, 2, 4), zeros(h, 1, 1), zeros(h, 2, 1))
		}},
		"rows beyond the last": {"first + rows(y[0]) <= rows(x[2])", func(_, _, h *Node) []*Node {
			return fused.Call("nodemask_drop", [][2]int{{1, 4}}, which(h, 0), Const(h.Graph(), [][]uint32{{1, 2, 3, 1}}),
				zeros(h, 1, 1), h)
		}},
		"no first row": {"FFI_U32, 1, 4", func(_, _, h *Node) []*Node {
			return fused.Call("nodemask_drop", [][2]int{{1, 4}}, which(h, 0), Const(h.Graph(), [][]uint32{{1, 2, 3}}),
				zeros(h, 1, 1), h)
		}},
		"several weights an entry that is dropped": {"is(x[3], FFI_F32, -1, 1)", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{2, 4}}, which(h, 4), Const(h.Graph(), [][]uint32{{1, 2, 3}}),
				zeros(h, 1, 1), offsets, columns, h, zeros(h, 3, 2))
		}},
		"no bound": {"is(draw, FFI_U32, 1, 3)", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_times", [][2]int{{2, 4}}, which(h, 4), Const(h.Graph(), [][]uint32{{1, 2}}),
				zeros(h, 1, 1), offsets, columns, h, zeros(h, 3, 1))
		}},
		"no slope": {"scores(&a, given", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_attend", [][2]int{{2, 4}, {3, 1}}, which(h, 0), offsets, columns, h, zeros(h, 1, 1),
				zeros(h, 2, 1), zeros(h, 0, 1))
		}},
		"rows of another graph": {"nodemask reach: unexpected types or shapes", func(offsets, columns, h *Node) []*Node {
			return fused.Call("nodemask_reach", [][2]int{{2, 1}}, offsets, columns, zeros(h, 3, 1))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := CallOnceN(b.Backend, func(x []*Node) []*Node { return c.call(x[0], x[1], x[2]) },
				[][]int32{{0}, {1}, {3}}, [][]int32{{0}, {0}, {0}}, [][]float32{{1, 2, 3, 4}})
			require.ErrorContains(t, err, c.expected)
		})
	}
}
