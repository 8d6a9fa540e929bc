package pickle

import "strings"

// The values that PyTorch's pickles have beside those of values.go.
type (
	// Storage names the memory of tensors: a member of the file beside the pickle.
	Storage struct {
		Type     string // "Float"
		Key      string
		Elements int64
	}
	// Tensor is a view of a storage, as the pickle claims it: nothing of it is checked against the storage.
	Tensor struct {
		Storage        *Storage
		Offset         int64
		Shape, Strides []int64
	}
	// Object is an instance of one of PyTorch Geometric's classes, with its attributes.
	Object struct {
		Class string // "Data"
		State *Dict
	}
	// Class is a class that is named and not called.
	Class string
	// Unknown is what a class or function would make, or is, that this reader does not know: it is never run.
	Unknown struct{ Module, Name string }
)

// Advice says what to save in place of a value that is not known; "" if nothing is known.
func (u Unknown) Advice() string {
	switch {
	case u.Name == "HeteroData":
		return ". Save a graph of one type of nodes instead: data.to_homogeneous()"
	case strings.Contains(strings.ToLower(u.Module+u.Name), "sparse"):
		return ". Save dense tensors instead: x.to_dense(), and edge_index in place of adj_t"
	}
	return ""
}

// storage is the type of a storage: "Float".
type storage string

const (
	globalTensor  global = "torch._utils _rebuild_tensor_v2"
	globalOrdered global = "collections OrderedDict"
	globalSize    global = "torch Size"

	globalParameter global = "torch._utils _rebuild_parameter"
)

// maxDimensions of a tensor.
const maxDimensions = 8

// ReadTorch returns the one value that the pickle in a file of torch.save holds. It admits tensors, numbers, text,
// None, tuples, lists, dictionaries and PyTorch Geometric's Data; of all else, an [Unknown]. Errors are of type
// [*Error].
func ReadTorch(data []byte) (any, error) { return read(data, true) }

// torchGlobal returns what a GLOBAL of PyTorch stands for.
func (p *unpickler) torchGlobal(module, name string) any {
	switch module + " " + name {
	case "torch._utils _rebuild_tensor_v2":
		return globalTensor
	case "collections OrderedDict":
		return globalOrdered
	case "torch Size":
		return globalSize
	case "torch._utils _rebuild_parameter":
		return globalParameter
	case "torch FloatStorage", "torch DoubleStorage", "torch HalfStorage", "torch BFloat16Storage", "torch LongStorage",
		"torch IntStorage", "torch ShortStorage", "torch CharStorage", "torch ByteStorage", "torch BoolStorage":
		return storage(name[:len(name)-len("Storage")])
	case "torch_geometric.data.data Data", "torch_geometric.data.data DataEdgeAttr",
		"torch_geometric.data.data DataTensorAttr",
		"torch_geometric.data.storage GlobalStorage":
		return Class(name)
	}
	return Unknown{module, name}
}

// persistent is BINPERSID: ("storage", type, key, device, elements) names a storage.
func (p *unpickler) persistent(id any) *Storage {
	t, _ := id.(Tuple)
	if len(t) != 5 || !p.torch {
		p.fail("BINPERSID: %s: expected a tuple of 5 that names a storage", Describe(id))
	}
	word, _ := t[0].(String)
	kind, ok := t[1].(storage)
	if unknown, is := t[1].(Unknown); is { // a type of numbers that is not read
		kind, ok = storage(unknown.Name), true
	}
	key, ok2 := t[2].(String)
	elements, ok3 := t[4].(int64)
	if string(word) != "storage" || !ok || !ok2 || !ok3 || len(key) > 64 || elements < 0 {
		p.fail("BINPERSID: expected (\"storage\", type, key, device, elements); found %s, %s, %s and %s",
			Describe(t[0]), Describe(t[1]), Describe(t[2]), Describe(t[4]))
	}
	return &Storage{Type: string(kind), Key: string(key), Elements: elements}
}

// callTorch is REDUCE and NEWOBJ.
func (p *unpickler) callTorch(callee any, args Tuple) any {
	switch f := callee.(type) {
	case Class:
		if len(args) == 0 {
			return &Object{Class: string(f)}
		}
	case global:
		switch {
		case f == globalOrdered && len(args) == 0:
			return &Dict{}
		case (f == globalSize || f == globalParameter) && len(args) > 0:
			return args[0]
		case f == globalTensor && len(args) >= 4:
			return p.tensor(args)
		}
	}
	p.fail("%s is called with %d arguments, which a file of torch.save does not do", Describe(callee), len(args))
	return nil
}

// tensor is _rebuild_tensor_v2(storage, offset, shape, strides, …).
func (p *unpickler) tensor(args Tuple) *Tensor {
	s, ok := args[0].(*Storage)
	offset, ok2 := args[1].(int64)
	if !ok || !ok2 {
		p.fail("a tensor of %s and %s: expected a storage and an offset", Describe(args[0]), Describe(args[1]))
	}
	t := &Tensor{Storage: s, Offset: offset, Shape: p.sizes("shape", args[2]), Strides: p.sizes("strides", args[3])}
	if len(t.Shape) != len(t.Strides) {
		p.fail("a tensor of %d sizes and %d strides: expected equally many", len(t.Shape), len(t.Strides))
	}
	return t
}

func (p *unpickler) sizes(what string, v any) []int64 {
	t, ok := v.(Tuple)
	if !ok || len(t) > maxDimensions {
		p.fail("a tensor's %s is %s: expected a tuple of at most %d", what, Describe(v), maxDimensions)
	}
	p.spend(8 * len(t))
	sizes := make([]int64, len(t))
	for i, x := range t {
		if sizes[i], ok = x.(int64); !ok {
			p.fail("a tensor's %s holds %s: expected numbers", what, Describe(x))
		}
	}
	return sizes
}

// Get returns the value of a text key, the last if there are several; nil if there is none, or no dictionary.
func (d *Dict) Get(key string) any {
	if d == nil {
		return nil
	}
	for i := len(d.Entries) - 1; i >= 0; i-- {
		if k, ok := d.Entries[i].Key.(String); ok && string(k) == key {
			return d.Entries[i].Value
		}
	}
	return nil
}
