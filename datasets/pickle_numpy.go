package datasets

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"
)

// The globals a pickle may name, under the module names of Python 2 and 3 and of older and newer numpy and scipy.
// call and build below are all that they can do.
const (
	globalArray       pickleGlobal = "numpy ndarray"
	globalType        pickleGlobal = "numpy dtype"
	globalReconstruct pickleGlobal = "numpy _reconstruct"
	globalScalar      pickleGlobal = "numpy scalar"
	globalMatrix      pickleGlobal = "scipy csr_matrix"
	globalDefaultDict pickleGlobal = "collections defaultdict"
	globalList        pickleGlobal = "list"
	globalEncode      pickleGlobal = "_codecs encode"
	globalNewObject   pickleGlobal = "copyreg _reconstructor"
	globalObject      pickleGlobal = "object"
)

func (p *unpickler) global(module, name []byte) pickleGlobal {
	if len(module)+len(name) > 128 {
		p.fail("the name of a global has %d characters: expected at most 128", len(module)+len(name))
	}
	switch string(module) + " " + string(name) {
	case "numpy ndarray":
		return globalArray
	case "numpy dtype":
		return globalType
	case "numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct":
		return globalReconstruct
	case "numpy.core.multiarray scalar", "numpy._core.multiarray scalar":
		return globalScalar
	case "scipy.sparse.csr csr_matrix", "scipy.sparse._csr csr_matrix":
		return globalMatrix
	case "collections defaultdict":
		return globalDefaultDict
	case "__builtin__ list", "builtins list":
		return globalList
	case "_codecs encode":
		return globalEncode
	case "copy_reg _reconstructor", "copyreg _reconstructor":
		return globalNewObject
	case "__builtin__ object", "builtins object":
		return globalObject
	}
	p.fail("the pickle asks for %q from %q, which graph files do not use and this reader will not run", name, module)
	return ""
}

// pickleType is a numpy dtype of plain numbers.
type pickleType struct {
	kind  byte // 'b' boolean, 'i' signed, 'u' unsigned, 'f' floating
	size  int  // bytes
	order binary.ByteOrder
}

// pickleArray is a numpy array in C order. Its numbers stay in the file's memory until they are read.
type pickleArray struct {
	shape []int
	dtype *pickleType // nil until built
	data  []byte
}

// pickleMatrix is a scipy CSR matrix, as its attributes.
type pickleMatrix struct{ state *pickleDict }

func (p *unpickler) call(callee, arguments any) any {
	f, ok := callee.(pickleGlobal)
	args, ok2 := arguments.(pickleTuple)
	if !ok || !ok2 {
		p.fail("%s is called with %s: expected a global and a tuple", pickleKind(callee), pickleKind(arguments))
	}
	arg := func(i int) any {
		if i < len(args) {
			return args[i]
		}
		return pickleNone{}
	}
	switch {
	case f == globalReconstruct && arg(0) == globalArray:
		return &pickleArray{}
	case f == globalType:
		return p.newType(arg(0))
	case f == globalScalar && len(args) == 2:
		return p.scalar(args[0], args[1])
	case f == globalMatrix && len(args) == 0, f == globalNewObject && arg(0) == globalMatrix:
		return &pickleMatrix{}
	case f == globalDefaultDict && len(args) == 1 && args[0] == globalList:
		return &pickleDict{}
	case f == globalList && len(args) == 0:
		return &pickleList{}
	case f == globalEncode && len(args) == 2:
		return p.latin1(args[0], args[1])
	}
	p.fail("%s is called with arguments that graph files do not use", f)
	return nil
}

func (p *unpickler) build(object, state any) {
	switch o := object.(type) {
	case *pickleType:
		p.buildType(o, state)
		return
	case *pickleArray:
		if o.dtype != nil {
			p.fail("an array is filled twice")
		}
		p.buildArray(o, state)
		return
	case *pickleMatrix:
		if dict, ok := state.(*pickleDict); ok && o.state == nil {
			o.state = dict
			return
		}
	}
	p.fail("%s is given the state %s: expected an array, a dtype or a matrix, and its state", pickleKind(object), pickleKind(state))
}

// newType reads a dtype's name, such as "f4".
func (p *unpickler) newType(name any) *pickleType {
	s, _ := name.(pickleString)
	switch string(s) {
	case "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8":
		return &pickleType{kind: s[0], size: int(s[1] - '0'), order: binary.LittleEndian}
	}
	p.fail("a dtype %.20q: expected integers, floating numbers or booleans of 1 to 8 bytes", s)
	return nil
}

