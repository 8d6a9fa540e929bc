package formats

import (
	"context"
	"fmt"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
	"nodemask/internal/ended"
)

type graphOfArrays struct {
	*graphfile.Graph
	ctx    context.Context
	choice graphfile.Choice
	take   func(bytes int64) error
	array  func(name string) (a *numpy.Array, err error) // returns nil, nil if the array is missing
}

func (g *graphOfArrays) required(name, expected string) (*numpy.Array, error) {
	a, err := g.array(name)
	if a == nil && err == nil {
		err = fmt.Errorf("no %q: expected %s", name, expected)
	}
	return a, err
}

func (g *graphOfArrays) link(edges int64, ends func(i int64) (node, neighbour int64)) error {
	if err := g.take(8 * edges); err != nil {
		return err
	}
	for i := range edges {
		if i%(1<<20) == 0 && g.ctx.Err() != nil {
			return ended.Err(g.ctx)
		}
		v, u := ends(i)
		if most := int64(g.Nodes) - 1; min(v, u) < 0 || max(v, u) > most {
			return fmt.Errorf("edge %d joins nodes %d and %d: expected 0 to %d", i, v, u, most)
		}
	}
	g.Pairs = func(yield func(int32, int32) bool) {
		for i := range edges {
			if v, u := ends(i); !yield(int32(v), int32(u)) {
				return
			}
		}
	}
	return nil
}

// labels sets the nodes' classes from array a: [nodes] or [nodes, 1]. If names is not nil, it holds the names of
// classes 0, 1, and so on.
func (g *graphOfArrays) labels(a *numpy.Array, names []string) error {
	rows, columns, ok := a.Rows()
	if !ok || rows != int64(g.Nodes) || columns != 1 {
		return a.Errorf("shape %v: expected one class a node, [%d]", a.Shape, g.Nodes)
	}
	var index graphfile.Classes
	labels := make([]int32, rows)
	for v := range labels {
		text := a.Text(int64(v), 0)
		if a.Type.IsText() {
			labels[v] = index.Add(text)
		} else if labels[v], ok = index.AddNumber(text); !ok {
			return a.Errorf("node %d has label %s: expected a whole number, or NaN or -1 for none", v, text)
		}
	}
	g.SetLabels(&index, labels)
	if names == nil || a.Type.IsText() {
		return nil
	}
	if err := g.NameClasses(names); err != nil {
		return a.Errorf("%w", err)
	}
	return nil
}

func (g *graphOfArrays) dense(a *numpy.Array) error {
	rows, columns, ok := a.Rows()
	if !ok || rows != int64(g.Nodes) || columns > graphfile.MaxWidth || a.Type.IsText() {
		return a.Errorf("shape %v of %v: expected numbers [%d, width], a row for each node, and a width up to %d", a.Shape,
			a.Type, g.Nodes, graphfile.MaxWidth)
	}
	if err := g.take(4 * rows * columns); err != nil {
		return err
	}
	f := graphfile.Features{Rows: g.Nodes, Width: int(columns), Dense: make([]float32, rows*columns)}
	for v := range rows {
		if v%4096 == 0 && g.ctx.Err() != nil {
			return ended.Err(g.ctx)
		}
		row := f.Dense[v*columns : (v+1)*columns]
		for i := range row {
			var err error
			if row[i], err = graphfile.Float32(a.Float(v, int64(i))); err != nil {
				return a.Errorf("row %d, column %d: %w", v, i, err)
			}
		}
	}
	g.Features = f
	return nil
}

// sparse sets features from scipy's compressed sparse rows; repeated entries add up.
func (g *graphOfArrays) sparse(indptr, indices, data *numpy.Array, width int64) error {
	if width < 0 || width > graphfile.MaxWidth {
		return fmt.Errorf("features of width %d: expected at most %d", width, graphfile.MaxWidth)
	}
	offsets, err := g.rowsOf(indptr, indices)
	if err != nil {
		return err
	}
	if len(data.Shape) != 1 || data.Len() != indices.Len() || data.Type.IsText() {
		return data.Errorf("shape %v of %v: expected %d numbers", data.Shape, data.Type, indices.Len())
	}
	if err := g.take(8 * data.Len()); err != nil {
		return err
	}
	f := graphfile.Features{Rows: g.Nodes, Width: int(width), Offsets: offsets, Columns: make([]int32, data.Len()),
		Values: make([]float32, data.Len())}
	for i := range f.Columns {
		c := indices.Int(int64(i), 0)
		if c < 0 || c >= width {
			return indices.Errorf("element %d names column %d: expected 0 to %d", i, c, width-1)
		}
		f.Columns[i] = int32(c)
		if f.Values[i], err = graphfile.Float32(data.Float(int64(i), 0)); err != nil {
			return data.Errorf("element %d: %w", i, err)
		}
	}
	g.Features = f
	if row := g.Features.Sort(); row >= 0 {
		return data.Errorf("row %d: repeated entries add up to more than 32 bits hold", row)
	}
	return nil
}

func (g *graphOfArrays) rowsOf(indptr, indices *numpy.Array) ([]int64, error) {
	rows, entries := int64(g.Nodes), indices.Len()
	if err := whole(indices, entries); err != nil {
		return nil, err
	}
	if err := whole(indptr, rows+1); err != nil {
		return nil, err
	}
	if err := g.take(8 * (rows + 1)); err != nil {
		return nil, err
	}
	offsets := make([]int64, rows+1)
	for v := range offsets {
		if offsets[v] = indptr.Int(int64(v), 0); offsets[v] < offsets[max(v-1, 0)] {
			return nil, indptr.Errorf("element %d: %d after %d: expected ascending offsets", v, offsets[v], offsets[v-1])
		}
	}
	if offsets[0] != 0 || offsets[rows] != entries {
		return nil, indptr.Errorf("runs from %d to %d: expected 0 to %d, the number of entries", offsets[0], offsets[rows],
			entries)
	}
	return offsets, nil
}

func whole(a *numpy.Array, n int64) error {
	if len(a.Shape) != 1 || a.Shape[0] != n || !a.Type.IsWhole() {
		return a.Errorf("shape %v of %v: expected whole numbers [%d]", a.Shape, a.Type, n)
	}
	return nil
}

func (g *graphOfArrays) masks(names []string) error {
	var masks [3]*numpy.Array
	for _, name := range names {
		set := graphfile.MeaningOf(name).Set()
		if set < 0 || masks[set] != nil {
			continue
		}
		var err error
		if masks[set], err = g.array(name); err != nil {
			return err
		}
	}
	return g.SetMasks(masks, g.choice.Mask)
}
