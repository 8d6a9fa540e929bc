package kernels_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
	"nodemask/internal/gnntest"
	"nodemask/internal/kernels"
)

func TestLongAndShortRowsAreChainedWithoutLosingOrRepeatingAnEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A few very long rows among many short ones: links to links, pieces of pieces.
		m := csr.Matrix{Columns: 5000, Offsets: []int64{0}}
		m.Rows = rapid.IntRange(1, 400).Draw(t, "rows")
		for r := range m.Rows {
			n := rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3, 5, 9, 17}).Draw(t, "length")
			if r%97 == 3 {
				n = rapid.IntRange(60, 5000).Draw(t, "long")
			}
			for i := range n {
				m.Indices = append(m.Indices, int32(i))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Indices)))
		}
		if m.NumEntries() == 0 {
			return
		}
		slotOf, slots := kernels.ChainLayout(m)
		require.Len(t, slotOf, m.NumEntries())
		seen := map[int32]bool{}
		for _, slot := range slotOf {
			if seen[slot] || int(slot) >= slots {
				require.False(t, seen[slot], "two entries in one slot")
				require.Less(t, int(slot), slots)
			}
			seen[slot] = true
		}
		require.Less(t, slots, 4*m.NumEntries()+64*64, "padding stays within bounds")
	})
}

func TestAgreementBlockByBlockIsThatOfAllEntriesAtOnce(t *testing.T) {
	b := gnntest.XLA(t) // go has no such loops
	m := csr.Matrix{Rows: 25000, Columns: 25000, Offsets: []int64{0}}
	for v := range m.Rows {
		for i := range 1 + v%7 {
			m.Indices = append(m.Indices, int32((v*31+i*977)%m.Columns))
		}
		m.Offsets = append(m.Offsets, int64(len(m.Indices)))
	}
	store := model.NewStore()
	p := newProduct(t, store, m, kernels.Options{Kernel: kernels.ChainKernel})
	require.Greater(t, p.Slots(), 8*kernels.AgreementBlock)
	require.NotZero(t, p.Slots()%kernels.AgreementBlock, "the last block overlaps the one before it")
	outputs, err := model.CallOnceN(b.Backend, store, func(_ *model.Scope, x, h *Node) []*Node {
		return []*Node{p.Agreement(x, h, 2), kernels.SumHeads(Mul(p.Spread(x), p.Gather(h)), 2)}
	}, wholeRows(m.Rows, 4, 3), wholeRows(m.Columns, 4, 5))
	require.NoError(t, err)
	require.Equal(t, outputs[1].Value(), outputs[0].Value())
}

// wholeRows is rows of small whole numbers that differ.
func wholeRows(rows, width, seed int) [][]float32 {
	x := make([][]float32, rows)
	for v := range x {
		x[v] = make([]float32, width)
		for c := range x[v] {
			x[v][c] = float32((v*seed+c*(seed+2))%17 - 8)
		}
	}
	return x
}
