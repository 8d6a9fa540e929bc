package datasets

import (
	"cmp"
	"errors"
	"slices"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
)

func (z npzReader) shape(member string) (rows, width int64, err error) {
	values, err := z.Ints(member, 2)
	if err != nil {
		return 0, 0, err
	}
	for _, v := range values {
		if v < 0 || v > graphfile.MaxNodes {
			return 0, 0, z.Errorf("%s: %s: expected lengths from 0 to %d", member, numpy.ShapeText(values), graphfile.MaxNodes)
		}
	}
	return values[0], values[1], nil
}

func (z npzReader) dense(member string, rows int64) (Features, error) {
	a, err := z.Open(member)
	if err != nil {
		return Features{}, err
	}
	defer a.Close()
	if len(a.Shape) != 2 || a.Shape[0] != rows || a.Shape[1] > graphfile.MaxWidth {
		return Features{}, a.Errorf("shape %s: expected [%d, width], one row for each node, and a width up to %d",
			numpy.ShapeText(a.Shape), rows, graphfile.MaxWidth)
	}
	if err := z.Take(4 * a.Len()); err != nil {
		return Features{}, err
	}
	f := Features{Rows: int(rows), Width: int(a.Shape[1]), Dense: make([]float32, a.Len())}
	if !a.Fortran {
		return f, a.Float32s(f.Dense)
	}
	column := make([]float32, rows)
	for j := range f.Width {
		if err := a.Float32s(column); err != nil {
			return Features{}, err
		}
		for i, v := range column {
			f.Dense[i*f.Width+j] = v
		}
	}
	return f, nil
}

func (z npzReader) sparse(prefix string, rows int64) (Features, error) {
	data, indices, indptr, shape := prefix+"_data", prefix+"_indices", prefix+"_indptr", prefix+"_shape"
	if err := z.Require("a sparse matrix", data, indices, indptr, shape); err != nil {
		return Features{}, err
	}
	height, width, err := z.shape(shape)
	if err != nil {
		return Features{}, err
	}
	if height != rows || width > graphfile.MaxWidth {
		return Features{}, z.Errorf("%s: [%d, %d]: expected %d rows, one for each node, and a width up to %d",
			shape, height, width, rows, graphfile.MaxWidth)
	}
	values, err := z.Vector(data, -1)
	if err != nil {
		return Features{}, err
	}
	defer values.Close()
	columns, err := z.Vector(indices, values.Len())
	if err != nil {
		return Features{}, err
	}
	defer columns.Close()
	f := Features{Rows: int(rows), Width: int(width)}
	if f.Offsets, err = z.rowOffsets(indptr, rows, values.Len()); err != nil {
		return Features{}, err
	}
	if err := z.Take(8 * values.Len()); err != nil {
		return Features{}, err
	}
	f.Columns, f.Values = make([]int32, values.Len()), make([]float32, values.Len())
	if err := columns.Indices(f.Columns, width, "column"); err != nil {
		return Features{}, err
	}
	if err := values.Float32s(f.Values); err != nil {
		return Features{}, err
	}
	f, row := canonical(f)
	if row >= 0 {
		return Features{}, z.Errorf("%s: row %d: repeated entries add up to more than 32 bits hold", data, row)
	}
	return f, nil
}

func (z npzReader) rowOffsets(member string, rows, entries int64) ([]int64, error) {
	offsets, err := z.Ints(member, rows+1)
	if err != nil {
		return nil, err
	}
	if offsets[0] != 0 || offsets[rows] != entries {
		return nil, z.Errorf("%s: runs from %d to %d: expected 0 to %d, the number of entries",
			member, offsets[0], offsets[rows], entries)
	}
	for v := range rows {
		if offsets[v] > offsets[v+1] {
			return nil, z.Errorf("%s: element %d: %d after %d: expected ascending offsets",
				member, v+1, offsets[v+1], offsets[v])
		}
	}
	return offsets, nil
}

