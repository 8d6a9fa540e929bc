package datasets

import (
	"fmt"
	"math"
	"slices"

	"nodemask/csr"
)

// FromDense makes a dense matrix of rows that are width wide, from row-major values.
func FromDense(values []float32, width int) (Features, error) {
	if width < 1 || len(values)%width != 0 {
		return Features{}, fmt.Errorf("datasets: %d values do not make rows of %d", len(values), width)
	}
	return Features{Rows: len(values) / width, Width: width, Dense: values}, nil
}

// NonZeros is the number of stored entries: of a dense matrix, those that are not zero.
func (f Features) NonZeros() int64 {
	if f.IsSparse() {
		return int64(len(f.Values))
	}
	count := int64(0)
	for _, value := range f.Dense {
		if value != 0 {
			count++
		}
	}
	return count
}

// Row writes row v as Width numbers into into, which is grown if needed, and returns it.
func (f Features) Row(v int, into []float32) []float32 {
	if !f.IsSparse() {
		return append(into[:0], f.Dense[v*f.Width:(v+1)*f.Width]...)
	}
	into = slices.Grow(into[:0], f.Width)[:f.Width]
	clear(into)
	for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
		into[f.Columns[i]] = f.Values[i]
	}
	return into
}

// Select is the matrix of the given rows, in their order.
func (f Features) Select(rows []int32) Features {
	out := Features{Rows: len(rows), Width: f.Width}
	if !f.IsSparse() {
		out.Dense = make([]float32, 0, len(rows)*f.Width)
		for _, v := range rows {
			out.Dense = append(out.Dense, f.Dense[int(v)*f.Width:(int(v)+1)*f.Width]...)
		}
		return out
	}
	out.Offsets = make([]int64, len(rows)+1)
	for i, v := range rows {
		out.Offsets[i+1] = out.Offsets[i] + f.Offsets[v+1] - f.Offsets[v]
	}
	out.Columns = make([]int32, 0, out.Offsets[len(rows)])
	out.Values = make([]float32, 0, out.Offsets[len(rows)])
	for _, v := range rows {
		out.Columns = append(out.Columns, f.Columns[f.Offsets[v]:f.Offsets[v+1]]...)
		out.Values = append(out.Values, f.Values[f.Offsets[v]:f.Offsets[v+1]]...)
	}
	return out
}

// RowNormalized is the matrix with each row divided by its sum. A row whose sum is zero stays as it is.
func (f Features) RowNormalized() Features {
	divide := func(row []float32) {
		sum := 0.0
		for _, value := range row {
			sum += float64(value)
		}
		if sum == 0 {
			return
		}
		for i := range row {
			row[i] = float32(float64(row[i]) / sum)
		}
	}
	if !f.IsSparse() {
		f.Dense = slices.Clone(f.Dense)
		for v := range f.Rows {
			divide(f.Dense[v*f.Width : (v+1)*f.Width])
		}
		return f
	}
	f.Values = slices.Clone(f.Values)
	for v := range f.Rows {
		divide(f.Values[f.Offsets[v]:f.Offsets[v+1]])
	}
	return f
}

// Check returns an error that names the row if the matrix is not what its fields promise, or holds a value that is not
// a finite number.
func (f Features) Check() error {
	if f.Rows < 0 || f.Width < 0 {
		return fmt.Errorf("datasets: features of %d rows and %d columns", f.Rows, f.Width)
	}
	finite := func(value float32) bool { return !math.IsNaN(float64(value)) && !math.IsInf(float64(value), 0) }
	if !f.IsSparse() {
		if len(f.Dense) != f.Rows*f.Width {
			return fmt.Errorf("datasets: %d dense features: expected %d rows of %d", len(f.Dense), f.Rows, f.Width)
		}
		for i, value := range f.Dense {
			if !finite(value) {
				return fmt.Errorf("datasets: node %d: feature %d is %v: expected a finite number", i/f.Width, i%f.Width, value)
			}
		}
		return nil
	}
	if f.Dense != nil || len(f.Offsets) != f.Rows+1 || len(f.Columns) != len(f.Values) ||
		f.Offsets[0] != 0 || f.Offsets[f.Rows] != int64(len(f.Values)) {
		return fmt.Errorf("datasets: sparse features of %d rows: %d offsets, %d columns and %d values do not fit together",
			f.Rows, len(f.Offsets), len(f.Columns), len(f.Values))
	}
	for v := range f.Rows {
		if f.Offsets[v] > f.Offsets[v+1] || f.Offsets[v+1] > int64(len(f.Values)) {
			return fmt.Errorf("datasets: node %d: features run from %d to %d of %d", v, f.Offsets[v], f.Offsets[v+1], len(f.Values))
		}
		last := int32(-1)
		for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
			c := f.Columns[i]
			if c <= last || int(c) >= f.Width {
				return fmt.Errorf("datasets: node %d: feature %d after %d: expected ascending columns below %d", v, c, last, f.Width)
			}
			if !finite(f.Values[i]) {
				return fmt.Errorf("datasets: node %d: feature %d is %v: expected a finite number", v, c, f.Values[i])
			}
			last = c
		}
	}
	return nil
}

// Check returns an error if the parts of the graph do not fit together: as many features, labels and names as nodes,
// labels that are classes, edges in both directions, finite features.
func (g *Graph) Check() error {
	n := g.NumNodes()
	if _, err := csr.New(g.Edges.Offsets, g.Edges.Targets); err != nil {
		return err
	}
	if !g.Edges.IsSymmetric() {
		return fmt.Errorf("datasets: %s: an edge is stored in one direction only: expected an undirected graph", g.Name)
	}
	if g.Features.Rows != n || len(g.Labels) != n || g.NodeIDs != nil && len(g.NodeIDs) != n {
		return fmt.Errorf("datasets: %s: %d nodes, %d rows of features, %d labels and %d names: expected as many of each",
			g.Name, n, g.Features.Rows, len(g.Labels), len(g.NodeIDs))
	}
	for v, label := range g.Labels {
		if label != Unlabelled && (label < 0 || int(label) >= g.NumClasses()) {
			return fmt.Errorf("datasets: %s: node %d has label %d: expected 0 to %d, or %d for none", g.Name, v, label, g.NumClasses()-1, Unlabelled)
		}
	}
	return g.Features.Check()
}
