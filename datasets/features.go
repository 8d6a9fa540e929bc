package datasets

import (
	"fmt"
	"math"

	"nodemask/csr"
)

// Row is row v as a dense slice [Width]. It is written into into if that has room, and a new slice otherwise. Row
// panics if there is no row v, as indexing a slice does.
func (f Features) Row(v int, into []float32) []float32 {
	if cap(into) < f.Width {
		into = make([]float32, f.Width)
	}
	into = into[:f.Width]
	if !f.IsSparse() {
		copy(into, f.Dense[v*f.Width:(v+1)*f.Width])
		return into
	}
	clear(into)
	for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
		into[f.Columns[i]] = f.Values[i]
	}
	return into
}

// NonZeros counts the entries that are not 0, whether the matrix is dense or sparse.
func (f Features) NonZeros() int64 {
	values := f.Dense
	if f.IsSparse() {
		values = f.Values
	}
	var n int64
	for _, x := range values {
		if x != 0 {
			n++
		}
	}
	return n
}

// Select is the matrix [len(nodes), Width] of the given rows, in that order; a row may be taken more than once. It is
// a copy, dense or sparse as f is. Select panics if there is no such row, as indexing a slice does.
func (f Features) Select(nodes []int32) Features {
	sub := Features{Rows: len(nodes), Width: f.Width}
	if !f.IsSparse() {
		sub.Dense = make([]float32, 0, len(nodes)*f.Width)
		for _, v := range nodes {
			sub.Dense = append(sub.Dense, f.Dense[int(v)*f.Width:(int(v)+1)*f.Width]...)
		}
		return sub
	}
	sub.Offsets = make([]int64, len(nodes)+1)
	for i, v := range nodes {
		sub.Offsets[i+1] = sub.Offsets[i] + f.Offsets[v+1] - f.Offsets[v]
	}
	sub.Columns = make([]int32, 0, sub.Offsets[len(nodes)])
	sub.Values = make([]float32, 0, sub.Offsets[len(nodes)])
	for _, v := range nodes {
		sub.Columns = append(sub.Columns, f.Columns[f.Offsets[v]:f.Offsets[v+1]]...)
		sub.Values = append(sub.Values, f.Values[f.Offsets[v]:f.Offsets[v+1]]...)
	}
	return sub
}

// Stored is f stored sparse or dense, as asked; f itself if it is already.
func (f Features) Stored(sparse bool) Features {
	switch {
	case sparse == f.IsSparse():
		return f
	case sparse:
		return toSparse(f, 0)
	}
	return toDense(f)
}

// RowNormalized is the matrix with each row divided by the sum of its absolute values, which for counts is its sum; a row
// of zeros stays as it is. Signed features, whose sum may be all but zero, keep their proportions. The values are a copy;
// a sparse result shares its offsets and columns with f.
func (f Features) RowNormalized() Features {
	if !f.IsSparse() {
		f.Dense = append([]float32{}, f.Dense...)
		for v := range f.Rows {
			normalize(f.Dense[v*f.Width : (v+1)*f.Width])
		}
		return f
	}
	f.Values = append([]float32{}, f.Values...)
	for v := range f.Rows {
		normalize(f.Values[f.Offsets[v]:f.Offsets[v+1]])
	}
	return f
}

func normalize(row []float32) {
	var sum float64
	for _, x := range row {
		sum += math.Abs(float64(x))
	}
	if sum == 0 {
		return
	}
	for i, x := range row {
		row[i] = float32(float64(x) / sum)
	}
}

// Check says whether f holds what [Features] promises: sizes that fit, columns strictly ascending and in range, and
// finite values. The error names the row and column of the first fault.
func (f Features) Check() error {
	if err := f.check(); err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	return nil
}

