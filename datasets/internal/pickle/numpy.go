package pickle

import (
	"encoding/binary"

	"nodemask/datasets/internal/numpy"
)

type global string

// Globals that a pickle may name, in all versions of Python, numpy and scipy. They do only what call and build do.
const (
	globalArray       global = "numpy ndarray"
	globalType        global = "numpy dtype"
	globalReconstruct global = "numpy _reconstruct"
	globalMatrix      global = "scipy csr_matrix"
	globalDefaultDict global = "collections defaultdict"
	globalList        global = "list"
)

var globals = map[string]global{
	"numpy ndarray": globalArray, "numpy dtype": globalType,
	"numpy.core.multiarray _reconstruct": globalReconstruct, "numpy._core.multiarray _reconstruct": globalReconstruct,
	"scipy.sparse.csr csr_matrix": globalMatrix, "scipy.sparse._csr csr_matrix": globalMatrix,
	"__builtin__ list": globalList, "builtins list": globalList,
	"collections defaultdict": globalDefaultDict,
}

// Array is a numpy array of numbers in C order, with at most two dimensions, in the file's memory.
type Array struct {
	Shape []int // nil: named, but never filled

	dtype numpy.Dtype
	data  []byte
}

// Matrix holds a scipy CSR matrix.
type Matrix struct{ state *Dict }

func (p *unpickler) callNumpy(callee any, args Tuple) any {
	arg := func(i int) any {
		if i < len(args) {
			return args[i]
		}
		return None{}
	}
	switch callee {
	case globalReconstruct:
		if arg(0) == globalArray {
			return &Array{}
		}
	case globalType:
		return p.newType(arg(0))
	case globalMatrix:
		if len(args) == 0 {
			return &Matrix{}
		}
	case globalDefaultDict:
		if len(args) == 1 && args[0] == globalList {
			return &Dict{}
		}
	}
	p.fail("%s is called with arguments that graph files do not use", Describe(callee))
	return nil
}

func (p *unpickler) build(object, state any) {
	switch o := object.(type) {
	case Unknown:
		return
	case *numpy.Dtype:
		p.buildType(o, state)
		return
	case *Array:
		if o.Shape != nil {
			p.fail("an array is filled twice")
		}
		p.buildArray(o, state)
		return
	case *Matrix:
		if dict, ok := state.(*Dict); ok && o.state == nil {
			o.state = dict
			return
		}
	case *Object:
		if dict, ok := state.(*Dict); ok && o.State == nil {
			o.State = dict
			return
		}
	}
	p.fail("%s is given the state %s: expected an object that has one, once, and its state",
		Describe(object), Describe(state))
}

func (p *unpickler) newType(name any) *numpy.Dtype {
	s, _ := name.(String)
	t, err := numpy.ParseDtype(string(s[:min(len(s), 32)]))
	if err != nil || t.IsText() {
		p.fail("a dtype %.20q: expected integers, floating numbers or booleans of 1 to 8 bytes", s)
	}
	return &t
}

// buildType reads a dtype's state; for plain numbers only the byte order matters.
func (p *unpickler) buildType(t *numpy.Dtype, state any) {
	s, _ := state.(Tuple)
	if len(s) < 2 {
		p.fail("a dtype's state is %s: expected a tuple of at least 2", Describe(state))
	}
	switch order, _ := s[1].(String); string(order) {
	case "<", "|", "=":
		t.Order = binary.LittleEndian
	case ">":
		t.Order = binary.BigEndian
	default:
		p.fail("a byte order %.20q: expected <, > or |", order)
	}
}

// buildArray reads an array's state: version, shape, dtype, Fortran order, bytes.
func (p *unpickler) buildArray(a *Array, state any) {
	s, _ := state.(Tuple)
	if len(s) != 5 {
		p.fail("an array's state is %s: expected a tuple of 5", Describe(state))
	}
	shape, ok := s[1].(Tuple)
	dtype, ok2 := s[2].(*numpy.Dtype)
	fortran, ok3 := s[3].(bool)
	data, ok4 := s[4].(String)
	if !ok || !ok2 || !ok3 || !ok4 || len(shape) > 2 {
		p.fail("an array's state holds %s, %s, %s and %s: expected a shape of at most 2 sizes, a dtype, a boolean and a "+
			"string",
			Describe(s[1]), Describe(s[2]), Describe(s[3]), Describe(s[4]))
	}
	if fortran && len(shape) > 1 {
		p.fail("an array in Fortran's order: expected C's")
	}
	numbers := int64(1)
	a.Shape = make([]int, len(shape))
	for i, size := range shape {
		n, ok := size.(int64)
		if !ok || n < 0 || n > MaxSize {
			p.fail("an array's size %d is %s (%d): expected 0 to %d", i, Describe(size), n, MaxSize)
		}
		a.Shape[i] = int(n)
		numbers *= n
	}
	if numbers*int64(dtype.Size) != int64(len(data)) {
		p.fail("an array of shape %v, %d bytes a number, has %d bytes of numbers: expected %d",
			a.Shape, dtype.Size, len(data), numbers*int64(dtype.Size))
	}
	a.dtype, a.data = *dtype, data
}

// Len returns the number of elements.
func (a *Array) Len() int {
	if len(a.data) == 0 {
		return 0
	}
	return len(a.data) / a.dtype.Size
}

// IsFloat reports whether the elements are floats.
func (a *Array) IsFloat() bool { return a.dtype.Kind == 'f' }

// Int returns element i, an integer or boolean; a uint64 beyond int64 comes out negative.
func (a *Array) Int(i int) int64 { return a.dtype.Int(a.data[i*a.dtype.Size:]) }

// Float returns element i as a float.
func (a *Array) Float(i int) float64 { return a.dtype.Float(a.data[i*a.dtype.Size:]) }

// Attribute returns the matrix's last attribute of a name ("_shape", "indptr", "indices", "data") or nil.
func (m *Matrix) Attribute(name string) any { return m.state.Get(name) }
