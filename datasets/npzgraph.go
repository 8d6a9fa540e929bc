package datasets

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
)

// readNPZFile reads a graph in the layout of the gnn-benchmark collection, see [Open].
func readNPZFile(ctx context.Context, in *graphfile.File) (*Graph, error) {
	z, err := numpy.New(ctx, in)
	if err != nil {
		return nil, err
	}
	return readNPZ(npzReader{z}, in.Name)
}

// npzReader reads the parts of a graph from the members of an npz.
type npzReader struct{ *numpy.File }

func readNPZ(z npzReader, path string) (*Graph, error) {
	const layout = "a graph in the gnn-benchmark layout"
	if err := z.Require(layout, "adj_indptr", "adj_indices", "adj_shape", "labels"); err != nil {
		return nil, err
	}
	rows, columns, err := z.shape("adj_shape")
	if err != nil {
		return nil, err
	}
	if rows != columns {
		return nil, z.Errorf("adj_shape: [%d, %d]: expected a square", rows, columns)
	}
	// The shape is only a claim: indptr holds one number for each node, and those were counted.
	pairs, err := csrPairs(z, "adj_indptr", "adj_indices", rows)
	if err != nil {
		return nil, err
	}
	g := &Graph{Name: stem(path), Source: path, Format: "npz"}
	if err := g.setUndirected(pairs, int(rows)); err != nil {
		return nil, err
	}
	if g.Labels, g.Classes, err = z.labels("labels", "class_names", rows); err != nil {
		return nil, err
	}
	if g.NodeIDs, err = z.names("node_names", rows); err != nil {
		return nil, err
	}
	switch {
	case z.Has("attr_data"):
		g.Features, err = z.sparse("attr", rows)
	case z.Has("attr_matrix"):
		g.Features, err = z.dense("attr_matrix", rows)
	default:
		err = z.Errorf("no features: expected attr_data, attr_indices, attr_indptr and attr_shape, or attr_matrix; found "+
			"%s", z.Names())
	}
	if err != nil {
		return nil, err
	}
	names, err := z.names("attr_names", int64(g.Features.Width))
	if err != nil {
		return nil, err
	}
	g.nameFeatures(names)
	// As every other format does: how features are stored decides how dropout is drawn, and one graph has one result.
	g.Features = g.Features.compact()
	if z.Has("adj_data") {
		g.Notes = append(g.Notes, `"adj_data", the weights of edges: left out`)
	}
	return g, nil
}

// labels reads class labels, numbers or text, one for each node, and the classes. If a member of the name classNames is
// there, numbers index that; otherwise the classes are the distinct labels.
func (z npzReader) labels(member, classNames string, nodes int64) ([]int32, []string, error) {
	a, err := z.Vector(member, nodes)
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	labels := make([]int32, nodes)
	var index graphfile.Classes
	if a.Type.IsText() {
		var one [1]string
		for v := range labels {
			if err := a.Strings(one[:]); err != nil {
				return nil, nil, err
			}
			labels[v] = index.Add([]byte(one[0]))
		}
		return labels, index.Finish(labels), nil
	}
	values := make([]int64, nodes)
	if err := a.Ints(values); err != nil {
		return nil, nil, err
	}
	most := int64(Unlabelled)
	for v, label := range values {
		if label < int64(Unlabelled) || label >= math.MaxInt32 {
			return nil, nil, a.Errorf("node %d has label %d: expected 0 and up, or %d for a node without a label",
				v, label, Unlabelled)
		}
		most = max(most, label)
	}
	names, err := z.names(classNames, -1)
	if err != nil {
		return nil, nil, err
	}
	if names != nil {
		if most >= int64(len(names)) {
			return nil, nil, a.Errorf("a node has label %d, but %s names %d classes", most, classNames, len(names))
		}
		for v, label := range values {
			labels[v] = int32(label)
		}
		return labels, names, nil
	}
	for v, label := range values {
		labels[v], _ = index.AddNumber(float64(label))
	}
	return labels, index.Finish(labels), nil
}

// names reads a member of text; nil if it is not there, or if it holds Python objects, as names can be done without.
func (z npzReader) names(member string, want int64) ([]string, error) {
	if !z.Has(member) {
		return nil, nil
	}
	names, err := z.Strings(member, want)
	if errors.Is(err, numpy.ErrObjects) {
		return nil, nil
	}
	return names, err
}

// shape reads a member such as adj_shape: two lengths.
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

// dense reads a member [rows, width] as float32, row by row whatever its order in the file.
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

// sparse reads the compressed sparse rows prefix_data, _indices, _indptr and _shape.
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

// rowOffsets reads indptr, and checks that it ascends from 0 to the number of entries.
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

// canonical puts each row of f into ascending order, adds up repeated entries as scipy does, and drops zeros, in place.
// It returns the first row whose sum is not finite, or -1.
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

// npzPairs is a sequence of pairs that is streamed from an npz each time it runs, so that a graph can be built without
// holding the pairs in memory. An error ends the sequence early and stays in err.
type npzPairs struct {
	z       npzReader
	nodes   int64
	rows    string  // member of row numbers, or "" if offsets are set
	offsets []int64 // row v has entries offsets[v] to offsets[v+1]
	columns string  // member of column numbers
	entries int64
	err     error
}

// cooPairs returns the sequence of pairs in two members of equal length.
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

// csrPairs returns the sequence of pairs in compressed sparse rows.
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

// length returns the length of a member of one dimension, which must be want unless that is negative.
func (z npzReader) length(member string, want int64) (int64, error) {
	a, err := z.Vector(member, want)
	if err != nil {
		return 0, err
	}
	return a.Len(), a.Close()
}

// All yields the pairs. It may run any number of times.
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
	var nodes, neighbours [4096]int32
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
		for i, v := range nodes[:n] {
			if !yield(v, neighbours[i]) {
				return nil
			}
		}
		at += int64(n)
	}
	return nil
}

// setUndirected sets the edges to pairs that may be listed in one direction or in both.
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
