package pickle

import "strings"

// PyTorch's values, in addition to those of values.go.
type (
	// Storage is tensors' memory: a member of the file next to the pickle.
	Storage struct {
		Type     string // "Float"
		Key      string
		Elements int64
	}
	// Tensor is a view of a storage as claimed, unchecked.
	Tensor struct {
		Storage        *Storage
		Offset         int64
		Shape, Strides []int64
	}
	// Object is an instance of a class of PyTorch Geometric.
	Object struct {
		Class string
		State *Dict
	}
	// Class is a class named but not called.
	Class string
	// Unknown stands for an unknown class or function, or its result; nothing is run.
	Unknown struct{ Module, Name string }
)

// Advice returns what to save in place of an unknown value, or "".
func (u Unknown) Advice() string {
	switch {
	case u.Name == "HeteroData":
		return ". Save a graph of one type of nodes instead: data.to_homogeneous()"
	case strings.Contains(strings.ToLower(u.Module+u.Name), "sparse"):
		return ". Save dense tensors instead: x.to_dense(), and edge_index in place of adj_t"
	}
	return ""
}

type storage string

const (
	globalTensor  global = "torch._utils _rebuild_tensor_v2"
	globalOrdered global = "collections OrderedDict"
	globalSize    global = "torch Size"

	globalParameter global = "torch._utils _rebuild_parameter"
)

const maxDimensions = 8

// ReadTorch returns the value of a pickle of torch.save. Anything but tensors, plain Python and PyTorch Geometric's
// Data is an [Unknown]. Errors are of type [*Error].
func ReadTorch(data []byte) (any, error) { return read(data, true) }

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

// persistent executes BINPERSID: ("storage", type, key, device, elements) names a storage.
func (p *unpickler) persistent(id any) *Storage {
	t, _ := id.(Tuple)
	if len(t) != 5 || !p.torch {
		p.fail("BINPERSID: %s: expected a tuple of 5 that names a storage", Describe(id))
	}
	word, _ := t[0].(String)
	kind, ok := t[1].(storage)
	if unknown, is := t[1].(Unknown); is { // an unsupported number type
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

// tensor executes _rebuild_tensor_v2(storage, offset, shape, strides, …).
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

// Get returns the last value of a text key; nil without one, or if d is nil.
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
