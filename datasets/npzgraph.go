package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
)

type npzLayout struct {
	name, edges, labels, features string
}

// The gnn-benchmark collection's features may also be sparse.
var (
	benchmarkNPZ = npzLayout{"a graph in the gnn-benchmark layout", "adj_indices", "labels", "attr_matrix"}
	yandexNPZ    = npzLayout{"a graph in the layout of the heterophilous benchmark", "edges", "node_labels", "node_features"}
)

func readNPZFile(ctx context.Context, in *graphfile.File) (*Graph, error) {
	z, err := numpy.New(ctx, in)
	if err != nil {
		return nil, err
	}
	return readNPZ(npzReader{z}, in.Name, graphfile.ChoiceOf(ctx))
}

type npzReader struct{ *numpy.File }

func readNPZ(z npzReader, path string, choice graphfile.Choice) (*Graph, error) {
	layout, l := benchmarkNPZ, &graphfile.Graph{Format: "npz"}
	if z.Has(yandexNPZ.edges) && !z.Has("adj_indptr") {
		layout = yandexNPZ
	}
	layout.labels = cmp.Or(choice.Label, layout.labels)
	known := []string{layout.edges, layout.labels, layout.features, "class_names", "node_names"}
	read := z.adjacency
	if layout.edges == yandexNPZ.edges {
		read = z.edgeList
		if err := z.Require(layout.name, layout.edges, layout.labels, layout.features); err != nil {
			return nil, err
		}
	} else {
		if err := z.Require(layout.name, "adj_indptr", "adj_indices", "adj_shape", layout.labels); err != nil {
			return nil, err
		}
		known = append(known, "adj_indptr", "adj_shape", "adj_data", "attr_data", "attr_indices", "attr_indptr", "attr_shape",
			"attr_names")
	}
	finish, err := read(l, layout)
	if err != nil {
		return nil, err
	}
	if err := z.labels(l, layout.labels, "class_names"); err != nil {
		return nil, err
	}
	if l.IDs, err = z.names("node_names", int64(l.Nodes)); err != nil {
		return nil, err
	}
	var f Features
	switch rows := int64(l.Nodes); {
	case layout.edges == benchmarkNPZ.edges && z.Has("attr_data"):
		f, err = z.sparse("attr", rows)
	case z.Has(layout.features):
		f, err = z.dense(layout.features, rows)
	default:
		err = z.Errorf("no features: expected attr_data, attr_indices, attr_indptr and attr_shape, or attr_matrix; found "+
			"%s", z.Names())
	}
	if err != nil {
		return nil, err
	}
	l.Features = graphfile.Features(f)
	if l.FeatureNames, err = z.names("attr_names", int64(f.Width)); err != nil {
		return nil, err
	}
	if err := z.masks(l, choice.Mask); err != nil {
		return nil, err
	}
	z.noteOthers(l, known)
	g, err := fromFile(l, stem(path), path)
	if err == nil && finish != nil {
		finish(g)
	}
	return g, err
}

// adjacency reads the gnn-benchmark layout's edges; call its result with the finished graph.
func (z npzReader) adjacency(l *graphfile.Graph, _ npzLayout) (func(*Graph), error) {
	rows, columns, err := z.shape("adj_shape")
	if err != nil {
		return nil, err
	}
	if rows != columns {
		return nil, z.Errorf("adj_shape: [%d, %d]: expected a square", rows, columns)
	}
	// The shape is a claim, but indptr has one number per node.
	pairs, err := csrPairs(z, "adj_indptr", "adj_indices", rows)
	if err != nil {
		return nil, err
	}
	if z.Has("adj_data") {
		if err := pairs.weigh("adj_data"); err != nil {
			return nil, err
		}
	}
	l.Nodes, l.Stream = int(rows), pairs.run
	return func(g *Graph) {
		if pairs.zeros > 0 {
			g.Notes = append(g.Notes, fmt.Sprintf(`"adj_data": %d entries are 0: no edges`, pairs.zeros))
		}
		if z.Has("adj_data") {
			g.Notes = append(g.Notes, `"adj_data", the weights of edges: left out`)
		}
	}, nil
}

