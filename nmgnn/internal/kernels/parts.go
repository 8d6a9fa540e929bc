package kernels

import (
	"errors"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/csr"
)

func (p *parts) hasTransposed() bool { return p.options.Gradients && !p.options.Symmetric }

func (p *parts) needTransposed() {
	if !p.options.Gradients && !p.options.Symmetric {
		panic(errors.New("a product that was made without gradients has no transposed matrix"))
	}
}

// Rows returns the number of rows.
func (p *parts) Rows() int { return p.rows }

func (p *parts) position() *model.Variable {
	return p.Ints("position", 0, func(m csr.Matrix) []int32 {
		number := make([]int32, m.NumEntries())
		for i := range number {
			number[i] = int32(i)
		}
		return number
	})
}

// Replace makes compiled computations use m in place of the current matrix, and recomputes the variables that Ints
// and Floats returned. m must have as many rows, columns and entries as the current matrix; with [FusedKernel], m may
// have up to p.Slots() entries. Otherwise Replace returns [ErrNoFit]. gradients must be true if a computation with
// gradients follows.
func (p *parts) Replace(m csr.Matrix, gradients bool) error {
	if err := check(m); err != nil {
		return err
	}
	if m.Rows != p.matrix.Rows || m.Columns != p.matrix.Columns {
		return ErrNoFit
	}
	if err := p.replace(m); err != nil {
		return err
	}
	if gradients && p.hasTransposed() {
		transposed, from := m.Transpose()
		if err := p.adjoint.replace(transposed); err != nil {
			return err
		}
		p.from = from
		defer func() { p.from = nil }()
	}
	for _, v := range p.lazy {
		if v.backward && !gradients {
			continue
		}
		if err := v.renew(); err != nil {
			return err
		}
	}
	return nil
}

// transposedAt lists the entries in the transposed matrix's order, each as its index in the matrix's own list of
// entries: [entries+padding, 1]. Padding holds p.Slots().
func (p *parts) transposedAt() *model.Variable {
	return once(p, "transposed", p.adjoint, int32(p.Slots()), p.transposedFrom)
}

func (p *parts) transposedFrom(m csr.Matrix) []int32 {
	if p.from != nil {
		return p.from
	}
	_, from := m.Transpose()
	return from
}

func (p *parts) transposedValues() *model.Variable {
	return once(p, "value_transposed", p.adjoint, 0, func(m csr.Matrix) []float32 {
		values := make([]float32, m.NumEntries())
		for i, entry := range p.transposedFrom(m) {
			values[i] = m.Values[entry]
		}
		return values
	})
}

// transposed reorders the rows of e [entries+padding, width] into the transposed matrix's order of entries. The
// result has the same shape, with 0 in padding.
func (p *parts) transposed(e *Node) *Node {
	return Gather(padRows(e, p.Slots()+1), p.transposedAt().NodeValue(e.Graph()))
}

// Ints returns a variable [entries+padding, 1]: the numbers that compute returns, one per entry, then the argument
// fill in each padding slot. Later calls with this name return the same variable. Ints panics on failure.
func (p *parts) Ints(name string, fill int32, compute func(m csr.Matrix) []int32) *model.Variable {
	return once(p, name, p.pattern, fill, compute)
}

// Floats is like [parts.Ints], with 0 in each padding slot.
func (p *parts) Floats(name string, compute func(m csr.Matrix) []float32) *model.Variable {
	return once(p, name, p.pattern, 0, compute)
}

func once[T int32 | float32](p *parts, name string, direction *pattern, fill T,
	compute func(m csr.Matrix) []T) *model.Variable {
	if v, ok := p.lazy[name]; ok {
		return v.Variable
	}
	values := func() []T { return perSlot(direction, compute(p.matrix), fill) }
	into, data := NewConstants(p.constants.store, p.constants.path).Share(p.constants.shares), values()
	v := add(into, name, data, len(data), 1)
	if into.err != nil {
		panic(into.err)
	}
	p.lazy[name] = lazy{v, func() error { return overwrite(v, values()) }, direction == p.adjoint &&
		direction != p.pattern}
	return v
}
