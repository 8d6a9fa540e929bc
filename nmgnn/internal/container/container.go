// Package container reads the files of named sections in which nodemask up to 0.3 kept models and caches, to convert them.
// Nothing writes them any more. All numbers are little-endian:
//
//	8 bytes     "NODEMASK"
//	uint32      version of the format: 1
//	uint32      length of the header
//	header      JSON: {"kind": "model", "meta": …, "sections": [{"name": "w", "type": "float32", "rows": 12}, …]}
//	            zeros up to a multiple of 8 bytes
//	sections    one after the other as the header lists them, each followed by zeros up to a multiple of 8 bytes
//	32 bytes    SHA-256 of everything before
//
// A section of numbers is its rows. One of text is an int64 for each row, saying where its text ends, and then the texts
// in UTF-8, of "bytes" bytes together.
package container

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"unicode/utf8"
)

// Magic is what these files begin with.
const Magic = "NODEMASK"

// Limits on what a file may claim.
const (
	version     = 1
	headSize    = 16 // bytes: magic, version, length of the header
	maxSize     = 64 << 30
	maxHeader   = 16 << 20
	maxSections = 4096
)

// The types of sections.
const (
	typeFloats  = "float32"
	typeInts    = "int32"
	typeLongs   = "int64"
	typeStrings = "text"
)

// File is a file that was read, and checked.
type File struct {
	Kind     string          // "model" or "cache"
	Meta     json.RawMessage // its description
	path     string
	whole    []byte
	sections []section
	byName   map[string]int
}

// section is one entry of the header.
type section struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"` // of text

	at int64 // where in the file
}

// Read reads a file and checks all of it. What it takes is the file's size and a few times the header's, whatever the
// file claims.
func Read(path string) (*File, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe waits for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: this is not a regular file (%s): expected a model or a cache", path, info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	return parse(f, info.Size(), path)
}

func parse(r io.Reader, size int64, path string) (*File, error) {
	f := &File{path: path, byName: map[string]int{}}
	if limit := min(int64(maxSize), math.MaxInt); size > limit {
		return nil, fmt.Errorf("%s: the file has %d bytes: expected at most %d", path, size, limit)
	}
	begin, err := f.header(r, size)
	if err != nil {
		return nil, err
	}
	if err := f.layout(begin, size); err != nil {
		return nil, err
	}
	f.whole = make([]byte, size)
	if err := f.fill(r, f.whole[copy(f.whole, begin):], int64(len(begin))); err != nil {
		return nil, err
	}
	end := size - sha256.Size
	if sum := sha256.Sum256(f.whole[:end]); !bytes.Equal(sum[:], f.whole[end:]) {
		return nil, f.damaged(end, "the checksum is %x…, but that of what is there is %x…", f.whole[end:][:6], sum[:6])
	}
	if f.Kind != "model" && f.Kind != "cache" {
		return nil, f.errorf(headSize, "this is of unknown kind %.40q: expected a model or a cache. Name another file", f.Kind)
	}
	return f, nil
}

// header reads the file up to the end of its header.
func (f *File) header(r io.Reader, size int64) ([]byte, error) {
	head := make([]byte, min(headSize, size))
	if err := f.fill(r, head, 0); err != nil {
		return nil, err
	}
	if magic := head[:min(len(head), len(Magic))]; string(magic) != Magic {
		return nil, f.errorf(0, "this is not a file of nodemask 0.3 or older: found %q, expected %q. Name another file", magic, Magic)
	}
	if len(head) < headSize {
		return nil, f.damaged(size, "the file ends here, at least %d bytes early", headSize+sha256.Size-size)
	}
	if found := binary.LittleEndian.Uint32(head[8:]); found != version {
		return nil, f.damaged(8, "format version %d: expected %d", found, version)
	}
	length := int64(binary.LittleEndian.Uint32(head[12:]))
	if most := max(0, min(maxHeader, size-headSize-sha256.Size)); length > most {
		return nil, f.damaged(12, "the header claims %d bytes: expected at most %d", length, most)
	}
	begin := make([]byte, headSize+length)
	return begin, f.fill(r, begin[copy(begin, head):], headSize)
}

