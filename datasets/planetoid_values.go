package datasets

import "fmt"

// This file turns a pickle's values into the parts of a graph.

// pickledFeatures reads a scipy CSR matrix, without the zeros it may store.
func pickledFeatures(v any) (Features, error) {
	m, ok := v.(*pickleMatrix)
	if !ok || m.state == nil {
		return Features{}, fmt.Errorf("%s: expected a scipy CSR matrix", pickleKind(v))
	}
	var shape pickleTuple
	arrays := map[string]*pickleArray{}
	for _, e := range m.state.entries {
		name, _ := e.key.(pickleString)
		switch string(name) {
		case "_shape":
			shape, _ = e.value.(pickleTuple)
		case "indptr", "indices", "data":
			a, ok := e.value.(*pickleArray)
			if !ok || a.dtype == nil || len(a.shape) != 1 {
				return Features{}, fmt.Errorf("the matrix's %s is %s: expected a numpy array of one dimension", name, pickleKind(e.value))
			}
			arrays[string(name)] = a
		}
	}
	indptr, indices, data := arrays["indptr"], arrays["indices"], arrays["data"]
	if len(shape) != 2 || indptr == nil || indices == nil || data == nil {
		return Features{}, fmt.Errorf("the matrix lacks a shape, indptr, indices or data: expected all four")
	}
	rows, ok := shape[0].(int64)
	width, ok2 := shape[1].(int64)
	if !ok || !ok2 || rows < 0 || width < 0 || width > maxWidth || rows != int64(indptr.len())-1 {
		return Features{}, fmt.Errorf("the matrix has %d rows, %d columns and an indptr of %d: expected one entry more than rows, and at most %d columns", rows, width, indptr.len(), maxWidth)
	}
	if indices.len() != data.len() {
		return Features{}, fmt.Errorf("the matrix has %d indices and %d values: expected as many", indices.len(), data.len())
	}
	if indptr.dtype.kind == 'f' || indices.dtype.kind == 'f' {
		return Features{}, fmt.Errorf("the matrix's indices are floating numbers: expected integers")
	}

	f := Features{Rows: int(rows), Width: int(width), Offsets: make([]int64, 1, rows+1)}
	f.Columns = make([]int32, 0, indices.len())
	f.Values = make([]float32, 0, indices.len())
	begin := int64(0)
	for v := range int(rows) + 1 {
		end := indptr.dtype.int(indptr.at(v))
		if end < begin || end > int64(indices.len()) || v == 0 && end != 0 {
			return Features{}, fmt.Errorf("row %d of the matrix ends at %d: expected %d to %d", v-1, end, begin, indices.len())
		}
		if v == 0 {
			continue
		}
		for i := begin; i < end; i++ {
			c := indices.dtype.int(indices.at(int(i)))
			if c < 0 || c >= width {
				return Features{}, fmt.Errorf("row %d of the matrix names column %d: expected 0 to %d", v-1, c, width-1)
			}
			if x := float32(data.dtype.float(data.at(int(i)))); x != 0 {
				f.Columns = append(f.Columns, int32(c))
				f.Values = append(f.Values, x)
			}
		}
		f.Offsets = append(f.Offsets, int64(len(f.Columns)))
		begin = end
	}
	if begin != int64(indices.len()) {
		return Features{}, fmt.Errorf("the matrix has %d values, but its rows end at %d", indices.len(), begin)
	}
	return f, f.check()
}

// pickledLabels reads a matrix [nodes, classes] with one 1 in each row, or none for a node without a label.
func pickledLabels(v any) (labels []int32, classes int, err error) {
	a, ok := v.(*pickleArray)
	if !ok || a.dtype == nil || len(a.shape) != 2 {
		return nil, 0, fmt.Errorf("%s: expected a numpy array of two dimensions", pickleKind(v))
	}
	classes = a.shape[1]
	// No columns would let a small file stand for any number of rows.
	if classes == 0 {
		return nil, 0, fmt.Errorf("labels of no classes: expected at least one")
	}
	labels = make([]int32, a.shape[0])
	for v := range labels {
		labels[v] = Unlabelled
		for c := range classes {
			switch x := a.dtype.float(a.at(v*classes + c)); {
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

// pickledNeighbours reads a dictionary from each node's number to the list of its neighbours'.
func pickledNeighbours(v any) ([][]int32, error) {
	dict, ok := v.(*pickleDict)
	if !ok {
		return nil, fmt.Errorf("%s: expected a dictionary of lists", pickleKind(v))
	}
	nodes := len(dict.entries)
	rows := make([][]int32, nodes)
	seen := make([]bool, nodes)
	total := 0
	for _, e := range dict.entries {
		node, ok := e.key.(int64)
		if !ok || node < 0 || node >= int64(nodes) {
			return nil, fmt.Errorf("node %s (%d): expected numbers from 0 to %d, one for each of the dictionary's keys", pickleKind(e.key), node, nodes-1)
		}
		if seen[node] {
			return nil, fmt.Errorf("node %d is there twice", node)
		}
		seen[node] = true
		list, ok := e.value.(*pickleList)
		if !ok {
			return nil, fmt.Errorf("node %d has %s: expected a list of neighbours", node, pickleKind(e.value))
		}
		// One list can stand behind many keys, so its length is not bounded by the file's.
		if total += len(list.items); total > maxPickle {
			return nil, fmt.Errorf("more than %d neighbours: expected fewer", maxPickle)
		}
		row := make([]int32, len(list.items))
		for i, item := range list.items {
			u, ok := item.(int64)
			if !ok || u < 0 || u >= int64(nodes) {
				return nil, fmt.Errorf("node %d lists %s (%d) as its neighbour: expected 0 to %d", node, pickleKind(item), u, nodes-1)
			}
			row[i] = int32(u)
		}
		rows[node] = row
	}
	return rows, nil
}
