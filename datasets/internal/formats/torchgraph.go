package formats

import (
	"cmp"
	"fmt"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/pickle"
	"nodemask/internal/ended"
)

func (f *torchFile) graph(fields *pickle.Dict) (*graphfile.Graph, error) {
	left, err := f.named(fields)
	if err != nil {
		return nil, err
	}
	g := &graphfile.Graph{Format: "PyTorch Geometric", Both: true}
	for _, note := range left {
		g.Notef("%s", note)
	}
	label := cmp.Or(f.choice.Label, "y")
	var tensors [3]*tensor
	for i, name := range []string{"edge_index", "x", label} {
		if tensors[i], err = f.tensor(fields, name); err != nil {
			return nil, err
		}
	}
	edges, x, y := tensors[0], tensors[1], tensors[2]
	if y == nil && f.choice.Label != "" {
		return nil, f.Errorf("no field %q: expected the classes there", label)
	}
	if edges == nil {
		return nil, f.Errorf("no field edge_index: expected a tensor [2, edges]")
	}
	if !edges.kind.whole() {
		return nil, f.Errorf("field %q is of type %s: expected whole numbers: save it after .long()", edges.field,
			edges.kind.name())
	}
	if len(edges.shape) == 2 && edges.shape[0] != 2 && edges.shape[1] == 2 {
		return nil, f.Errorf("field %q has shape %v: expected [2, edges]: save its .t().contiguous()", edges.field,
			edges.shape)
	}
	if len(edges.shape) != 2 || edges.shape[0] != 2 {
		return nil, f.Errorf("field %q has shape %v: expected whole numbers [2, edges]", edges.field, edges.shape)
	}
	if err := f.count(g, fields, edges, x, y); err != nil {
		return nil, err
	}
	if err := f.pairs(g, edges); err != nil {
		return nil, err
	}
	if err := f.features(g, x); err != nil {
		return nil, err
	}
	if err := f.labels(g, y); err != nil {
		return nil, err
	}
	return g, f.split(g, fields)
}

// count sets the number of nodes, on which all fields must agree.
func (f *torchFile) count(g *graphfile.Graph, fields *pickle.Dict, edges, x, y *tensor) error {
	var most int64 = -1
	for i := range edges.shape[1] {
		for end := range int64(2) {
			v := edges.index(end, i)
			if v < 0 || v >= graphfile.MaxNodes {
				return f.Errorf("edge_index: edge %d names node %d: expected 0 to %d", i, v, graphfile.MaxNodes-1)
			}
			most = max(most, v)
		}
	}
	nodes, source := int64(-1), ""
	for _, t := range []*tensor{x, y} {
		if t == nil || t.elements() == 0 { // an empty shape costs nothing, so it proves no node
			continue
		}
		if nodes >= 0 && t.shape[0] != nodes {
			return f.Errorf("field %q has %d rows, %s %d: expected one a node", t.field, t.shape[0], source, nodes)
		}
		nodes, source = t.shape[0], t.field
	}
	claimed, ok := fields.Get("num_nodes").(int64)
	if !ok { // PyTorch Geometric 1's name
		claimed, ok = fields.Get("__num_nodes__").(int64)
	}
	switch {
	case nodes >= 0 && ok && claimed != nodes:
		return f.Errorf("num_nodes is %d, but %s has %d rows: expected one a node", claimed, source, nodes)
	case nodes < 0:
		nodes, source = most+1, "the largest number in edge_index"
		if ok {
			nodes, source = claimed, "num_nodes"
		}
		if err := graphfile.ClaimError(source, nodes, int(edges.shape[1])); err != nil {
			return f.Errorf("%w", err)
		}
	}
	if most >= nodes {
		return f.Errorf("edge_index names node %d, but there are %d nodes (%s)", most, nodes, source)
	}
	if nodes == 0 || nodes > graphfile.MaxNodes {
		return f.Errorf("%d nodes: expected 1 to %d", nodes, graphfile.MaxNodes)
	}
	g.Nodes = int(nodes)
	return nil
}