// layout takes the header apart, and holds what it claims against the file's size. It stops at the first section that is
// wrong, so that no list of them takes more memory than the header does.
func (f *File) layout(begin []byte, size int64) error {
	var h struct {
		Kind     string          `json:"kind"`
		Meta     json.RawMessage `json:"meta"`
		Sections json.RawMessage `json:"sections"`
	}
	if err := json.Unmarshal(begin[headSize:], &h); err != nil {
		return f.damaged(headSize, "the header cannot be read: %.120w", err)
	}
	f.Kind, f.Meta = h.Kind, h.Meta
	list := json.NewDecoder(bytes.NewReader(h.Sections))
	if open, _ := list.Token(); open != json.Delim('[') {
		return f.damaged(headSize, "the header's \"sections\" read %.40q: expected a list", h.Sections)
	}
	at, end := padded(int64(len(begin))), size-sha256.Size
	for list.More() {
		var s section
		if err := list.Decode(&s); err != nil {
			return f.damaged(headSize, "section %d of the header cannot be read: %.120w", len(f.sections), err)
		}
		_, twice := f.byName[s.Name]
		width, left := s.width(), max(0, end-at)
		switch {
		case s.Name == "" || twice || len(f.sections) == maxSections:
			return f.damaged(headSize, "section %d of the header is called %.40q: expected at most %d sections, each with a name of its own", len(f.sections), s.Name, maxSections)
		case width == 0:
			return f.damaged(headSize, "section %.40q is of type %.40q: expected %s, %s, %s or %s", s.Name, s.Type, typeFloats, typeInts, typeLongs, typeStrings)
		case s.Rows < 0 || s.Rows > left/width:
			return f.damaged(at, "section %.40q claims %d rows of %s: expected 0 to %d, as many as fit into what is left of the file", s.Name, s.Rows, s.Type, left/width)
		}
		if left -= s.Rows * width; s.Type != typeStrings {
			left = 0
		}
		if s.Bytes < 0 || s.Bytes > left {
			return f.damaged(at, "section %.40q of type %s claims %d bytes of text: expected 0 to %d", s.Name, s.Type, s.Bytes, left)
		}
		s.at = at
		f.byName[s.Name] = len(f.sections)
		f.sections = append(f.sections, s)
		at = padded(at + s.Rows*width + s.Bytes)
	}
	if at != end {
		return f.damaged(min(at, size), "the sections end at byte %d and the checksum begins at byte %d: expected one place", at, end)
	}
	return nil
}

// padded rounds up to a multiple of 8.
func padded(size int64) int64 { return (size + 7) &^ 7 }

// width is how many bytes a row takes, or 0 for an unknown type.
func (s section) width() int64 {
	switch s.Type {
	case typeFloats, typeInts:
		return 4
	case typeLongs, typeStrings:
		return 8
	}
	return 0
}

func (f *File) fill(r io.Reader, b []byte, at int64) error {
	n, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f.damaged(at+int64(n), "the file ends here, %d bytes early: it was cut while being read", len(b)-n)
	}
	if err != nil {
		return fmt.Errorf("%s: byte %d: %w", f.path, at+int64(n), err)
	}
	return nil
}

func (f *File) errorf(at int64, format string, args ...any) error {
	return fmt.Errorf("%s: byte %d: %w", f.path, at, fmt.Errorf(format, args...))
}

// damaged is an error that ends in what to do about a damaged file.
func (f *File) damaged(at int64, format string, args ...any) error {
	return f.errorf(at, "%w. The file is damaged or cut short: get it again, or train the model again", fmt.Errorf(format, args...))
}

// Floats returns a copy of a section of numbers, as Ints and Longs do. It is an error if there is none of that name, or if
// it is of another type.
func (f *File) Floats(name string) ([]float32, error) { return numbers[float32](f, name, typeFloats) }

// Ints returns a section of int32.
func (f *File) Ints(name string) ([]int32, error) { return numbers[int32](f, name, typeInts) }

// Longs returns a section of int64.
func (f *File) Longs(name string) ([]int64, error) { return numbers[int64](f, name, typeLongs) }

// Strings returns a section of text.
func (f *File) Strings(name string) ([]string, error) {
	s, err := f.section(name, typeStrings)
	if err != nil {
		return nil, err
	}
	ends := make([]int64, s.Rows)
	_, _ = binary.Decode(f.whole[s.at:], binary.LittleEndian, ends) // fails only if the file were shorter
	text := string(f.whole[s.at+8*s.Rows:][:s.Bytes])
	texts, start := make([]string, s.Rows), int64(0)
	for row, end := range ends {
		if end < start || end > s.Bytes {
			return nil, f.damaged(s.at+8*int64(row), "section %.40q: row %d ends at %d: expected %d to %d", name, row, end, start, s.Bytes)
		}
		if texts[row], start = text[start:end], end; !utf8.ValidString(texts[row]) {
			return nil, f.damaged(s.at+8*s.Rows, "section %.40q: row %d is %.40q: expected UTF-8", name, row, texts[row])
		}
	}
	return texts, nil
}

func numbers[T float32 | int32 | int64](f *File, name, kind string) ([]T, error) {
	s, err := f.section(name, kind)
	if err != nil {
		return nil, err
	}
	data := make([]T, s.Rows)
	_, _ = binary.Decode(f.whole[s.at:], binary.LittleEndian, data) // fails only if the file were shorter
	return data, nil
}

func (f *File) section(name, kind string) (section, error) {
	i, found := f.byName[name]
	if !found {
		return section{}, f.damaged(headSize, "the header lists %d sections, but not %.40q, of type %s", len(f.sections), name, kind)
	}
	s := f.sections[i]
	if s.Type != kind {
		return section{}, f.damaged(s.at, "section %.40q holds %s: expected %s", name, s.Type, kind)
	}
	return s, nil
}
