package formats

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/pickle"
)

type torchFile struct {
	*graphfile.Zip
	ctx    context.Context
	folder string
	choice graphfile.Choice
}

// Torch reads a file of torch.save: PyTorch Geometric's Data, (data, slices) or a dictionary, without running any of
// it.
func Torch(ctx context.Context, in *graphfile.File) (*graphfile.Graph, error) {
	var magic [4]byte
	if n, _ := in.ReadAt(magic[:], 0); n == 4 && magic[0] == 0x80 {
		return nil, fmt.Errorf("%s: a bare pickle, as PyTorch before 1.6 saved: load it there and save it again with "+
			"torch.save",
			in.Name)
	}
	archive, err := graphfile.NewZip(ctx, in, "torch.save", "")
	if err != nil {
		return nil, err
	}
	f := &torchFile{Zip: archive, ctx: ctx, choice: graphfile.ChoiceOf(ctx)}
	for name, m := range f.Members {
		if path.Base(name) == "data.pkl" && path.Dir(path.Dir(name)) == "." {
			if f.folder != "" {
				return nil, f.Errorf("two members called data.pkl: expected one")
			}
			f.folder = path.Dir(name)
		}
		if m.Method != zip.Store {
			return nil, f.Errorf("member %.80q is compressed, which torch.save never does", name)
		}
		if m.UncompressedSize64 != m.CompressedSize64 || m.UncompressedSize64 > uint64(in.Size) {
			return nil, f.Errorf("member %.80q claims %d bytes of a file of %d", name, m.UncompressedSize64, in.Size)
		}
	}
	if f.folder == "" {
		return nil, f.Errorf("no member data.pkl: expected a file of torch.save")
	}
	if order, ok := f.Members[f.folder+"/byteorder"]; ok {
		text, err := f.read(order, 16)
		if err != nil {
			return nil, err
		}
		if string(text) != "little" {
			return nil, f.Errorf("byteorder %q: expected \"little\"", text)
		}
	}
	data, err := f.read(f.Members[f.folder+"/data.pkl"], pickle.MaxSize)
	if err != nil {
		return nil, err
	}
	value, err := pickle.ReadTorch(data)
	if err != nil {
		return nil, f.Errorf("data.pkl: %w", err)
	}
	fields, err := f.fields(value)
	if err != nil {
		return nil, err
	}
	return f.graph(fields)
}

func (f *torchFile) read(m *zip.File, most uint64) ([]byte, error) {
	if m.UncompressedSize64 > most {
		return nil, f.Errorf("member %.80q: %d bytes: expected at most %d", m.Name, m.UncompressedSize64, most)
	}
	if err := f.Take(int64(m.UncompressedSize64)); err != nil {
		return nil, err
	}
	r, err := f.Open(m)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, m.UncompressedSize64)
	n, err := io.ReadFull(r, data)
	more := int64(0)
	if err == nil {
		more, err = io.Copy(io.Discard, r) // the checksum is checked at the end
	}
	if more > 0 {
		err = errors.Join(err, fmt.Errorf("%d bytes too many", more))
	}
	if err != nil {
		return nil, f.Errorf("member %.80q: byte %d: %w. The file is damaged", m.Name, n, err)
	}
	return data, nil
}

func (f *torchFile) fields(value any) (*pickle.Dict, error) {
	switch v := value.(type) {
	case *pickle.Dict:
		return v, nil
	case pickle.Tuple: // (data, slices) and (data, slices, class)
		if len(v) == 2 || len(v) == 3 {
			fields, err := f.unwrap(v[0])
			if err != nil {
				return nil, err
			}
			return fields, f.checkSlices(v[1])
		}
	case *pickle.List:
		if len(v.Items) == 1 {
			return f.unwrap(v.Items[0])
		}
		return nil, f.Errorf("data.pkl: a list of %d: expected one graph", len(v.Items))
	case *pickle.Object:
		return f.unwrap(v)
	}
	return nil, f.Errorf("data.pkl: %s: expected a Data object of PyTorch Geometric, (data, slices) or a dictionary",
		pickle.Describe(value))
}

func (f *torchFile) unwrap(value any) (*pickle.Dict, error) {
	if dict, ok := value.(*pickle.Dict); ok {
		return dict, nil
	}
	o, ok := value.(*pickle.Object)
	if !ok || o.Class != "Data" || o.State == nil {
		return nil, f.Errorf("data.pkl: %s: expected a Data object of PyTorch Geometric", pickle.Describe(value))
	}
	store, ok := o.State.Get("_store").(*pickle.Object)
	if !ok {
		return o.State, nil // PyTorch Geometric 1
	}
	if mapping, ok := store.State.Get("_mapping").(*pickle.Dict); ok {
		return mapping, nil
	}
	return nil, f.Errorf("data.pkl: a Data object without its _mapping: expected one that PyTorch Geometric saved")
}

func (f *torchFile) checkSlices(slices any) error {
	dict, ok := slices.(*pickle.Dict)
	if !ok {
		return nil
	}
	for _, e := range dict.Entries {
		if t, ok := e.Value.(*pickle.Tensor); ok && len(t.Shape) == 1 && t.Shape[0] > 2 {
			return f.Errorf("data.pkl: slices of %d graphs: expected one graph", t.Shape[0]-1)
		}
	}
	return nil
}

var torchFields = []string{"x", "edge_index", "num_nodes"}

func (f *torchFile) named(fields *pickle.Dict) (left []string, err error) {
	seen := map[string]bool{}
	for _, e := range fields.Entries {
		key, ok := e.Key.(pickle.String)
		if !ok || len(key) > 256 {
			return nil, f.Errorf("data.pkl: a field named by %s: expected names of fields", pickle.Describe(e.Key))
		}
		if seen[string(key)] {
			return nil, f.Errorf("data.pkl: the field %.80q is there twice", key)
		}
		seen[string(key)] = true
		if _, ok := e.Value.(pickle.None); !ok && !slices.Contains(torchFields, string(key)) &&
			graphfile.MeaningOf(string(key)).Set() < 0 && string(key) != cmp.Or(f.choice.Label, "y") &&
			!strings.HasPrefix(string(key), "_") {
			left = append(left, fmt.Sprintf("field %.80q (%s): left out", key, pickle.Describe(e.Value)))
		}
	}
	return left, nil
}