// canonical sorts each row of f, adds up repeats as scipy does, and drops zeros, in place. It returns the first row
// whose sum is not finite, or -1.
func canonical(f Features) (Features, int) {
	type entry struct {
		column int32
		value  float32
	}
	var row []entry
	var kept, begin int64
	for v := range f.Rows {
		end := f.Offsets[v+1]
		row = row[:0]
		for i := begin; i < end; i++ {
			row = append(row, entry{f.Columns[i], f.Values[i]})
		}
		begin = end
		if byColumn := func(a, b entry) int { return cmp.Compare(a.column, b.column) }; !slices.IsSortedFunc(row, byColumn) {
			slices.SortStableFunc(row, byColumn)
		}
		for i := 0; i < len(row); {
			column, sum := row[i].column, float32(0)
			for ; i < len(row) && row[i].column == column; i++ {
				sum += row[i].value
			}
			if !finite(sum) {
				return Features{}, v
			}
			if sum != 0 {
				f.Columns[kept], f.Values[kept] = column, sum
				kept++
			}
		}
		f.Offsets[v+1] = kept
	}
	if kept < int64(len(f.Values)) {
		f.Columns, f.Values = slices.Clone(f.Columns[:kept]), slices.Clone(f.Values[:kept])
	}
	return f, -1
}

// npzPairs streams pairs from an npz, to save memory. An error ends the sequence and stays in err.
type npzPairs struct {
	z       npzReader
	nodes   int64
	rows    string  // member of row numbers; "" if offsets are set
	offsets []int64 // row v has entries offsets[v] to offsets[v+1]
	columns string  // member of column numbers
	weights string  // member of values, where 0 is no edge; "": none
	zeros   int64   // zero weights in the last run
	entries int64
	err     error
}

func cooPairs(z npzReader, rows, columns string, nodes int64) (*npzPairs, error) {
	entries, err := z.length(rows, -1)
	if err != nil {
		return nil, err
	}
	if _, err := z.length(columns, entries); err != nil {
		return nil, err
	}
	return &npzPairs{z: z, nodes: nodes, rows: rows, columns: columns, entries: entries}, nil
}

func csrPairs(z npzReader, indptr, indices string, nodes int64) (*npzPairs, error) {
	entries, err := z.length(indices, -1)
	if err != nil {
		return nil, err
	}
	offsets, err := z.rowOffsets(indptr, nodes, entries)
	if err != nil {
		return nil, err
	}
	return &npzPairs{z: z, nodes: nodes, offsets: offsets, columns: indices, entries: entries}, nil
}

// weigh drops pairs of weight 0, if the member holds numbers.
func (p *npzPairs) weigh(member string) error {
	a, err := p.z.Vector(member, p.entries)
	if errors.Is(err, numpy.ErrObjects) {
		return nil
	}
	if err != nil {
		return err
	}
	if !a.Type.IsText() {
		p.weights = member
	}
	return a.Close()
}

func (z npzReader) length(member string, want int64) (int64, error) {
	a, err := z.Vector(member, want)
	if err != nil {
		return 0, err
	}
	return a.Len(), a.Close()
}

// All yields the pairs; it may run repeatedly.
func (p *npzPairs) All(yield func(int32, int32) bool) {
	if p.err == nil {
		p.err = p.run(yield)
	}
}

func (p *npzPairs) run(yield func(int32, int32) bool) (err error) {
	columns, err := p.z.Vector(p.columns, p.entries)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, columns.Close()) }()
	var rows *numpy.Array
	if p.rows != "" {
		if rows, err = p.z.Vector(p.rows, p.entries); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
	}
	var weights *numpy.Array
	if p.weights != "" {
		if weights, err = p.z.Vector(p.weights, p.entries); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, weights.Close()) }()
	}
	var nodes, neighbours [4096]int32
	var values [4096]float32
	p.zeros = 0
	row := int32(0)
	for at := int64(0); at < p.entries; {
		n := int(min(p.entries-at, int64(len(nodes))))
		if p.rows != "" {
			if err := rows.Indices(nodes[:n], p.nodes, "node"); err != nil {
				return err
			}
		} else {
			for i := range n {
				for at+int64(i) >= p.offsets[row+1] {
					row++
				}
				nodes[i] = row
			}
		}
		if err := columns.Indices(neighbours[:n], p.nodes, "node"); err != nil {
			return err
		}
		if weights != nil {
			if err := weights.Float32s(values[:n]); err != nil {
				return err
			}
		}
		for i, v := range nodes[:n] {
			if weights != nil && values[i] == 0 {
				p.zeros++
				continue
			}
			if !yield(v, neighbours[i]) {
				return nil
			}
		}
		at += int64(n)
	}
	return nil
}

func (g *Graph) setUndirected(p *npzPairs, nodes int) error {
	err := g.setBothWays(nodes, p.All)
	if p.err != nil {
		return p.err
	}
	if err != nil {
		return p.z.Errorf("%w", err)
	}
	return nil
}
