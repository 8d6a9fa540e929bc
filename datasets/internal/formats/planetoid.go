package formats

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
	"nodemask/datasets/internal/pickle"
)

// Planetoid returns the graph of Planetoid's files, keyed by the ends of their names, such as "allx". The caller must
// have checked their published checksums.
//
// Node v is row i of tx if line i of test.index is v, else row v of allx. A node may have neither row, and so no
// features and label.
func Planetoid(ctx context.Context, files map[string][]byte) (*graphfile.Graph, error) {
	values := map[string]any{}
	for _, part := range []string{"allx", "ally", "tx", "ty", "graph"} {
		var err error
		if values[part], err = pickle.Read(files[part], func(int64) error { return nil }); err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
	}
	all, err := csrMatrix(ctx, values["allx"])
	if err != nil {
		return nil, err
	}
	test, err := csrMatrix(ctx, values["tx"])
	if err != nil {
		return nil, err
	}
	lists, ok := values["graph"].(*pickle.Dict)
	labels, ok2 := values["ally"].(*numpy.Array)
	testLabels, ok3 := values["ty"].(*numpy.Array)
	if !ok || !ok2 || !ok3 {
		return nil, fmt.Errorf("graph, ally and ty hold %s, %s and %s: expected a dictionary and two arrays",
			pickle.Describe(values["graph"]), pickle.Describe(values["ally"]), pickle.Describe(values["ty"]))
	}
	g := &graphfile.Graph{Nodes: len(lists.Entries), Features: graphfile.Features{Width: all.Width, Offsets: []int64{0}}}
	for c := range labels.Shape[1] {
		g.Classes = append(g.Classes, strconv.FormatInt(c, 10))
	}
	add := func(f *graphfile.Features, labels *numpy.Array, row int) {
		begin, end := f.Offsets[row], f.Offsets[row+1]
		g.Features.Columns = append(g.Features.Columns, f.Columns[begin:end]...)
		g.Features.Values = append(g.Features.Values, f.Values[begin:end]...)
		label := graphfile.Unlabelled
		for c := range labels.Shape[1] {
			if labels.Int(int64(row), c) == 1 {
				label = int32(c)
			}
		}
		g.Labels = append(g.Labels, label)
	}
	rows := map[int]int{}
	for row, line := range strings.Fields(string(files["test.index"])) {
		node, _ := strconv.Atoi(line)
		rows[node] = row
	}
	for v := range g.Nodes {
		if row, ok := rows[v]; ok {
			add(test, testLabels, row)
		} else if v < all.Rows {
			add(all, labels, v)
		} else {
			g.Labels = append(g.Labels, graphfile.Unlabelled)
		}
		g.Features.Offsets = append(g.Features.Offsets, int64(len(g.Features.Columns)))
	}
	// The neighbour lists hold each pair at both nodes and each self-loop twice.
	var pairs []csr.Edge
	for _, e := range lists.Entries {
		v, _ := e.Key.(int64)
		list, _ := e.Value.(*pickle.List)
		loops := 0
		for _, item := range list.Items {
			u, _ := item.(int64)
			if u == v {
				loops++
			}
			if u > v || u == v && loops%2 == 1 {
				pairs = append(pairs, csr.Edge{Node: int32(v), Neighbour: int32(u)})
			}
		}
	}
	g.Pairs = graphfile.List(pairs)
	return g, nil
}

func csrMatrix(ctx context.Context, value any) (*graphfile.Features, error) {
	var state *pickle.Dict
	if object, ok := value.(*pickle.Object); ok {
		state = object.State
	}
	shape, _ := state.Get("_shape").(pickle.Tuple)
	indptr, ok := state.Get("indptr").(*numpy.Array)
	indices, ok2 := state.Get("indices").(*numpy.Array)
	data, ok3 := state.Get("data").(*numpy.Array)
	if len(shape) != 2 || !ok || !ok2 || !ok3 {
		return nil, fmt.Errorf("%s: expected a scipy CSR matrix", pickle.Describe(value))
	}
	rows, _ := shape[0].(int64)
	width, _ := shape[1].(int64)
	g := graphOfArrays{Graph: &graphfile.Graph{Nodes: int(rows)}, ctx: ctx, take: func(int64) error { return nil }}
	err := g.sparse(indptr, indices, data, width)
	return &g.Features, err
}
