package datasets

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
)

// Features is a float32 matrix [Rows, Width]. Exactly one of Dense and Offsets is set; if Rows is 0, neither is needed.
type Features struct {
	Rows, Width int
	Dense       []float32 // row-major [Rows·Width]; nil if sparse
	Offsets     []int64   // [Rows+1]: row v's nonzeros are at Columns[Offsets[v]:Offsets[v+1]]; nil if dense
	Columns     []int32   // strictly ascending within a row
	Values      []float32 // Values[i] is in column Columns[i]
}

// IsSparse reports whether only nonzeros are stored.
func (f Features) IsSparse() bool { return f.Offsets != nil }

// Density returns the share of nonzeros; 1 if f is stored dense.
func (f Features) Density() float64 {
	if !f.IsSparse() || f.Rows == 0 || f.Width == 0 {
		return 1
	}
	return float64(f.NonZeros()) / float64(f.Rows) / float64(f.Width)
}

// NonZeros returns the number of nonzero values, stored dense or sparse.
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

// Row returns row v as a dense slice of length Width, in buffer if that has the capacity. It panics if v is out of
// range.
func (f Features) Row(v int, buffer []float32) []float32 {
	if cap(buffer) < f.Width {
		buffer = make([]float32, f.Width)
	}
	buffer = buffer[:f.Width]
	if !f.IsSparse() {
		copy(buffer, f.Dense[v*f.Width:(v+1)*f.Width])
		return buffer
	}
	clear(buffer)
	for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
		buffer[f.Columns[i]] = f.Values[i]
	}
	return buffer
}

// Select returns copies of the nodes' rows, [len(nodes), Width], dense or sparse as f is. Nodes may repeat; Select
// panics if one is out of range.
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

// Append adds the rows of the parameter other below the rows of f. Both must be sparse, or both dense.
func (f *Features) Append(other Features) {
	if f.IsSparse() {
		for _, end := range other.Offsets[1:] {
			f.Offsets = append(f.Offsets, f.Offsets[f.Rows]+end)
		}
	}
	f.Rows += other.Rows
	f.Dense = append(f.Dense, other.Dense...)
	f.Columns, f.Values = append(f.Columns, other.Columns...), append(f.Values, other.Values...)
}

// Stored returns f in sparse or dense storage. It copies f only to convert it.
func (f Features) Stored(sparse bool) Features {
	switch {
	case sparse == f.IsSparse():
		return f
	case sparse:
		return f.toSparse()
	}
	listed := graphfile.Features(f)
	return Features(listed.ToDense())
}

// Rearranged returns f with its columns permuted: column i is f's column from[i].
func (f Features) Rearranged(from []int32) Features {
	g := Features{Rows: f.Rows, Width: f.Width}
	if !f.IsSparse() {
		g.Dense = make([]float32, 0, len(f.Dense))
		for v := range f.Rows {
			for _, c := range from {
				g.Dense = append(g.Dense, f.Dense[v*f.Width+int(c)])
			}
		}
		return g
	}
	to := make([]int32, len(from))
	for i, c := range from {
		to[c] = int32(i)
	}
	for _, c := range f.Columns {
		g.Columns = append(g.Columns, to[c])
	}
	g.Offsets, g.Values = slices.Clone(f.Offsets), slices.Clone(f.Values)
	listed := graphfile.Features(g)
	listed.Sort()
	return Features(listed)
}

func (f Features) toSparse() Features {
	room := f.NonZeros()
	s := Features{Rows: f.Rows, Width: f.Width, Offsets: make([]int64, 1, f.Rows+1), Columns: make([]int32, 0, room),
		Values: make([]float32, 0, room)}
	for v := range f.Rows {
		for c, x := range f.Dense[v*f.Width : (v+1)*f.Width] {
			if x != 0 {
				s.Columns, s.Values = append(s.Columns, int32(c)), append(s.Values, x)
			}
		}
		s.Offsets = append(s.Offsets, int64(len(s.Values)))
	}
	return s
}

// Matrix returns the features as a sparse matrix; it copies dense features.
func (f Features) Matrix() csr.Matrix {
	f = f.Stored(true)
	return csr.Matrix{Rows: f.Rows, Columns: f.Width, Offsets: f.Offsets, Indices: f.Columns, Values: f.Values}
}

// RowNormalized divides each row by the sum of its absolute values, because a sum of signed values may be nearly zero.
// Rows of zeros stay zero. If f is sparse, the result shares its Offsets and Columns.
func (f Features) RowNormalized() Features {
	if !f.IsSparse() {
		f.Dense = append([]float32{}, f.Dense...)
		for v := range f.Rows {
			normalizeRow(f.Dense[v*f.Width : (v+1)*f.Width])
		}
		return f
	}
	f.Values = append([]float32{}, f.Values...)
	for v := range f.Rows {
		normalizeRow(f.Values[f.Offsets[v]:f.Offsets[v+1]])
	}
	return f
}

func normalizeRow(row []float32) {
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

// RowHashes returns a 64-bit hash for each row. Equal rows have equal hashes, whether stored dense or sparse.
func (f Features) RowHashes() []uint64 {
	hashes := make([]uint64, f.Rows)
	var number [8]byte
	for v := range hashes {
		h := fnv.New64a()
		put := func(column int, x float32) {
			if x == 0 {
				return
			}
			binary.LittleEndian.PutUint32(number[:4], uint32(column))
			binary.LittleEndian.PutUint32(number[4:], math.Float32bits(x))
			h.Write(number[:])
		}
		f.eachIn(v, put)
		hashes[v] = h.Sum64()
	}
	return hashes
}

func (f Features) eachIn(v int, entry func(column int, x float32)) {
	if !f.IsSparse() {
		for c, x := range f.Dense[v*f.Width : (v+1)*f.Width] {
			entry(c, x)
		}
		return
	}
	for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
		entry(int(f.Columns[i]), f.Values[i])
	}
}

// Check returns an error, with row and column, for slices of wrong length, columns out of order or range, and values
// that are not finite.
func (f Features) Check() error {
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
			return fmt.Errorf("features: %d values for shape [%d, %d]: expected %d",
				len(f.Dense), f.Rows, f.Width, int64(f.Rows)*int64(f.Width))
		}
		return nil
	}
	switch {
	case f.Dense != nil:
		return fmt.Errorf("features: both dense values and offsets: expected one of the two")
	case len(f.Offsets) != f.Rows+1:
		return fmt.Errorf("features: %d offsets for %d rows: expected %d", len(f.Offsets), f.Rows, f.Rows+1)
	case len(f.Columns) != len(f.Values):
		return fmt.Errorf("features: %d columns beside %d values: expected equally many", len(f.Columns), len(f.Values))
	case f.Offsets[0] != 0 || f.Offsets[f.Rows] != int64(len(f.Columns)):
		return fmt.Errorf("features: offsets run from %d to %d: expected 0 to %d, the number of nonzeros",
			f.Offsets[0], f.Offsets[f.Rows], len(f.Columns))
	}
	return nil
}

func finite(x float32) bool { return x-x == 0 }
