package csr

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWithDiagonalPutsEachNodeIntoItsRow(t *testing.T) {
	g, _, err := FromEdges(4, []Edge{{0, 2}, {1, 2}}, Options{})
	require.NoError(t, err)
	with := g.Matrix().WithDiagonal()
	assert.Equal(t, []int64{0, 2, 4, 7, 8}, with.Offsets)
	assert.Equal(t, []int32{0, 2, 1, 2, 0, 1, 2, 3}, with.Indices)
}

func TestTransposeMirrorsEveryEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Matrix{Rows: rapid.IntRange(0, 8).Draw(t, "rows"), Columns: rapid.IntRange(1, 8).Draw(t, "columns"),
			Offsets: []int64{0}}
		for range m.Rows {
			row := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(m.Columns-1)), 0, m.Columns, rapid.ID[int32]).Draw(t, "row")
			slices.Sort(row)
			m.Indices = append(m.Indices, row...)
			m.Offsets = append(m.Offsets, int64(len(m.Indices)))
		}
		for i := range m.Indices {
			m.Values = append(m.Values, float32(i))
		}
		transposed, from := m.Transpose()
		rows, columns := m.RowIndices(), transposed.RowIndices()
		require.Len(t, from, m.NumEntries())
		for i, at := range from {
			require.Equal(t, rows[at], transposed.Indices[i])
			require.Equal(t, m.Indices[at], columns[i])
			require.Equal(t, m.Values[at], transposed.Values[i])
		}
		for r := range transposed.Rows {
			require.True(t, slices.IsSorted(transposed.Indices[transposed.Offsets[r]:transposed.Offsets[r+1]]))
		}
		back, _ := transposed.Transpose()
		if m.Values != nil {
			require.Equal(t, m, back)
		}
	})
}
