package cached

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/google/renameio/v2"
)

// What a container may hold, and limits on what one may claim.
const (
	kindModel = "model"
	kindCache = "cache"

	containerMagic   = "NODEMASK"
	containerVersion = 1
	containerHead    = 16 // bytes: magic, version, length of the header
	maxContainer     = 64 << 30
	maxHeader        = 16 << 20
	maxSections      = 4096
)

// The types of sections.
const (
	typeFloats  = "float32"
	typeInts    = "int32"
	typeLongs   = "int64"
	typeStrings = "text"
)

// container is a file of named sections: a trained model, or a cache of representations. All numbers are little-endian:
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
// in UTF-8, of "bytes" bytes together. Equal contents, put in the same order, make equal files.
//
// What is put in and what is taken out is not copied: it may not be changed while the container is in use.
type container struct {
	kind     string
	meta     json.RawMessage
	file     string // names it in errors
	sections []section
	byName   map[string]int
	err      error // the first that putting something met
}

// section is one entry of the header, and what it stands for.
type section struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes,omitempty"` // of text

	at   int64 // where in the file
	data any   // []float32, []int32, []int64, []string, or packedText
}

// packedText is text as it lies in a file, checked.
type packedText struct {
	ends []int64
	text []byte
}

type containerHeader struct {
	Kind     string          `json:"kind"`
	Meta     json.RawMessage `json:"meta"`
	Sections json.RawMessage `json:"sections"`
}

// newContainer is an empty container. Meta is kept as JSON.
func newContainer(kind string, meta any) (*container, error) {
	if kind != kindModel && kind != kindCache {
		return nil, fmt.Errorf("cached: a container of kind %q: expected %q or %q", kind, kindModel, kindCache)
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("cached: the description of a %s: %w", kind, err)
	}
	return &container{kind: kind, meta: raw, file: "new " + kind, byName: map[string]int{}}, nil
}

// putFloats and its siblings add a section. What is wrong with one, writeFile reports.
func (c *container) putFloats(name string, data []float32) {
	c.put(section{Name: name, Type: typeFloats, Rows: int64(len(data)), data: data})
}

func (c *container) putInts(name string, data []int32) {
	c.put(section{Name: name, Type: typeInts, Rows: int64(len(data)), data: data})
}

func (c *container) putLongs(name string, data []int64) {
	c.put(section{Name: name, Type: typeLongs, Rows: int64(len(data)), data: data})
}

func (c *container) putStrings(name string, data []string) {
	s := section{Name: name, Type: typeStrings, Rows: int64(len(data)), data: data}
	for row, text := range data {
		if !utf8.ValidString(text) && c.err == nil {
			c.err = fmt.Errorf("section %.40q: row %d is %.40q: expected UTF-8", name, row, text)
		}
		s.Bytes += int64(len(text))
	}
	c.put(s)
}

func (c *container) put(s section) {
	if err := c.add(s); err != nil && c.err == nil {
		c.err = err
	}
}

func (c *container) add(s section) error {
	if s.Name == "" || !utf8.ValidString(s.Name) {
		return fmt.Errorf("a section is called %.40q: expected a name in UTF-8", s.Name)
	}
	if _, twice := c.byName[s.Name]; twice {
		return fmt.Errorf("two sections are called %.40q", s.Name)
	}
	if len(c.sections) == maxSections {
		return fmt.Errorf("more than %d sections", maxSections)
	}
	c.byName[s.Name] = len(c.sections)
	c.sections = append(c.sections, s)
	return nil
}

// writeFile writes the container under another name, syncs it and renames it: path is whole or as it was.
func (c *container) writeFile(path string) error {
	if err := c.save(path); err != nil {
		return fmt.Errorf("%s: the %s cannot be written: %w", path, c.kind, err)
	}
	return nil
}

func (c *container) save(path string) error {
	if c.err != nil {
		return c.err
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if err := c.write(f); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// write streams: what it holds besides the sections is small.
func (c *container) write(to io.Writer) error {
	sections, err := json.Marshal(c.sections)
	if err != nil {
		return err
	}
	if len(c.sections) == 0 {
		sections = []byte("[]")
	}
	header, err := json.Marshal(containerHeader{c.kind, c.meta, sections})
	if err != nil {
		return err
	}
	if len(header) > maxHeader {
		return fmt.Errorf("its description takes %d bytes: expected at most %d", len(header), maxHeader)
	}
	size := padded(int64(containerHead+len(header))) + sha256.Size
	for _, s := range c.sections {
		size += padded(s.Rows*s.width() + s.Bytes)
	}
	if size > maxContainer {
		return fmt.Errorf("it takes %d bytes: expected at most %d", size, int64(maxContainer))
	}
	sum := sha256.New()
	w := paddedWriter{Writer: bufio.NewWriterSize(io.MultiWriter(to, sum), 1<<16)}
	w.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte(containerMagic), containerVersion), uint32(len(header))))
	w.Write(header)
	w.pad(int64(len(header)))
	for _, s := range c.sections {
		switch data := s.data.(type) {
		case []float32:
			writeNumbers(w, data)
		case []int32:
			writeNumbers(w, data)
		case []int64:
			writeNumbers(w, data)
		case packedText:
			writeNumbers(w, data.ends)
			w.Write(data.text)
		case []string:
			end := int64(0)
			for _, text := range data {
				end += int64(len(text))
				w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), uint64(end)))
			}
			for _, text := range data {
				w.WriteString(text)
			}
		}
		w.pad(s.Rows*s.width() + s.Bytes)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = to.Write(sum.Sum(nil))
	return err
}

// paddedWriter keeps what it could not write for Flush to report.
type paddedWriter struct{ *bufio.Writer }

// pad writes the zeros that follow after size bytes.
func (w paddedWriter) pad(size int64) { w.Write(make([]byte, padded(size)-size)) }

func padded(size int64) int64 { return (size + 7) &^ 7 }

type containerNumber interface{ float32 | int32 | int64 }

func writeNumbers[T containerNumber](w io.Writer, data []T) {
	var buf []byte
	for chunk := range slices.Chunk(data, 8192) {
		buf, _ = binary.Append(buf[:0], binary.LittleEndian, chunk) // fails only for what has no fixed size
		w.Write(buf)
	}
}

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
