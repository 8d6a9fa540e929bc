package datasets

import (
	"fmt"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/pickle"
)

func pickledFeatures(v any) (Features, error) {
	m, ok := v.(*pickle.Matrix)
	if !ok {
		return Features{}, fmt.Errorf("%s: expected a scipy CSR matrix", pickle.Describe(v))
	}
	shape, ok := m.Attribute("_shape").(pickle.Tuple)
	if !ok || len(shape) != 2 {
		return Features{}, fmt.Errorf("the matrix's _shape is %s: expected a tuple of 2",
			pickle.Describe(m.Attribute("_shape")))
	}
	var arrays [3]*pickle.Array
	for i, name := range []string{"indptr", "indices", "data"} {
		if arrays[i], ok = m.Attribute(name).(*pickle.Array); !ok || len(arrays[i].Shape) != 1 {
			return Features{}, fmt.Errorf("the matrix's %s is %s: expected a numpy array of one dimension",
				name, pickle.Describe(m.Attribute(name)))
		}
	}
	indptr, indices, data := arrays[0], arrays[1], arrays[2]
	rows, ok := shape[0].(int64)
	width, ok2 := shape[1].(int64)
	if !ok || !ok2 || rows < 0 || width < 0 || width > graphfile.MaxWidth || rows != int64(indptr.Len())-1 {
		return Features{}, fmt.Errorf("the matrix has %d rows, %d columns and an indptr of %d: expected one entry more "+
			"than rows, and at most %d columns", rows, width, indptr.Len(), graphfile.MaxWidth)
	}
	if indices.Len() != data.Len() {
		return Features{}, fmt.Errorf("the matrix has %d indices and %d values: expected equally many",
			indices.Len(), data.Len())
	}
	if indptr.IsFloat() || indices.IsFloat() {
		return Features{}, fmt.Errorf("the matrix's indices are floating numbers: expected integers")
	}

	f := Features{Rows: int(rows), Width: int(width), Offsets: make([]int64, 1, rows+1)}
	f.Columns = make([]int32, 0, indices.Len())
	f.Values = make([]float32, 0, indices.Len())
	begin := indptr.Int(0)
	if begin != 0 {
		return Features{}, fmt.Errorf("the matrix's indptr starts at %d: expected 0", begin)
	}
	for v := range int(rows) {
		end := indptr.Int(v + 1)
		if end < begin || end > int64(indices.Len()) {
			return Features{}, fmt.Errorf("row %d of the matrix ends at %d: expected %d to %d", v, end, begin, indices.Len())
		}
		for i := begin; i < end; i++ {
			c := indices.Int(int(i))
			if c < 0 || c >= width {
				return Features{}, fmt.Errorf("row %d of the matrix names column %d: expected 0 to %d", v, c, width-1)
			}
			if x := float32(data.Float(int(i))); x != 0 {
				f.Columns = append(f.Columns, int32(c))
				f.Values = append(f.Values, x)
			}
		}
		f.Offsets = append(f.Offsets, int64(len(f.Columns)))
		begin = end
	}
	if begin != int64(indices.Len()) {
		return Features{}, fmt.Errorf("the matrix has %d values, but its rows end at %d", indices.Len(), begin)
	}
	return f, f.Check()
}

// pickledLabels reads one-hot labels [nodes, classes]; a row of zeros is unlabelled.
func pickledLabels(v any) (labels []int32, classes int, err error) {
	a, ok := v.(*pickle.Array)
	if !ok || len(a.Shape) != 2 {
		return nil, 0, fmt.Errorf("%s: expected a numpy array of two dimensions", pickle.Describe(v))
	}
	classes = a.Shape[1]
	// Without columns, a small file could claim any number of rows.
	if classes == 0 {
		return nil, 0, fmt.Errorf("labels of no classes: expected at least one")
	}
	labels = make([]int32, a.Shape[0])
	for v := range labels {
		labels[v] = Unlabelled
		for c := range classes {
			switch x := a.Float(v*classes + c); {
			case x == 0:
			case x == 1 && labels[v] == Unlabelled:
				labels[v] = int32(c)
			case x == 1:
				return nil, 0, fmt.Errorf("row %d has two labels, %d and %d: expected one", v, labels[v], c)
			default:
				return nil, 0, fmt.Errorf("row %d, column %d is %v: expected 0 or 1", v, c, x)
			}
		}
	}
	return labels, classes, nil
}

func pickledNeighbours(v any) ([][]int32, error) {
	dict, ok := v.(*pickle.Dict)
	if !ok {
		return nil, fmt.Errorf("%s: expected a dictionary of lists", pickle.Describe(v))
	}
	nodes := len(dict.Entries)
	rows := make([][]int32, nodes)
	seen := make([]bool, nodes)
	total := 0
	for _, e := range dict.Entries {
		node, ok := e.Key.(int64)
		if !ok || node < 0 || node >= int64(nodes) {
			return nil, fmt.Errorf("node %s (%d): expected numbers from 0 to %d, one for each of the dictionary's keys",
				pickle.Describe(e.Key), node, nodes-1)
		}
		if seen[node] {
			return nil, fmt.Errorf("node %d is there twice", node)
		}
		seen[node] = true
		list, ok := e.Value.(*pickle.List)
		if !ok {
			return nil, fmt.Errorf("node %d has %s: expected a list of neighbours", node, pickle.Describe(e.Value))
		}
		// Keys can share a list, so the file's length is no bound.
		if total += len(list.Items); total > maxPlanetoidFile {
			return nil, fmt.Errorf("more than %d neighbours: expected fewer", maxPlanetoidFile)
		}
		row := make([]int32, len(list.Items))
		for i, item := range list.Items {
			u, ok := item.(int64)
			if !ok || u < 0 || u >= int64(nodes) {
				return nil, fmt.Errorf("node %d lists %s (%d) as its neighbour: expected 0 to %d",
					node, pickle.Describe(item), u, nodes-1)
			}
			row[i] = int32(u)
		}
		rows[node] = row
	}
	return rows, nil
}
