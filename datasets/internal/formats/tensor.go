package formats

import (
	"fmt"
	"math"
	"strconv"

	"nodemask/datasets/internal/numpy"
	"nodemask/datasets/internal/pickle"
)

type tensor struct {
	field  string
	shape  []int64
	kind   kind
	data   []byte // the storage
	offset int64  // in elements
	stride []int64
}

type kind struct {
	numpy.Dtype
	brain bool // bfloat16, the upper half of a float32, which numpy lacks
}

var kinds = map[string]string{"Float": "<f4", "Double": "<f8", "Half": "<f2", "BFloat16": "<u2",
	"Long": "<i8", "Int": "<i4", "Short": "<i2", "Char": "|i1", "Byte": "|u1", "Bool": "|b1"}

func (k kind) whole() bool { return k.Kind != 'f' && !k.brain }

func (k kind) name() string {
	switch {
	case k.brain:
		return "bfloat16"
	case k.Kind == 'b':
		return "bool"
	case k.Kind == 'f':
		return fmt.Sprintf("float%d", 8*k.Size)
	case k.Kind == 'u':
		return fmt.Sprintf("uint%d", 8*k.Size)
	}
	return fmt.Sprintf("int%d", 8*k.Size)
}

func (k kind) float(b []byte) float64 {
	if k.brain {
		return float64(math.Float32frombits(uint32(k.Int(b)) << 16))
	}
	return k.Float(b)
}

func (k kind) text(b []byte) string {
	if k.brain {
		return strconv.FormatFloat(k.float(b), 'g', -1, 32)
	}
	return k.Text(b)
}

func (f *torchFile) tensor(fields *pickle.Dict, field string) (*tensor, error) {
	value := fields.Get(field)
	if _, ok := value.(pickle.None); ok || value == nil {
		return nil, nil
	}
	t, ok := value.(*pickle.Tensor)
	if !ok {
		return nil, f.Errorf("field %q is %s: expected a tensor", field, pickle.Describe(value))
	}
	dtype, err := numpy.ParseDtype(kinds[t.Storage.Type])
	if err != nil {
		return nil, f.Errorf("field %q: a storage of type %.40q: expected numbers", field, t.Storage.Type)
	}
	k := kind{dtype, t.Storage.Type == "BFloat16"}
	m := f.Members[f.folder+"/data/"+t.Storage.Key]
	if m == nil {
		return nil, f.Errorf("field %q: there is no storage %.80q", field, t.Storage.Key)
	}
	if t.Storage.Elements > int64(m.UncompressedSize64)/int64(k.Size) {
		return nil, f.Errorf("field %q: a storage of %d elements of %d bytes, in a member of %d bytes: the file is damaged",
			field, t.Storage.Elements, k.Size, m.UncompressedSize64)
	}
	if len(t.Shape) == 0 {
		return nil, f.Errorf("field %q is a tensor without dimensions, a single number: expected one for each node or edge",
			field)
	}
	if err := within(t); err != nil {
		return nil, f.Errorf("field %q: %w", field, err)
	}
	data, err := f.read(m, m.UncompressedSize64)
	if err != nil {
		return nil, err
	}
	return &tensor{field: field, shape: t.Shape, kind: k, data: data, offset: t.Offset, stride: t.Strides}, nil
}

// within checks that elements lie in the storage, each once: else a small file could hold any tensor.
func within(t *pickle.Tensor) error {
	claim := fmt.Sprintf("a tensor of shape %v, strides %v, from %d", t.Shape, t.Strides, t.Offset)
	elements := int64(1)
	for _, n := range t.Shape {
		if n < 0 {
			return fmt.Errorf("%s: expected sizes from 0 up", claim)
		}
		if n == 0 {
			elements = 0
		}
	}
	if elements == 0 {
		if t.Offset < 0 || t.Offset > t.Storage.Elements {
			return fmt.Errorf("%s: its storage has %d elements", claim, t.Storage.Elements)
		}
		return nil
	}
	last := t.Offset
	if last < 0 || last >= t.Storage.Elements {
		return fmt.Errorf("%s: its storage has %d elements", claim, t.Storage.Elements)
	}
	for i, n := range t.Shape {
		stride := t.Strides[i]
		if stride < 0 {
			return fmt.Errorf("%s: expected strides from 0 up", claim)
		}
		if n > 1 && stride > (t.Storage.Elements-1-last)/(n-1) {
			return fmt.Errorf("%s: it ends beyond its storage of %d elements", claim, t.Storage.Elements)
		}
		last += stride * (n - 1)
		if elements > t.Storage.Elements/n {
			return fmt.Errorf("%s: more elements than its storage has, %d: save a copy of it (.clone()) that repeats nothing",
				claim, t.Storage.Elements)
		}
		elements *= n
	}
	return nil
}

func (t *tensor) at(i, j int64) []byte {
	e := t.offset + i*t.stride[0]
	if len(t.stride) > 1 {
		e += j * t.stride[1]
	}
	return t.data[e*int64(t.kind.Size):]
}

func (t *tensor) elements() int64 {
	n := int64(1)
	for _, size := range t.shape {
		n *= size
	}
	return n
}

func (t *tensor) matrix() (rows, columns int64, ok bool) {
	switch len(t.shape) {
	case 1:
		return t.shape[0], 1, true
	case 2:
		return t.shape[0], t.shape[1], true
	}
	return 0, 0, false
}
