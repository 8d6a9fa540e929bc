// Package safetensors reads and writes nodemask's files in the safetensors format: named tensors, and a text for each
// key of their metadata. All numbers are little-endian:
//
//	uint64      length N of the header, a multiple of 8 when written here, at most 100,000,000
//	N bytes     JSON: {"__metadata__": {"kind": "model", …},
//	            "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
//	data        the tensors, row-major; offsets count from here
//
// Of the format this package takes what nodemask needs: types F32, I32, I64 and U8, each tensor at a multiple of its
// type's width, no two over one another and no byte outside them, and finite numbers alone. Four keys of the metadata
// are its own:
//
//	format           "nodemask"
//	kind, version    what the file is of, and the version of that: "1"
//	data_sha256      SHA-256 of the data, in hexadecimal
//	header_sha256    SHA-256 of the N bytes of the header, with this value itself as 64 zeros
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
	"math"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"nodemask/internal/wholefile"
)

// Limits on what a file may claim.
const (
	version     = "1"
	maxFile     = 1 << 40
	maxHeader   = 100_000_000 // the format's own
	maxTensors  = 4096
	maxMetadata = 256 // keys
	maxRank     = 8
)

// Types of numbers, and how many bytes each takes.
var widths = map[string]int64{"F32": 4, "I32": 4, "I64": 8, "U8": 1}

// Keys of the header and its metadata.
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

// none stands for the header's own checksum while it is computed.
var none = strings.Repeat("0", sumLength)

// Number is what tensors are made of.
type Number interface {
	float32 | int32 | int64 | uint8
}

// typeOf returns the name of a type in files.
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

// tensor is one entry of the header, and where its data lies.
type tensor struct {
	name, dtype string
	shape       []int
	begin, end  int64           // in the data
	write       func(io.Writer) // its values, in a file's order of bytes; nil for what was read
}

// Builder collects tensors for a file. What is put in is not copied: it may not change before the file is written.
type Builder struct {
	kind     string
	metadata map[string]string
	tensors  []tensor
	err      error // the first that adding something met
}

// New returns a file of a kind, without tensors. Keys that belong to the format are refused when it is written.
func New(kind string, metadata map[string]string) *Builder {
	b := &Builder{kind: kind, metadata: maps.Clone(metadata)}
	if b.metadata == nil {
		b.metadata = map[string]string{}
	}
	for key, value := range map[string]string{formatKey: formatName, kindKey: kind, versionKey: version,
		dataSumKey: none, headerSumKey: none} {
		if _, ok := b.metadata[key]; ok {
			b.fail("the metadata has %q, which is the format's own", key)
		}
		b.metadata[key] = value
	}
	for key, value := range b.metadata {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			b.fail("the metadata has %.40q: %.40q: expected UTF-8", key, value)
		}
	}
	if len(b.metadata) > maxMetadata {
		b.fail("%d keys of metadata: expected at most %d", len(b.metadata), maxMetadata)
	}
	return b
}

// Failed returns a file of a kind that cannot be written, for a reason that [Builder.WriteFile] reports.
func Failed(kind string, err error) *Builder { return &Builder{kind: kind, err: err} }

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// Add adds a tensor, row-major. What is wrong with it, [Builder.WriteFile] reports.
func Add[T Number](b *Builder, name string, values []T, shape ...int) {
	t := tensor{name: name, dtype: typeOf[T](), shape: shape, write: func(w io.Writer) { writeNumbers(w, values) }}
	size := 1
	for _, d := range shape {
		if d < 0 || d > 0 && size > math.MaxInt/d {
			b.fail("tensor %.60q has the shape %v: expected sizes from 0 up", name, shape)
			return
		}
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

// notFinite returns the index of the first number that is NaN or infinite, or -1.
func notFinite(values []float32) int {
	return slices.IndexFunc(values, func(x float32) bool { return x-x != 0 })
}

// WriteFile writes the file under another name, syncs it and renames it: path is whole or as it was.
func (b *Builder) WriteFile(path string) error {
	return b.WriteFileAfter(path, func() error { return nil })
}

// WriteFileAfter is [Builder.WriteFile] that calls before when the file is whole on the disk, but has not taken its
// name. If that fails it removes the file, and returns the error as it is.
func (b *Builder) WriteFileAfter(path string, before func() error) error {
	failed := func(err error) error { return fmt.Errorf("%s: the %s cannot be written: %w", path, b.kind, err) }
	if b.err != nil {
		return failed(b.err)
	}
	file, err := wholefile.Prepare(path, 0o644, b.write)
	if err != nil {
		return failed(err)
	}
	defer file.Discard() // unless it has its name
	if err := before(); err != nil {
		return err
	}
	if err := file.Commit(); err != nil {
		return failed(err)
	}
	return nil
}

// write streams: what it holds besides the tensors is small. It goes through them twice, since their checksum comes
// first.
func (b *Builder) write(to io.Writer) error {
	// The widest types first, so that all lie at multiples of their width; or else in the order in which they were added.
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
	w := bufio.NewWriterSize(to, 1<<16) // keeps what it could not write for Flush to report
	w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header))))
	w.Write(header)
	for _, t := range b.tensors {
		t.write(w)
	}
	return w.Flush()
}

// header returns the header with both checksums. Equal contents, put in the same order, make equal bytes.
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

// appendJSON appends a value without the escapes that only HTML needs.
func appendJSON(out *bytes.Buffer, value any) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	_ = e.Encode(value)         // texts and whole numbers cannot fail
	out.Truncate(out.Len() - 1) // the line's end
}

func writeNumbers[T Number](w io.Writer, data []T) {
	if littleEndian && len(data) > 0 { // as they lie in memory
		_, _ = w.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(data[0]))))
		return
	}
	var buf []byte
	for chunk := range slices.Chunk(data, 8192) {
		buf, _ = binary.Append(buf[:0], binary.LittleEndian, chunk) // fails only for what has no fixed size
		_, _ = w.Write(buf)
	}
}
