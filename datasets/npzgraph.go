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

// adjacency reads the edges; call its result with the finished graph.
func (z npzReader) adjacency(l *graphfile.Graph, _ npzLayout) (func(*Graph), error) {
	rows, columns, err := z.shape("adj_shape")
	if err != nil {
		return nil, err
	}
	if rows != columns {
		return nil, z.Errorf("adj_shape: [%d, %d]: expected a square", rows, columns)
	}
	// The shape is a claim; indptr has one number per node.
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

// labels reads a class per node. Numbers index classNames if that exists.
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
			x, _ := strconv.ParseFloat(one[0], 64) // as written
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
		set := graphfile.MeaningOf(name).Set()
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
		case slices.Contains(known, name) && name != "node_names", graphfile.MeaningOf(name).Set() >= 0:
		case name != "node_names":
			l.Notef("member %.80q: left out", name)
		case l.IDs == nil:
			l.Notef("member %.80q: left out: it holds Python objects, which only running a pickle could read", name)
		}
	}
}

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
