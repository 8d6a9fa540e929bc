package pickle

import (
	"encoding/binary"
	"strings"

	"nodemask/datasets/internal/numpy"
)

// global is the name, without module, of a class or function that pickles may use.
type global string

var globals = map[string]global{
	"numpy ndarray": "ndarray", "numpy dtype": "dtype",
	"numpy.core.multiarray _reconstruct": "_reconstruct", "numpy._core.multiarray _reconstruct": "_reconstruct",
	"scipy.sparse.csr csr_matrix": "csr_matrix", "scipy.sparse._csr csr_matrix": "csr_matrix",
	"__builtin__ list": "list", "builtins list": "list", "collections defaultdict": "defaultdict",
	"collections OrderedDict": "OrderedDict", "torch Size": "Size",
	"torch._utils _rebuild_tensor_v2": "_rebuild_tensor_v2", "torch._utils _rebuild_parameter": "_rebuild_parameter",
	"torch_geometric.data.data Data": "Data", "torch_geometric.data.data DataEdgeAttr": "DataEdgeAttr",
	"torch_geometric.data.data DataTensorAttr":   "DataTensorAttr",
	"torch_geometric.data.storage GlobalStorage": "GlobalStorage",
}

func (p *unpickler) global(module, name []byte) any {
	if len(module)+len(name) > 128 {
		p.fail("the name of a global has %d characters: expected at most 128", len(module)+len(name))
	}
	if g, ok := globals[string(module)+" "+string(name)]; ok {
		return g
	}
	return Unknown{string(module), string(name)}
}

func (p *unpickler) call(callee, arguments any) any {
	args, ok := arguments.(Tuple)
	switch f, _ := callee.(global); {
	case !ok:
	case f == "":
		if unknown, ok := callee.(Unknown); ok {
			return unknown
		}
	case f == "_reconstruct":
		return &numpy.Array{}
	case f == "dtype" && len(args) > 0:
		name, _ := args[0].(String)
		if t, err := numpy.ParseDtype(string(name)); err == nil && !t.IsText() {
			return &t
		}
		return Unknown{"numpy", string(name)}
	case f == "defaultdict" && len(args) == 1 && args[0] == global("list"), f == "OrderedDict" && len(args) == 0:
		return &Dict{}
	case (f == "Size" || f == "_rebuild_parameter") && len(args) > 0:
		return args[0]
	case f == "_rebuild_tensor_v2" && len(args) >= 4:
		return p.tensor(args)
	case len(args) == 0 && (f == "csr_matrix" || strings.HasPrefix(string(f), "Data") || f == "GlobalStorage"):
		return &Object{Class: string(f)}
	}
	p.fail("%s is called with %s, which graph files do not do", Describe(callee), Describe(arguments))
	return nil
}

func (p *unpickler) build(object, state any) {
	switch o := object.(type) {
	case Unknown:
		return
	case *numpy.Dtype: // of a numeric dtype's state, only the byte order matters
		if s, _ := state.(Tuple); len(s) > 1 {
			if order, _ := s[1].(String); string(order) == ">" {
				o.Order = binary.BigEndian
			}
			return
		}
	case *numpy.Array:
		if s, _ := state.(Tuple); o.Shape == nil && len(s) == 5 {
			p.fill(o, s)
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

// fill sets an array from its pickled state: version, shape, dtype, Fortran order, bytes. Arrays of text or objects
// stay without shape.
func (p *unpickler) fill(a *numpy.Array, state Tuple) {
	dtype, ok := state[2].(*numpy.Dtype)
	fortran, ok2 := state[3].(bool)
	data, ok3 := state[4].(String)
	if !ok || !ok2 || !ok3 {
		return
	}
	filled, err := numpy.New("an array", *dtype, p.sizes(state[1]), fortran, data)
	if err != nil {
		p.fail("%w", err)
	}
	*a = *filled
}

func (p *unpickler) persistent(id any) *Storage {
	if t, _ := id.(Tuple); len(t) == 5 {
		kind, ok := t[1].(Unknown)
		key, ok2 := t[2].(String)
		elements, ok3 := t[4].(int64)
		if ok && ok2 && ok3 && len(key) <= 64 && elements >= 0 {
			return &Storage{strings.TrimSuffix(kind.Name, "Storage"), string(key), elements}
		}
	}
	p.fail("BINPERSID: %s: expected (\"storage\", type, key, device, elements)", Describe(id))
	return nil
}

// tensor imitates PyTorch's _rebuild_tensor_v2(storage, offset, shape, strides, …).
func (p *unpickler) tensor(args Tuple) *Tensor {
	s, ok := args[0].(*Storage)
	offset, ok2 := args[1].(int64)
	shape, strides := p.sizes(args[2]), p.sizes(args[3])
	if !ok || !ok2 || len(shape) != len(strides) {
		p.fail("a tensor of %s and %s, %d sizes and %d strides: expected a storage, an offset, and equally many",
			Describe(args[0]), Describe(args[1]), len(shape), len(strides))
	}
	return &Tensor{s, offset, shape, strides}
}

func (p *unpickler) sizes(v any) []int64 {
	t, ok := v.(Tuple)
	p.spend(8 * len(t))
	sizes := make([]int64, len(t))
	for i := range sizes {
		if sizes[i], ok = t[i].(int64); !ok {
			break
		}
	}
	if !ok || len(t) > maxDimensions {
		p.fail("a shape is %s: expected a tuple of at most %d numbers", Describe(v), maxDimensions)
	}
	return sizes
}
