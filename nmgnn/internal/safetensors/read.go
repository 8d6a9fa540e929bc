package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"unsafe"

	"nodemask/internal/wholefile"
)

// Kind describes the kind of file that [Open] expects.
type Kind struct {
	Name   string // the name in the file's metadata
	Remedy string // advice if the file is damaged
}

// File is an open, checked file. It is memory-mapped if possible: then tensors are read on use, and the system can
// reclaim their memory.
type File struct {
	path     string
	kind     Kind
	data     []byte
	release  func() error
	metadata map[string]string
	tensors  []tensor // in the order of their data
	byName   map[string]int
}

// Open opens and checks a file: kind, size, header, both checksums, and that every F32 is finite. It reads the file
// once, and takes memory for the header only. Close the file after the last use of its tensors.
func Open(path string, kind Kind) (*File, error) {
	disk, err := wholefile.Open(path)
	if err != nil {
		return nil, err
	}
	defer disk.Close() // the memory mapping stays valid
	info, err := disk.Stat()
	if err != nil {
		return nil, err
	}
	if limit := min(int64(maxFile), math.MaxInt); info.Size() > limit {
		return nil, fmt.Errorf("%s: the file has %d bytes: expected a nodemask %s of at most %d",
			path, info.Size(), kind.Name, limit)
	}
	whole, release, err := mapWhole(disk, info.Size())
	if err != nil {
		return nil, err
	}
	var f *File
	if err := Guard(path, func() (err error) {
		f, err = parse(whole, path, kind)
		return err
	}); err != nil {
		_ = release()
		return nil, err
	}
	f.release = release
	return f, nil
}

// Close releases the file; its tensors become unreadable.
func (f *File) Close() error {
	release := f.release
	if f.data, f.release = nil, nil; release == nil {
		return nil
	}
	return release()
}

// Guard calls read. A memory fault in read's goroutine becomes an error: a mapped file may be truncated meanwhile.
func Guard(path string, read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if fault, ok := r.(interface {
			runtime.Error
			Addr() uintptr
		}); ok {
			err = fmt.Errorf("%s: the file was cut or its disk failed while it was read (%w): get it again", path, fault)
			return
		}
		panic(r)
	}()
	return read()
}

func parse(whole []byte, path string, kind Kind) (*File, error) {
	f, header, err := layout(whole, path, kind)
	if err != nil {
		return nil, err
	}
	return f, f.verify(header)
}

func layout(whole []byte, path string, kind Kind) (f *File, header []byte, err error) {
	f = &File{path: path, kind: kind, metadata: map[string]string{}, byName: map[string]int{}}
	if len(whole) < lengthSize {
		return nil, nil, f.errorf(0,
			"this is not a nodemask %s: the file has %d bytes, less than its header's length takes. Name another file",
			kind.Name, len(whole))
	}
	length := binary.LittleEndian.Uint64(whole)
	if most := min(maxHeader, uint64(len(whole)-lengthSize)); length > most {
		return nil, nil, f.errorf(0,
			"the header claims %d bytes: expected at most %d. This is not a nodemask %s, or it is damaged or cut short: name "+
				"another file, or %s",
			length, most, kind.Name, kind.Remedy)
	}
	header, f.data = whole[lengthSize:][:length], whole[lengthSize+length:]
	if err := f.parseHeader(header); err != nil {
		return nil, nil, err
	}
	if err := f.identify(); err != nil {
		return nil, nil, err
	}
	return f, header, f.place(lengthSize + int64(length))
}

func (f *File) identify() error {
	found := f.metadata[kindKey]
	switch {
	case f.metadata[formatKey] != formatName:
		return f.errorf(lengthSize,
			"this is safetensors, but not a nodemask %s: its metadata has the format %.40q: expected %q. Name another file",
			f.kind.Name, f.metadata[formatKey], formatName)
	case found != f.kind.Name:
		return f.errorf(lengthSize, "this is a %.40s: expected a %s. Name another file", found, f.kind.Name)
	case f.metadata[versionKey] != version:
		return f.errorf(lengthSize, "version %.40q of a %s: expected %q. Another nodemask wrote this: update nodemask, or %s",
			f.metadata[versionKey], found, version, f.kind.Remedy)
	}
	for _, key := range []string{dataSumKey, headerSumKey} {
		if raw, err := hex.DecodeString(f.metadata[key]); err != nil || len(raw) != sha256.Size {
			return f.damaged(lengthSize, "the metadata has %q: %.70q: expected a SHA-256 of %d digits",
				key, f.metadata[key], sumLength)
		}
	}
	return nil
}

