package formats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
	"nodemask/datasets/internal/pickle"
)

type torchFile struct {
	graphOfArrays
	zip    *graphfile.Zip
	folder string
	fields *pickle.Dict
}

// Torch reads a file that torch.save wrote: PyTorch Geometric's Data, a tuple (data, slices) or a dictionary. It runs
// no code of the file.
func Torch(ctx context.Context, in *graphfile.File) (*graphfile.Graph, error) {
	f := &torchFile{}
	f.graphOfArrays = graphOfArrays{Graph: &graphfile.Graph{Format: "PyTorch Geometric", Both: true}, ctx: ctx,
		choice: graphfile.ChoiceOf(ctx), take: in.Take, array: f.tensor}
	err := f.open(ctx, in)
	if err == nil {
		err = f.read()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name, err)
	}
	return f.Graph, nil
}

func (f *torchFile) open(ctx context.Context, in *graphfile.File) (err error) {
	var magic [4]byte
	if n, _ := in.ReadAt(magic[:], 0); n == 4 && magic[0] == 0x80 {
		return errors.New("a bare pickle, as PyTorch before 1.6 saved: load it there and save it again with torch.save")
	}
	if f.zip, err = graphfile.NewZip(ctx, in, "torch.save", ""); err != nil {
		return err
	}
	for name := range f.zip.Members {
		if path.Base(name) == "data.pkl" && path.Dir(path.Dir(name)) == "." {
			f.folder = path.Dir(name)
		}
	}
	if order := f.folder + "/byteorder"; f.zip.Members[order] != nil {
		text, err := f.zip.Read(order)
		if err == nil && string(text) != "little" {
			err = fmt.Errorf("byteorder %.20q: expected \"little\"", text)
		}
		if err != nil {
			return err
		}
	}
	data, err := f.zip.Read(f.folder + "/data.pkl")
	if err != nil {
		return err
	}
	value, err := pickle.Read(data, in.Take)
	if err == nil {
		f.fields, err = fieldsOf(value)
	}
	if err != nil {
		return fmt.Errorf("data.pkl: %w", err)
	}
	return nil
}

func fieldsOf(value any) (*pickle.Dict, error) {
	switch v := value.(type) { // no recursion, because a list may contain itself
	case pickle.Tuple: // a PyTorch Geometric data set: (data, slices) or (data, slices, class)
		if len(v) == 2 || len(v) == 3 {
			value = v[0]
			if err := checkSlices(v[1]); err != nil {
				return nil, err
			}
		}
	case *pickle.List:
		if len(v.Items) != 1 {
			return nil, fmt.Errorf("a list of %d: expected one graph", len(v.Items))
		}
		value = v.Items[0]
	}
	switch v := value.(type) {
	case *pickle.Dict:
		return v, nil
	case *pickle.Object:
		if v.State == nil || !strings.HasPrefix(v.Class, "Data") {
			break
		}
		store, ok := v.State.Get("_store").(*pickle.Object)
		if !ok {
			return v.State, nil // version 1 of PyTorch Geometric keeps tensors in the object's state
		}
		if mapping, ok := store.State.Get("_mapping").(*pickle.Dict); ok {
			return mapping, nil
		}
	}
	return nil, fmt.Errorf("%s: expected a Data object of PyTorch Geometric, (data, slices) or a dictionary",
		pickle.Describe(value))
}

func checkSlices(slices any) error {
	dict, ok := slices.(*pickle.Dict)
	if !ok {
		return nil
	}
	for _, e := range dict.Entries {
		if t, ok := e.Value.(*pickle.Tensor); ok && len(t.Shape) == 1 && t.Shape[0] > 2 {
			return fmt.Errorf("slices of %d graphs: expected one graph", t.Shape[0]-1)
		}
	}
	return nil
}

var kinds = map[string]string{"Float": "<f4", "Double": "<f8", "Half": "<f2", "Long": "<i8", "Int": "<i4", "Short": "<i2",
	"Char": "|i1", "Byte": "|u1", "Bool": "|b1"}

func (f *torchFile) tensor(field string) (*numpy.Array, error) {
	value := f.fields.Get(field)
	if _, ok := value.(pickle.None); ok || value == nil {
		return nil, nil
	}
	t, ok := value.(*pickle.Tensor)
	if !ok {
		return nil, fmt.Errorf("field %q is %s: expected a tensor", field, pickle.Describe(value))
	}
	a := &numpy.Array{Name: fmt.Sprintf("field %q", field), Type: numpy.BFloat16, Shape: t.Shape, Strides: t.Strides}
	if t.Storage.Type != "BFloat16" {
		var err error
		if a.Type, err = numpy.ParseDtype(kinds[t.Storage.Type]); err != nil {
			return nil, a.Errorf("a storage of type %.40q: expected numbers", t.Storage.Type)
		}
	}
	if len(t.Shape) == 0 {
		return nil, a.Errorf("a tensor without dimensions, a single number: expected one for each node or edge")
	}
	data, err := f.zip.Read(f.folder + "/data/" + t.Storage.Key)
	if err != nil {
		return nil, err
	}
	elements := min(t.Storage.Elements, int64(len(data)/a.Type.Size))
	if !within(t, elements) {
		return nil, a.Errorf("a tensor of shape %v, strides %v, from %d: expected elements within its storage of %d, and each "+
			"once: save a copy of it (.clone())", t.Shape, t.Strides, t.Offset, elements)
	}
	a.Data = data[t.Offset*int64(a.Type.Size):]
	return a, nil
}