// edgeList reads [edges, 2]: each once, undirected.
func (z npzReader) edgeList(l *graphfile.Graph, layout npzLayout) (func(*Graph), error) {
	nodes, err := z.length(layout.labels, -1)
	if err != nil {
		return nil, err
	}
	a, err := z.Open(layout.edges)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if len(a.Shape) != 2 || a.Shape[1] != 2 || a.Fortran && a.Shape[0] > 1 {
		return nil, a.Errorf("shape %s: expected [edges, 2], row by row", numpy.ShapeText(a.Shape))
	}
	if err := z.Take(8 * a.Len()); err != nil {
		return nil, err
	}
	ends := make([]int32, a.Len())
	if err := a.Indices(ends, nodes, "node"); err != nil {
		return nil, err
	}
	l.Nodes, l.Pairs = int(nodes), make([]csr.Edge, len(ends)/2)
	for i := range l.Pairs {
		l.Pairs[i] = csr.Edge{Node: ends[2*i], Neighbour: ends[2*i+1]}
	}
	return nil, nil
}

// labels reads a class per node, number or text. Numbers index classNames if that exists.
func (z npzReader) labels(l *graphfile.Graph, member, classNames string) error {
	a, err := z.Vector(member, int64(l.Nodes))
	if err != nil {
		return err
	}
	defer a.Close()
	var names []string
	if !a.Type.IsText() {
		if names, err = z.names(classNames, -1); err != nil {
			return err
		}
	}
	labels := make([]int32, l.Nodes)
	var index graphfile.Classes
	var one [1]string
	for v := range labels {
		if err := a.Strings(one[:]); err != nil {
			return err
		}
		ok := true
		switch {
		case a.Type.IsText():
			labels[v] = index.Add([]byte(one[0]))
		case names == nil:
			labels[v], ok = index.AddNumber(one[0])
		default:
			x, _ := strconv.ParseFloat(one[0], 64) // as it was written
			if labels[v] = Unlabelled; x == x && x != -1 {
				if ok = x == math.Trunc(x) && x >= 0 && x < float64(len(names)); ok {
					labels[v] = int32(x)
				}
			}
		}
		if !ok && names != nil {
			return a.Errorf("node %d has label %s, but %s names %d classes", v, one[0], classNames, len(names))
		} else if !ok {
			return a.Errorf("node %d has label %s: expected a whole number, or NaN for none", v, one[0])
		}
	}
	if names != nil {
		l.Labels, l.Classes = labels, names
		return nil
	}
	l.SetLabels(&index, labels)
	return nil
}

func (z npzReader) masks(l *graphfile.Graph, choice int) error {
	var masks [3]*graphfile.Mask
	for _, name := range slices.Sorted(maps.Keys(z.Members)) {
		set := graphfile.MaskMember(name)
		if set < 0 || masks[set] != nil {
			continue
		}
		a, err := z.Open(name)
		if err != nil {
			return err
		}
		defer a.Close()
		m := &graphfile.Mask{What: fmt.Sprintf("member %q", name), Shape: a.Shape, Type: a.Type.Name,
			Whole: a.Type.Kind != 'f' && !a.Type.IsText()}
		if masks[set] = m; !m.Whole || len(a.Shape) == 0 || len(a.Shape) > 2 {
			continue
		}
		if err := z.Take(a.Len()); err != nil {
			return err
		}
		marks, wide := make([]int8, 0, a.Len()), make([]int64, 1024)
		for int64(len(marks)) < a.Len() {
			n := min(len(wide), int(a.Len())-len(marks))
			if err := a.Ints(wide[:n]); err != nil {
				return err
			}
			for _, x := range wide[:n] {
				marks = append(marks, int8(min(max(x, -1), 2)))
			}
		}
		m.At = func(i, j int64) float64 {
			switch {
			case len(a.Shape) == 1:
				return float64(marks[i])
			case a.Fortran:
				return float64(marks[j*a.Shape[0]+i])
			}
			return float64(marks[i*a.Shape[1]+j])
		}
	}
	if err := l.SetMasks(masks, choice); err != nil {
		return z.Errorf("%w", err)
	}
	return nil
}

func (z npzReader) noteOthers(l *graphfile.Graph, known []string) {
	for _, name := range slices.Sorted(maps.Keys(z.Members)) {
		switch {
		case slices.Contains(known, name) && name != "node_names", graphfile.MaskMember(name) >= 0:
		case name != "node_names":
			l.Notef("member %.80q: left out", name)
		case l.IDs == nil:
			l.Notef("member %.80q: left out: it holds Python objects, which only running a pickle could read", name)
		}
	}
}

// names reads text; nil if missing or of Python objects, as names are optional.
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

// dense reads [rows, width] in either order.
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

// rowOffsets checks that indptr ascends from 0 to entries.
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

// npzPairs streams pairs from an npz, so they need not be in memory. An error ends the sequence and stays in err.
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

// weigh drops pairs whose weight is 0, if the member holds numbers.
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