func (f Features) check() error {
	if err := f.checkShape(); err != nil {
		return err
	}
	if !f.IsSparse() {
		for i, x := range f.Dense {
			if !finite(x) {
				return fmt.Errorf("features: row %d, column %d is %v: expected a finite number", i/f.Width, i%f.Width, x)
			}
		}
		return nil
	}
	for v := range f.Rows {
		begin, end := f.Offsets[v], f.Offsets[v+1]
		if begin > end || end > int64(len(f.Columns)) {
			return fmt.Errorf("features: row %d runs from %d to %d of %d nonzeros", v, begin, end, len(f.Columns))
		}
		last := int32(-1)
		for i := begin; i < end; i++ {
			c := f.Columns[i]
			switch {
			case c < 0 || int(c) >= f.Width:
				return fmt.Errorf("features: row %d names column %d: expected 0 to %d", v, c, f.Width-1)
			case c <= last:
				return fmt.Errorf("features: row %d: column %d after %d: expected ascending columns without repeats", v, c, last)
			case !finite(f.Values[i]):
				return fmt.Errorf("features: row %d, column %d is %v: expected a finite number", v, c, f.Values[i])
			}
			last = c
		}
	}
	return nil
}

func (f Features) checkShape() error {
	if f.Rows < 0 || f.Width < 0 || f.Rows > math.MaxInt32 || f.Width > math.MaxInt32 {
		return fmt.Errorf("features: shape [%d, %d]: expected sizes from 0 to %d", f.Rows, f.Width, math.MaxInt32)
	}
	if !f.IsSparse() {
		if f.Columns != nil || f.Values != nil {
			return fmt.Errorf("features: columns or values without offsets: expected dense or sparse, not both")
		}
		if int64(len(f.Dense)) != int64(f.Rows)*int64(f.Width) {
			return fmt.Errorf("features: %d values for shape [%d, %d]: expected %d", len(f.Dense), f.Rows, f.Width, int64(f.Rows)*int64(f.Width))
		}
		return nil
	}
	switch {
	case f.Dense != nil:
		return fmt.Errorf("features: both dense values and offsets: expected one of the two")
	case len(f.Offsets) != f.Rows+1:
		return fmt.Errorf("features: %d offsets for %d rows: expected %d", len(f.Offsets), f.Rows, f.Rows+1)
	case len(f.Columns) != len(f.Values):
		return fmt.Errorf("features: %d columns beside %d values: expected as many", len(f.Columns), len(f.Values))
	case f.Offsets[0] != 0 || f.Offsets[f.Rows] != int64(len(f.Columns)):
		return fmt.Errorf("features: offsets run from %d to %d: expected 0 to %d, the number of nonzeros", f.Offsets[0], f.Offsets[f.Rows], len(f.Columns))
	}
	return nil
}

func finite(x float32) bool { return x-x == 0 }

// Check says whether g holds what [Graph] promises: sizes that agree, labels in range, edges stored in both rows,
// sound and finite features. The error names the first fault.
func (g *Graph) Check() error {
	if err := g.check(); err != nil {
		return fmt.Errorf("datasets: graph %q: %w", g.Name, err)
	}
	return nil
}

func (g *Graph) check() error {
	if g.Edges == nil {
		return fmt.Errorf("no edges: expected a graph, if only one without edges")
	}
	// A reader may have built the rows by hand, so look again.
	if _, err := csr.New(g.Edges.Offsets, g.Edges.Indices); err != nil {
		return err
	}
	nodes := g.NumNodes()
	switch {
	case !g.Edges.IsSymmetric():
		return fmt.Errorf("some edge is stored in one direction only: expected both")
	case g.Features.Rows != nodes:
		return fmt.Errorf("%d rows of features for %d nodes", g.Features.Rows, nodes)
	case len(g.Labels) != nodes:
		return fmt.Errorf("%d labels for %d nodes", len(g.Labels), nodes)
	case g.NodeIDs != nil && len(g.NodeIDs) != nodes:
		return fmt.Errorf("%d node names for %d nodes", len(g.NodeIDs), nodes)
	}
	for v, c := range g.Labels {
		if c != Unlabelled && (c < 0 || int(c) >= g.NumClasses()) {
			return fmt.Errorf("node %d has label %d: expected 0 to %d, or %d for none", v, c, g.NumClasses()-1, Unlabelled)
		}
	}
	return g.Features.check()
}
