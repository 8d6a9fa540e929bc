package csr

import "slices"

// Matrix is a sparse matrix in compressed sparse rows, not to be changed once made.
type Matrix struct {
	Rows, Columns int
	// Offsets delimit rows: row r holds entries Offsets[r] to Offsets[r+1]-1.
	Offsets []int64
	// Indices are columns.
	Indices []int32
	// Values are nil if all are 1.
	Values []float32
}

// Matrix returns the adjacency matrix, in the graph's memory.
func (g *Graph) Matrix() Matrix {
	n := g.NumNodes()
	m := Matrix{Rows: n, Columns: n, Offsets: g.Offsets, Indices: g.Indices}
	if len(m.Offsets) == 0 {
		m.Offsets = []int64{0}
	}
	return m
}

// NumEntries returns the number of stored entries.
func (m Matrix) NumEntries() int { return len(m.Indices) }

// RowIndices returns each entry's row.
func (m Matrix) RowIndices() []int32 {
	rows := make([]int32, 0, m.NumEntries())
	for r := range m.Rows {
		for range m.Offsets[r+1] - m.Offsets[r] {
			rows = append(rows, int32(r))
		}
	}
	return rows
}

// Transpose returns the transpose, and each entry's index in m.
func (m Matrix) Transpose() (t Matrix, from []int32) {
	t = Matrix{Rows: m.Columns, Columns: m.Rows, Offsets: make([]int64, m.Columns+1),
		Indices: make([]int32, m.NumEntries())}
	from = make([]int32, m.NumEntries())
	if m.Values != nil {
		t.Values = make([]float32, m.NumEntries())
	}
	for _, c := range m.Indices {
		t.Offsets[c+1]++
	}
	for c := range m.Columns {
		t.Offsets[c+1] += t.Offsets[c]
	}
	next := slices.Clone(t.Offsets)
	for r := range m.Rows {
		for i := m.Offsets[r]; i < m.Offsets[r+1]; i++ {
			at := next[m.Indices[i]]
			next[m.Indices[i]]++
			t.Indices[at] = int32(r)
			from[at] = int32(i)
			if m.Values != nil {
				t.Values[at] = m.Values[i]
			}
		}
	}
	return t, from
}

// WithDiagonal returns the pattern of m plus its diagonal: v ∪ N_v for N_v.
func (m Matrix) WithDiagonal() Matrix {
	t := Matrix{Rows: m.Rows, Columns: m.Columns, Offsets: make([]int64, m.Rows+1),
		Indices: make([]int32, 0, m.NumEntries()+m.Rows)}
	for r := range m.Rows {
		placed := false
		for _, c := range m.Indices[m.Offsets[r]:m.Offsets[r+1]] {
			if !placed && int(c) > r {
				t.Indices, placed = append(t.Indices, int32(r)), true
			}
			t.Indices = append(t.Indices, c)
		}
		if !placed {
			t.Indices = append(t.Indices, int32(r))
		}
		t.Offsets[r+1] = int64(len(t.Indices))
	}
	return t
}
