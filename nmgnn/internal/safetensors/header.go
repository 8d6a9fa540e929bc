package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
)

// mostOfTensor limits the bytes of a tensor's JSON description: parsing a long list of sizes takes many times the
// memory of its text.
const mostOfTensor = 1024

func (f *File) parseHeader(header []byte) error {
	if !bytes.HasPrefix(header, []byte("{")) {
		return f.errorf(lengthSize,
			"the header begins with %.20q: expected \"{\". This is not a nodemask %s, or it is damaged: name another file, or "+
				"%s",
			header[:min(len(header), 20)], f.kind.Name, f.kind.Remedy)
	}
	if !utf8.Valid(header) {
		return f.damaged(lengthSize, "the header is not UTF-8")
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(header, &all); err != nil {
		return f.damaged(lengthSize, "the header cannot be read: %.120w", err)
	}
	if err := json.Unmarshal(all[metadataKey], &f.metadata); all[metadataKey] != nil &&
		(err != nil || f.metadata == nil || len(f.metadata) > maxMetadata) {
		return f.damaged(lengthSize, "the metadata cannot be read (%.120v): expected at most %d texts", err, maxMetadata)
	}
	delete(all, metadataKey)
	if len(all) > maxTensors {
		return f.damaged(lengthSize, "there are %d tensors: expected at most %d", len(all), maxTensors)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := f.describe(name, all[name]); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) describe(name string, text []byte) error {
	var t struct {
		Type    string  `json:"dtype"`
		Shape   []int   `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	err := fmt.Errorf("it takes %d bytes", len(text))
	if len(text) <= mostOfTensor {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err = d.Decode(&t)
	}
	if err != nil || name == "" || t.Shape == nil || len(t.Shape) > maxRank || len(t.Offsets) != 2 ||
		min(slices.Min(append(t.Shape, 0)), int(min(t.Offsets[0], 0))) < 0 {
		return f.damaged(lengthSize, "tensor %.60q cannot be read (%.120v): expected a name, dtype, shape of at most %d "+
			"sizes, and two data_offsets", name, err, maxRank)
	}
	begin, end, width := t.Offsets[0], t.Offsets[1], widths[t.Type]
	if width == 0 {
		return f.errorf(lengthSize, "tensor %.60q is of type %.20q: expected F32, I32, I64 or U8: save it as F32, as "+
			"PyTorch's .float() does, or %s", name, t.Type, f.kind.Remedy)
	}
	if begin > end || end > int64(len(f.data)) {
		return f.damaged(lengthSize, "tensor %.60q has bytes %d to %d of the data: expected 0 to %d, which is all there is",
			name, begin, end, len(f.data))
	}
	need := width
	for _, size := range t.Shape {
		if size > 0 && need > math.MaxInt64/int64(size) {
			return f.damaged(lengthSize, "tensor %.60q has the shape %v, of more numbers than can be counted", name, t.Shape)
		}
		need *= int64(size)
	}
	if need != end-begin {
		return f.damaged(lengthSize, "tensor %.60q has %d bytes: expected %d for %s of shape %v", name, end-begin, need,
			t.Type, t.Shape)
	}
	f.tensors = append(f.tensors, tensor{name: name, dtype: t.Type, shape: t.Shape, begin: begin, end: end})
	return nil
}
