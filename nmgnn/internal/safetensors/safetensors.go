// Package safetensors reads and writes nodemask's files: named tensors and text metadata, in the safetensors format
// (https://github.com/huggingface/safetensors), with a header of at most 100,000,000 bytes.
//
// It accepts only types F32, I32, I64 and U8, tensors at multiples of their type's width without overlaps or gaps, and
// finite numbers. It adds five metadata keys, among them two checksums; docs/FORMATS.md describes them.
package safetensors

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"nodemask/internal/wholefile"
)

const (
	version     = "1"
	maxFile     = 1 << 40
	maxHeader   = 100_000_000
	maxTensors  = 4096
	maxMetadata = 256
	maxRank     = 8
)

var widths = map[string]int64{"F32": 4, "I32": 4, "I64": 8, "U8": 1}

const (
	metadataKey     = "__metadata__"
	formatKey       = "format"
	formatName      = "nodemask"
	kindKey         = "kind"
	versionKey      = "version"
	dataSumKey      = "data_sha256"
	headerSumKey    = "header_sha256"
	sumLength       = 2 * sha256.Size
	lengthSize      = 8
	headerAlignment = 8
)

// none stands for the header's checksum while the checksum is computed.
var none = strings.Repeat("0", sumLength)

// Number is an element type of tensors.
type Number interface {
	float32 | int32 | int64 | uint8
}

func typeOf[T Number]() string {
	var zero T
	switch any(zero).(type) {
	case float32:
		return "F32"
	case int32:
		return "I32"
	case int64:
		return "I64"
	}
	return "U8"
}

type tensor struct {
	name, dtype string
	shape       []int
	begin, end  int64
	write       func(io.Writer) // writes the values in little-endian order; nil after reading
}

// Builder collects a file's tensors. It does not copy the tensors: do not change them before writing.
type Builder struct {
	kind     string
	metadata map[string]string
	tensors  []tensor
	err      error // the first error, which WriteFile will return
}

// New returns a Builder for a kind of file; the given metadata is added to the format's own.
func New(kind string, metadata map[string]string) *Builder {
	b := &Builder{kind: kind, metadata: maps.Clone(metadata)}
	if b.metadata == nil {
		b.metadata = map[string]string{}
	}
	maps.Copy(b.metadata, map[string]string{formatKey: formatName, kindKey: kind, versionKey: version, dataSumKey: none,
		headerSumKey: none})
	for key, value := range b.metadata {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			b.fail("the metadata has %.40q: %.40q: expected UTF-8", key, value)
		}
	}
	return b
}

// Failed returns a Builder whose [Builder.WriteFile] returns err.
func Failed(kind string, err error) *Builder { return &Builder{kind: kind, err: err} }

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// Add adds a row-major tensor. If Add fails, [Builder.WriteFile] returns the error.
func Add[T Number](b *Builder, name string, values []T, shape ...int) {
	t := tensor{name: name, dtype: typeOf[T](), shape: shape, write: func(w io.Writer) { writeNumbers(w, values) }}
	size := 1
	for _, d := range shape {
		size *= d
	}
	switch {
	case name == "" || name == metadataKey || !utf8.ValidString(name):
		b.fail("a tensor is called %.60q: expected another name, in UTF-8", name)
	case slices.ContainsFunc(b.tensors, func(t tensor) bool { return t.name == name }):
		b.fail("two tensors are called %.60q", name)
	case len(b.tensors) == maxTensors:
		b.fail("more than %d tensors", maxTensors)
	case size != len(values) || len(shape) > maxRank:
		b.fail("tensor %.60q has %d numbers for the shape %v", name, len(values), shape)
	}
	if floats, ok := any(values).([]float32); ok {
		if i := notFinite(floats); i >= 0 {
			b.fail("tensor %.60q: number %d is %v: expected a finite one", name, i, floats[i])
		}
	}
	t.end = int64(len(values)) * widths[t.dtype]
	b.tensors = append(b.tensors, t)
}

func notFinite(values []float32) int {
	return slices.IndexFunc(values, func(x float32) bool { return x-x != 0 })
}

// WriteFile writes and syncs a temporary file, then renames it, so path is never half written.
func (b *Builder) WriteFile(path string) error {
	err := b.err
	if err == nil {
		err = wholefile.Write(path, 0o644, b.write)
	}
	if err != nil {
		return fmt.Errorf("%s: the %s cannot be written: %w", path, b.kind, err)
	}
	return nil
}

// write goes through the tensors twice, since their checksum precedes them in the file.
func (b *Builder) write(to io.Writer) error {
	// Tensors with wider numbers come first, so that all are aligned.
	slices.SortStableFunc(b.tensors, func(s, t tensor) int { return int(widths[t.dtype] - widths[s.dtype]) })
	at := int64(0)
	for i := range b.tensors {
		t := &b.tensors[i]
		t.begin, t.end = at, at+t.end-t.begin
		at = t.end
	}
	sum := sha256.New()
	for _, t := range b.tensors {
		t.write(sum)
	}
	b.metadata[dataSumKey] = hex.EncodeToString(sum.Sum(nil))
	header := b.header()
	if len(header) > maxHeader {
		return fmt.Errorf("its description takes %d bytes: expected at most %d", len(header), maxHeader)
	}
	if size := lengthSize + int64(len(header)) + at; size > maxFile {
		return fmt.Errorf("it takes %d bytes: expected at most %d", size, int64(maxFile))
	}
	w := bufio.NewWriterSize(to, 1<<16)
	w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header))))
	w.Write(header)
	for _, t := range b.tensors {
		t.write(w)
	}
	return w.Flush()
}

// header encodes equal metadata and equal tensors, added in the same order, as equal bytes.
func (b *Builder) header() []byte {
	b.metadata[headerSumKey] = none
	var out bytes.Buffer
	out.WriteString(`{"` + metadataKey + `":`)
	appendJSON(&out, b.metadata)
	for _, t := range b.tensors {
		out.WriteByte(',')
		appendJSON(&out, t.name)
		out.WriteByte(':')
		appendJSON(&out, struct {
			Type    string   `json:"dtype"`
			Shape   []int    `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}{t.dtype, append([]int{}, t.shape...), [2]int64{t.begin, t.end}})
	}
	out.WriteByte('}')
	for out.Len()%headerAlignment != 0 {
		out.WriteByte(' ')
	}
	header := out.Bytes()
	sum := sha256.Sum256(header)
	own := []byte(`"` + headerSumKey + `":"`)
	hex.Encode(header[bytes.Index(header, append(own, none...))+len(own):], sum[:])
	return header
}

func appendJSON(out *bytes.Buffer, value any) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	_ = e.Encode(value)
	out.Truncate(out.Len() - 1)
}

func writeNumbers[T Number](w io.Writer, data []T) {
	if littleEndian && len(data) > 0 {
		_, _ = w.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(data[0]))))
		return
	}
	var buf []byte
	for chunk := range slices.Chunk(data, 8192) {
		buf, _ = binary.Append(buf[:0], binary.LittleEndian, chunk)
		_, _ = w.Write(buf)
	}
}
