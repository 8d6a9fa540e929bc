package datasets

import "slices"

// sparseLimit is the share of nonzeros up to which features are stored sparse: half the memory of dense ones, as a
// nonzero takes a column and a value.
const sparseLimit = 0.25

// featureBuilder collects rows in the form that suits them: it starts sparse, and turns dense when the rows so far are
// mostly not zero.
type featureBuilder struct{ f Features }

func newFeatureBuilder(width int) *featureBuilder {
	return &featureBuilder{Features{Width: width, Offsets: []int64{0}}}
}

// Add copies a row of the builder's width.
func (b *featureBuilder) Add(row []float32) {
	f := &b.f
	f.Rows++
	if !f.IsSparse() {
		f.Dense = append(f.Dense, row...)
		return
	}
	for j, v := range row {
		if v != 0 {
			f.Columns = append(f.Columns, int32(j))
			f.Values = append(f.Values, v)
		}
	}
	f.Offsets = append(f.Offsets, int64(len(f.Values)))
	// Twice the limit: rows near it should not be turned to and fro.
	if f.Rows >= 64 && float64(len(f.Values)) > 2*sparseLimit*float64(f.Rows)*float64(f.Width) {
		*f = toDense(*f)
	}
}

// Finish returns the rows, sparse if at most sparseLimit of them is not zero.
func (b *featureBuilder) Finish() Features {
	f := b.f
	b.f = Features{}
	if f.IsSparse() {
		if float64(len(f.Values)) > sparseLimit*float64(f.Rows)*float64(f.Width) {
			return toDense(f)
		}
		f.Columns, f.Values, f.Offsets = slices.Clip(f.Columns), slices.Clip(f.Values), slices.Clip(f.Offsets)
		return f
	}
	nonzeros := 0
	for _, v := range f.Dense {
		if v != 0 {
			nonzeros++
		}
	}
	if float64(nonzeros) > sparseLimit*float64(len(f.Dense)) {
		return f
	}
	return toSparse(f, nonzeros)
}

// toSparse stores the nonzeros of dense rows; room says how many there are, if that is known.
func toSparse(f Features, room int) Features {
	s := Features{Rows: f.Rows, Width: f.Width, Offsets: make([]int64, 1, f.Rows+1), Columns: make([]int32, 0, room), Values: make([]float32, 0, room)}
	for i, v := range f.Dense {
		if v != 0 {
			s.Columns, s.Values = append(s.Columns, int32(i%f.Width)), append(s.Values, v)
		}
		if (i+1)%f.Width == 0 {
			s.Offsets = append(s.Offsets, int64(len(s.Values)))
		}
	}
	return s
}

func toDense(f Features) Features {
	d := Features{Rows: f.Rows, Width: f.Width, Dense: make([]float32, f.Rows*f.Width)}
	for v := range f.Rows {
		for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
			d.Dense[v*f.Width+int(f.Columns[i])] = f.Values[i]
		}
	}
	return d
}
