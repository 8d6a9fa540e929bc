package datasets

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
)

// twin is [[0, 1.5, 0], [0, 0, 0], [2, 0, -3]], sparse and dense.
func twin() (sparse, dense Features) {
	sparse = Features{Rows: 3, Width: 3, Offsets: []int64{0, 1, 1, 3}, Columns: []int32{1, 0, 2},
		Values: []float32{1.5, 2, -3}}
	return sparse, Features{Rows: 3, Width: 3, Dense: []float32{0, 1.5, 0, 0, 0, 0, 2, 0, -3}}
}

func TestSparseAndDenseGiveTheSameRows(t *testing.T) {
	sparse, dense := twin()
	room := []float32{9, 9, 9, 9}
	for _, f := range []Features{sparse, dense} {
		require.NoError(t, f.Check())
		assert.Equal(t, []float32{2, 0, -3}, f.Row(2, nil))
		assert.Equal(t, []float32{0, 1.5, 0}, f.Row(0, room))
		assert.Equal(t, float32(1.5), room[1], "the room given is used")
		assert.Equal(t, []float32{0, 0, 0}, f.Row(1, make([]float32, 1)))
		assert.Equal(t, int64(3), f.NonZeros())
		sub := f.Select([]int32{2, 1, 2})
		require.NoError(t, sub.Check())
		assert.Equal(t, f.IsSparse(), sub.IsSparse())
		assert.Equal(t, 3, sub.Rows)
		assert.Equal(t, []float32{2, 0, -3}, sub.Row(0, nil))
		assert.Equal(t, []float32{0, 0, 0}, sub.Row(1, nil))
		assert.Equal(t, []float32{2, 0, -3}, sub.Row(2, nil))
		require.NoError(t, f.Select(nil).Check())
	}
}

func TestTheMatrixOfSparseFeaturesSharesTheirMemory(t *testing.T) {
	sparse, dense := twin()
	m := sparse.Matrix()
	assert.Same(t, &sparse.Offsets[0], &m.Offsets[0])
	assert.Same(t, &sparse.Columns[0], &m.Indices[0])
	assert.Same(t, &sparse.Values[0], &m.Values[0])
	assert.Equal(t, m, dense.Matrix())
	transposed, _ := m.Transpose()
	assert.Equal(t, csr.Matrix{Rows: 3, Columns: 3, Offsets: []int64{0, 1, 2, 3}, Indices: []int32{2, 0, 2},
		Values: []float32{2, 1.5, -3}}, transposed)
}

func TestRowNormalizedDividesByTheSumAndLeavesZeroRows(t *testing.T) {
	sparse, dense := twin()
	for _, f := range []Features{sparse, dense} {
		n := f.RowNormalized()
		assert.Equal(t, []float32{0, 1, 0}, n.Row(0, nil))
		assert.Equal(t, []float32{0, 0, 0}, n.Row(1, nil))
		assert.InDeltaSlice(t, []float32{0.4, 0, -0.6}, n.Row(2, nil), 1e-7, "2 and -3 over 5")
		assert.Equal(t, []float32{0, 1.5, 0}, f.Row(0, nil), "the values are a copy")
	}
	n := sparse.RowNormalized()
	assert.Same(t, &sparse.Columns[0], &n.Columns[0], "columns are shared")
	// 1 and -1 sum to 0: dividing by that would give infinities.
	f := Features{Rows: 1, Width: 2, Dense: []float32{1, -1}}
	assert.Equal(t, []float32{0.5, -0.5}, f.RowNormalized().Row(0, nil))
}

func TestAnyMatrixIsTheSameSparseAndDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, width := rapid.IntRange(0, 8).Draw(t, "rows"), rapid.IntRange(0, 8).Draw(t, "width")
		values := make([]float32, rows*width)
		sparse := Features{Rows: rows, Width: width, Offsets: []int64{0}}
		for v := range rows {
			for c := range width {
				if x := float32(rapid.IntRange(0, 3).Draw(t, "x")); x != 0 {
					values[v*width+c] = x
					sparse.Columns = append(sparse.Columns, int32(c))
					sparse.Values = append(sparse.Values, x)
				}
			}
			sparse.Offsets = append(sparse.Offsets, int64(len(sparse.Columns)))
		}
		dense := Features{Rows: rows, Width: width, Dense: values}
		require.NoError(t, dense.Check())
		require.NoError(t, sparse.Check())
		require.Equal(t, dense.NonZeros(), sparse.NonZeros())
		require.Equal(t, dense, sparse.Stored(false))
		thin := dense.Stored(true)
		require.NoError(t, thin.Check())
		require.Equal(t, sparse.Offsets, thin.Offsets)
		require.Equal(t, sparse.Matrix().RowIndices(), dense.Matrix().RowIndices())
		ns, nd := sparse.RowNormalized(), dense.RowNormalized()
		for v := range rows {
			require.Equal(t, dense.Row(v, nil), sparse.Row(v, nil))
			row := ns.Row(v, nil)
			require.Equal(t, nd.Row(v, nil), row)
			sum := float32(0)
			for _, x := range row {
				sum += x
			}
			require.True(t, sum == 0 || math.Abs(float64(sum)-1) < 1e-6)
		}
	})
}