func (f *File) place(start int64) error {
	slices.SortStableFunc(f.tensors, func(s, t tensor) int {
		return cmp.Or(cmp.Compare(s.begin, t.begin), cmp.Compare(s.end, t.end))
	})
	at := int64(0)
	for i, t := range f.tensors {
		f.byName[t.name] = i
		switch {
		case t.begin < at:
			return f.damaged(start+t.begin, "tensor %.60q begins at %d of the data, inside the one before, which ends at %d",
				t.name, t.begin, at)
		case t.begin > at:
			return f.damaged(start+at, "no tensor has bytes %d to %d of the data, before %.60q: expected no holes",
				at, t.begin, t.name)
		case (start+t.begin)%widths[t.dtype] != 0:
			return f.damaged(start+t.begin, "tensor %.60q of %s begins at byte %d of the file: expected a multiple of %d",
				t.name, t.dtype, start+t.begin, widths[t.dtype])
		}
		at = t.end
	}
	if at != int64(len(f.data)) {
		return f.damaged(start+at, "%d bytes follow after the last tensor: expected none", int64(len(f.data))-at)
	}
	return nil
}

func (f *File) verify(header []byte) error {
	own := f.metadata[headerSumKey]
	ofHeader := sha256.Sum256(bytes.ReplaceAll(header, []byte(own), []byte(none)))
	if got := hex.EncodeToString(ofHeader[:]); got != own {
		return f.damaged(lengthSize, "the header's checksum is %.12s…, but that of what is there is %.12s…", own, got)
	}
	sum := sha256.New()
	start := lengthSize + int64(len(header))
	var wrong error // the first invalid number; reported only if checksums match, since otherwise the file is damaged
	for _, t := range f.tensors {
		const chunk = 1 << 20
		for at := t.begin; at < t.end; at += chunk {
			raw := f.data[at:min(at+chunk, t.end)]
			sum.Write(raw)
			if t.dtype != "F32" || wrong != nil {
				continue
			}
			values := view[float32](raw)
			if i := notFinite(values); i >= 0 {
				wrong = f.errorf(start+at+4*int64(i), "tensor %.60q: number %d is %v: expected a finite one: %s",
					t.name, (at-t.begin)/4+int64(i), values[i], f.kind.Remedy)
			}
		}
	}
	if got, want := hex.EncodeToString(sum.Sum(nil)), f.metadata[dataSumKey]; got != want {
		return f.damaged(start, "the checksum of the data is %.12s…, but that of what is there is %.12s…", want, got)
	}
	return wrong
}

func (f *File) errorf(at int64, format string, args ...any) error {
	return fmt.Errorf("%s: byte %d: %w", f.path, at, fmt.Errorf(format, args...))
}

func (f *File) damaged(at int64, format string, args ...any) error {
	return f.errorf(at, "%w. The file is damaged: %s", fmt.Errorf(format, args...), f.kind.Remedy)
}

// Metadata returns a key's text, or an error if there is none.
func (f *File) Metadata(key string) (string, error) {
	text, ok := f.metadata[key]
	if !ok {
		return "", f.errorf(lengthSize, "the metadata has no %q. Another nodemask wrote this: %s", key, f.kind.Remedy)
	}
	return text, nil
}

// Names returns the tensors' names, in the order of their data.
func (f *File) Names() []string {
	names := make([]string, len(f.tensors))
	for i, t := range f.tensors {
		names[i] = t.name
	}
	return names
}

// Has reports whether the named tensor exists.
func (f *File) Has(name string) bool {
	_, ok := f.byName[name]
	return ok
}

// Any, as one of the sizes given to [Get], allows any size.
const Any = -1

// Get returns a tensor's values and shape. Values may lie in the mapped file: do not change them, nor read them after
// Close. A missing name, another type or another shape is an error; without sizes, any shape is allowed.
func Get[T Number](f *File, name string, sizes ...int) (values []T, shape []int, err error) {
	i, ok := f.byName[name]
	if !ok {
		return nil, nil, f.errorf(lengthSize, "there is no tensor %.60q among %d. Another nodemask wrote this: %s",
			name, len(f.tensors), f.kind.Remedy)
	}
	t := f.tensors[i]
	fits := len(sizes) == 0 ||
		slices.EqualFunc(sizes, t.shape, func(want, size int) bool { return want == Any || want == size })
	if want := typeOf[T](); t.dtype != want || !fits {
		return nil, nil, f.errorf(lengthSize,
			"tensor %.60q is %s of shape %v: expected %s%s. Another nodemask wrote this: %s",
			name, t.dtype, t.shape, want, described(sizes), f.kind.Remedy)
	}
	if f.data == nil && t.end > 0 {
		return nil, nil, fmt.Errorf("%s: %w", f.path, os.ErrClosed)
	}
	return view[T](f.data[t.begin:t.end]), slices.Clone(t.shape), nil
}

func described(sizes []int) string {
	if len(sizes) == 0 {
		return ""
	}
	return " of shape " + strings.ReplaceAll(fmt.Sprint(sizes), fmt.Sprint(Any), "any")
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// view returns the numbers in raw. It shares raw's memory if byte order and alignment allow it, else it returns a copy.
func view[T Number](raw []byte) []T {
	var zero T
	n, start := len(raw)/int(unsafe.Sizeof(zero)), unsafe.Pointer(unsafe.SliceData(raw))
	if n > 0 && littleEndian && uintptr(start)%unsafe.Alignof(zero) == 0 {
		return unsafe.Slice((*T)(start), n)
	}
	data := make([]T, n)
	_, _ = binary.Decode(raw, binary.LittleEndian, data)
	return data
}