// index returns an integer: float64 cannot hold them all.
func (t *tensor) index(i, j int64) int64 { return t.kind.Int(t.at(i, j)) }

func (f *torchFile) pairs(g *graphfile.Graph, edges *tensor) error {
	if err := f.Take(16 * edges.shape[1]); err != nil {
		return f.Errorf("edge_index: %w", err)
	}
	g.Pairs = make([]csr.Edge, edges.shape[1])
	for i := range g.Pairs {
		if i%(1<<20) == 0 && f.ctx.Err() != nil {
			return f.Errorf("%w", ended.Err(f.ctx))
		}
		// Row 1 aggregates from row 0, if directed.
		g.Pairs[i] = csr.Edge{Node: int32(edges.index(1, int64(i))), Neighbour: int32(edges.index(0, int64(i)))}
	}
	return nil
}

func (f *torchFile) features(g *graphfile.Graph, x *tensor) error {
	if x == nil {
		g.Notef("no field \"x\": the nodes have no features")
		return nil
	}
	rows, columns, ok := x.matrix()
	if ok && x.elements() == 0 && rows == int64(g.Nodes) {
		g.Notef("field \"x\" has shape %v: the nodes have no features", x.shape)
		return nil
	}
	if !ok || rows != int64(g.Nodes) || columns > graphfile.MaxWidth {
		return f.Errorf("field \"x\" has shape %v: expected [nodes, features], of at most %d features",
			x.shape, graphfile.MaxWidth)
	}
	g.Features.Width = int(columns)
	if err := f.Take(4 * rows * columns); err != nil {
		return f.Errorf("field \"x\": %w", err)
	}
	g.Features.Dense = make([]float32, rows*columns)
	for v := range rows {
		if v%4096 == 0 && f.ctx.Err() != nil {
			return f.Errorf("%w", ended.Err(f.ctx))
		}
		row := g.Features.Dense[v*columns : (v+1)*columns]
		for i := range row {
			var err error
			if row[i], err = graphfile.Float32(x.kind.float(x.at(v, int64(i)))); err != nil {
				return f.Errorf("field \"x\": row %d, column %d: %w", v, i, err)
			}
		}
	}
	return nil
}

func (f *torchFile) labels(g *graphfile.Graph, y *tensor) error {
	if y == nil {
		g.Notef("no field \"y\": the nodes have no classes")
		return nil
	}
	rows, columns, ok := y.matrix()
	if !ok || rows != int64(g.Nodes) || columns != 1 {
		return f.Errorf("field %q has shape %v: expected one class a node, [nodes] or [nodes, 1]", y.field, y.shape)
	}
	var index graphfile.Classes
	g.Labels = make([]int32, rows)
	for v := range g.Labels {
		label := y.kind.text(y.at(int64(v), 0))
		if g.Labels[v], ok = index.AddNumber(label); !ok {
			return f.Errorf("field %q: node %d has label %s: expected a whole number, or -1 for none", y.field, v, label)
		}
	}
	g.SetLabels(&index, g.Labels)
	return nil
}

func (f *torchFile) split(g *graphfile.Graph, fields *pickle.Dict) error {
	var masks [3]*graphfile.Mask
	for _, e := range fields.Entries {
		name, _ := e.Key.(pickle.String)
		set := graphfile.MeaningOf(string(name)).Set()
		if set < 0 || masks[set] != nil {
			continue
		}
		t, err := f.tensor(fields, string(name))
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		if _, _, ok := t.matrix(); !ok {
			return f.Errorf("field %q has shape %v: expected true or false for each of %d nodes", t.field, t.shape, g.Nodes)
		}
		masks[set] = &graphfile.Mask{What: fmt.Sprintf("field %q", t.field), Shape: t.shape, Type: t.kind.name(),
			Whole: t.kind.whole(), At: func(i, j int64) float64 { return t.kind.float(t.at(i, j)) }}
	}
	if err := g.SetMasks(masks, f.choice.Mask); err != nil {
		return f.Errorf("%w", err)
	}
	return nil
}