func TestFeaturesCheckNamesRowAndColumn(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for want, f := range map[string]Features{
		"row 1, column 0 is NaN: expected a finite number":  {Rows: 2, Width: 2, Dense: []float32{0, 0, nan, 0}},
		"row 0, column 1 is +Inf: expected a finite number": {Rows: 1, Width: 2, Dense: []float32{0, inf}},
		"row 0, column 7 is NaN": {Rows: 1, Width: 9, Offsets: []int64{0, 1},
			Columns: []int32{7}, Values: []float32{nan}},
		"3 values for shape [2, 2]: expected 4": {Rows: 2, Width: 2, Dense: make([]float32, 3)},
		"0 values for shape [2, 2]: expected 4": {Rows: 2, Width: 2},
		"shape [-1, 2]: expected sizes from 0":  {Rows: -1, Width: 2},
		"columns or values without offsets":     {Columns: []int32{1}},
		"both dense values and offsets":         {Rows: 1, Dense: []float32{}, Offsets: []int64{0, 0}},
		"1 offsets for 1 rows: expected 2":      {Rows: 1, Offsets: []int64{0}},
		"1 columns beside 0 values": {Rows: 1, Width: 1, Offsets: []int64{0, 1},
			Columns: []int32{0}},
		"offsets run from 0 to 2: expected 0 to 1": {Rows: 1, Width: 1, Offsets: []int64{0, 2},
			Columns: []int32{0}, Values: []float32{1}},
		"row 0 runs from 0 to 2 of 1 nonzeros": {Rows: 2, Width: 1, Offsets: []int64{0, 2, 1},
			Columns: []int32{0}, Values: []float32{1}},
		"row 1 runs from 1 to 0 of 1 nonzeros": {Rows: 3, Width: 1, Offsets: []int64{0, 1, 0, 1},
			Columns: []int32{0}, Values: []float32{1}},
		"row 0 names column 1: expected 0 to 0": {Rows: 1, Width: 1, Offsets: []int64{0, 1},
			Columns: []int32{1}, Values: []float32{1}},
		"row 0 names column -1": {Rows: 1, Width: 1, Offsets: []int64{0, 1},
			Columns: []int32{-1}, Values: []float32{1}},
		"row 0: column 1 after 1: expected ascending columns ": {Rows: 1, Width: 2, Offsets: []int64{0, 2},
			Columns: []int32{1, 1}, Values: []float32{1, 1}},
	} {
		assert.ErrorContains(t, f.Check(), "features: "+want)
	}
}

func TestGraphCheckNamesTheFirstFault(t *testing.T) {
	sound := func() *Graph {
		edges, _, err := csr.FromEdges(2, []csr.Edge{{Node: 0, Neighbour: 1}}, csr.Options{})
		require.NoError(t, err)
		return &Graph{Name: "g", Edges: edges, Labels: []int32{0, Unlabelled}, Classes: []string{"a"},
			NodeIDs: []string{"x", "y"}, Features: Features{Rows: 2, Width: 1, Dense: []float32{1, 2}}}
	}
	require.NoError(t, sound().Check())
	require.NoError(t, (&Graph{Edges: &csr.Graph{}}).Check(), "a graph without nodes")
	for want, spoil := range map[string]func(g *Graph){
		"no edges (nil): expected a graph": func(g *Graph) { g.Edges = nil },
		"row 0 names node 9":               func(g *Graph) { g.Edges.Indices[0] = 9 },
		"some edge is stored in one direction only": func(g *Graph) {
			g.Edges = &csr.Graph{Offsets: []int64{0, 1,
				1}, Indices: []int32{1}}
		},
		"3 rows of features for 2 nodes":                       func(g *Graph) { g.Features.Rows = 3 },
		"1 labels for 2 nodes":                                 func(g *Graph) { g.Labels = g.Labels[:1] },
		"1 node names for 2 nodes":                             func(g *Graph) { g.NodeIDs = g.NodeIDs[:1] },
		"node 0 has label 1: expected 0 to 0, or -1 for none":  func(g *Graph) { g.Labels[0] = 1 },
		"node 1 has label -2: expected 0 to 0, or -1 for none": func(g *Graph) { g.Labels[1] = -2 },
		"features: row 1, column 0 is NaN":                     func(g *Graph) { g.Features.Dense[1] = float32(math.NaN()) },
	} {
		g := sound()
		spoil(g)
		assert.ErrorContains(t, g.Check(), `graph "g": `+want)
	}
}