// buildType reads a dtype's state, of which only the byte order matters for plain numbers.
func (p *unpickler) buildType(t *pickleType, state any) {
	s, _ := state.(pickleTuple)
	if len(s) < 2 {
		p.fail("a dtype's state is %s: expected a tuple of at least 2", pickleKind(state))
	}
	switch order, _ := s[1].(pickleString); string(order) {
	case "<", "|", "=":
		t.order = binary.LittleEndian
	case ">":
		t.order = binary.BigEndian
	default:
		p.fail("a byte order %.20q: expected <, > or |", order)
	}
}

// buildArray reads an array's state: version, shape, dtype, whether it is in Fortran's order, and the numbers' bytes.
func (p *unpickler) buildArray(a *pickleArray, state any) {
	s, _ := state.(pickleTuple)
	if len(s) != 5 {
		p.fail("an array's state is %s: expected a tuple of 5", pickleKind(state))
	}
	shape, ok := s[1].(pickleTuple)
	dtype, ok2 := s[2].(*pickleType)
	fortran, ok3 := s[3].(bool)
	if n, isInt := s[3].(int64); isInt { // protocols 0 and 1 of Python 2
		fortran, ok3 = n != 0, n == 0 || n == 1
	}
	data, ok4 := s[4].(pickleString)
	if !ok || !ok2 || !ok3 || !ok4 || len(shape) > 2 {
		p.fail("an array's state holds %s, %s, %s and %s: expected a shape of at most 2 sizes, a dtype, a boolean and a string",
			pickleKind(s[1]), pickleKind(s[2]), pickleKind(s[3]), pickleKind(s[4]))
	}
	if fortran && len(shape) > 1 {
		p.fail("an array in Fortran's order: expected C's")
	}
	numbers := int64(1)
	a.shape = make([]int, len(shape))
	for i, size := range shape {
		n, ok := size.(int64)
		if !ok || n < 0 || n > maxPickle {
			p.fail("an array's size %d is %s (%d): expected 0 to %d", i, pickleKind(size), n, maxPickle)
		}
		a.shape[i] = int(n)
		numbers *= n
	}
	if numbers*int64(dtype.size) != int64(len(data)) {
		p.fail("an array of shape %v, %d bytes a number, has %d bytes of numbers: expected %d", a.shape, dtype.size, len(data), numbers*int64(dtype.size))
	}
	kept := *dtype // a later BUILD must not change the array
	a.dtype, a.data = &kept, data
}

// scalar reads a numpy number.
func (p *unpickler) scalar(dtype, data any) any {
	t, ok := dtype.(*pickleType)
	s, ok2 := data.(pickleString)
	if !ok || !ok2 || len(s) != t.size {
		p.fail("a numpy number made of %s and %s: expected a dtype and a string of its size", pickleKind(dtype), pickleKind(data))
	}
	if t.kind == 'f' {
		return t.float(s)
	}
	return t.int(s)
}

// latin1 is _codecs.encode(text, "latin1"), which is how Python 3 writes bytes in protocols 0 to 2.
func (p *unpickler) latin1(text, codec any) pickleString {
	s, ok := text.(pickleString)
	name, _ := codec.(pickleString)
	if !ok || string(name) != "latin1" {
		p.fail("_codecs.encode of %s as %.20q: expected a string as \"latin1\"", pickleKind(text), name)
	}
	p.spend(len(s)) // one kept string can be decoded over and over
	out := make(pickleString, 0, len(s))
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRune(s[i:])
		if r > 0xff {
			p.fail("_codecs.encode: character %U is not in Latin-1", r)
		}
		out = append(out, byte(r))
		i += width
	}
	return slices.Clip(out)
}

func (t *pickleType) bits(b []byte) uint64 {
	switch t.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(t.order.Uint16(b))
	case 4:
		return uint64(t.order.Uint32(b))
	}
	return t.order.Uint64(b)
}

// int reads an integer or boolean. A uint64 beyond int64 comes out negative, which no caller accepts.
func (t *pickleType) int(b []byte) int64 {
	n := t.bits(b)
	if t.kind == 'i' {
		free := 64 - 8*t.size
		return int64(n<<free) >> free
	}
	return int64(n)
}

// float reads any number.
func (t *pickleType) float(b []byte) float64 {
	switch {
	case t.kind != 'f':
		return float64(t.int(b))
	case t.size == 4:
		return float64(math.Float32frombits(uint32(t.bits(b))))
	}
	return math.Float64frombits(t.bits(b))
}

func (a *pickleArray) len() int { return len(a.data) / a.dtype.size }

func (a *pickleArray) at(i int) []byte { return a.data[i*a.dtype.size : (i+1)*a.dtype.size] }