// within reports whether all the tensor's elements lie in its storage. Without this check a small file could claim a
// tensor of any size.
func within(t *pickle.Tensor, storage int64) bool {
	elements, last := int64(1), t.Offset
	if last < 0 || last > storage || slices.Min(t.Shape) < 0 || slices.Min(t.Strides) < 0 {
		return false
	}
	if slices.Contains(t.Shape, 0) {
		return true
	}
	for i, n := range t.Shape {
		if elements > storage/n || n > 1 && t.Strides[i] > (storage-1-last)/(n-1) {
			return false
		}
		elements *= n
		last += t.Strides[i] * (n - 1)
	}
	return last < storage
}

func (f *torchFile) read() error {
	names, err := f.names()
	if err != nil {
		return err
	}
	edges, err := f.required("edge_index", "a tensor [2, edges]")
	if err != nil {
		return err
	}
	if len(edges.Shape) == 2 && edges.Shape[0] != 2 && edges.Shape[1] == 2 {
		return edges.Errorf("shape %v: expected [2, edges]: save its .t().contiguous()", edges.Shape)
	}
	if len(edges.Shape) != 2 || edges.Shape[0] != 2 || !edges.Type.IsWhole() {
		return edges.Errorf("shape %v of %v: expected whole numbers [2, edges], saved after .long()", edges.Shape, edges.Type)
	}
	x, err := f.array("x")
	if err != nil {
		return err
	}
	y, err := f.array(cmp.Or(f.choice.Label, "y"))
	switch {
	case err != nil:
		return err
	case y == nil && f.choice.Label != "":
		return fmt.Errorf("no field %q: expected the classes there", f.choice.Label)
	}
	if err := f.count(edges, x, y); err != nil {
		return err
	}
	// In a directed graph, the nodes in row 1 of edge_index aggregate from those in row 0.
	ends := func(i int64) (node, neighbour int64) { return edges.Int(1, i), edges.Int(0, i) }
	if err := f.link(edges.Shape[1], ends); err != nil {
		return fmt.Errorf("edge_index: %w", err)
	}
	switch {
	case x == nil:
		f.Notef("no field \"x\": the nodes have no features")
	case x.Len() == 0 && x.Shape[0] == int64(f.Nodes):
		f.Notef("field \"x\" has shape %v: the nodes have no features", x.Shape)
	default:
		if err := f.dense(x); err != nil {
			return err
		}
	}
	if y == nil {
		f.Notef("no field \"y\": the nodes have no classes")
	} else if err := f.labels(y, nil); err != nil {
		return err
	}
	return f.masks(names)
}

func (f *torchFile) count(edges, x, y *numpy.Array) error {
	nodes, source := int64(-1), ""
	for _, a := range []*numpy.Array{x, y} {
		if a == nil || a.Len() == 0 { // an array without elements may claim any number of rows
			continue
		}
		if nodes >= 0 && a.Shape[0] != nodes {
			return a.Errorf("%d rows, but %s has %d: expected one a node", a.Shape[0], source, nodes)
		}
		nodes, source = a.Shape[0], a.Name
	}
	claimed, ok := f.fields.Get("num_nodes").(int64)
	if !ok { // version 1 of PyTorch Geometric stores this attribute under another name
		claimed, ok = f.fields.Get("__num_nodes__").(int64)
	}
	if nodes >= 0 && ok && claimed != nodes {
		return fmt.Errorf("num_nodes is %d, but %s has %d rows: expected one a node", claimed, source, nodes)
	}
	if nodes < 0 {
		nodes, source = claimed, "num_nodes"
		if !ok {
			source = "the largest number in edge_index"
			for i := range edges.Shape[1] {
				nodes = max(nodes, edges.Int(0, i)+1, edges.Int(1, i)+1)
			}
		}
		if err := graphfile.ClaimError(source, nodes, edges.Shape[1]); err != nil {
			return err
		}
	}
	if nodes == 0 || nodes > graphfile.MaxNodes {
		return fmt.Errorf("%d nodes: expected 1 to %d", nodes, graphfile.MaxNodes)
	}
	f.Nodes = int(nodes)
	return nil
}

func (f *torchFile) names() (names []string, err error) {
	seen := map[string]bool{}
	for _, e := range f.fields.Entries {
		key, ok := e.Key.(pickle.String)
		name := string(key)
		switch _, none := e.Value.(pickle.None); {
		case !ok || len(key) > 256:
			return nil, fmt.Errorf("data.pkl: a field named by %s: expected names of fields", pickle.Describe(e.Key))
		case seen[name]:
			return nil, fmt.Errorf("data.pkl: the field %.80q is there twice", name)
		case none, slices.Contains([]string{"x", "edge_index", "num_nodes", cmp.Or(f.choice.Label, "y")}, name),
			strings.HasPrefix(name, "_"), graphfile.MeaningOf(name).Set() >= 0:
		default:
			f.Notef("field %.80q (%s): left out", name, pickle.Describe(e.Value))
		}
		seen[name], names = true, append(names, name)
	}
	return names, nil
}
