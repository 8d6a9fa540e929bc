package nmgnn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"unicode/utf8"

	"github.com/google/renameio/v2"
)

// container is the file format of trained models and of caches, little-endian:
//
//	 0  8 bytes  "NODEMASK"
//	 8  uint32   version of the format
//	12  uint32   length of the header
//	16  header   JSON: kind, what the kind says about itself, and the sections' names, types and counts
//	    sections one after the other, each padded with zeros to a multiple of 8 bytes
//	    32 bytes SHA-256 of everything before
//
// Text is a section of lengths, an int32 each, and one of bytes.
type container struct {
	path   string // that it was read from
	header containerHeader
	data   map[string][]byte
}

type containerHeader struct {
	Kind     string             `json:"kind"`
	About    json.RawMessage    `json:"about"`
	Sections []containerSection `json:"sections"`
}

type containerSection struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // float32, int32, int64 or bytes
	Count int64  `json:"count"`
}

const (
	containerMagic     = "NODEMASK"
	containerVersion   = 1
	containerPrefix    = 16
	maxContainerHeader = 64 << 20
	maxContainer       = 64 << 30
)

var containerSizes = map[string]int64{"float32": 4, "int32": 4, "int64": 8, "bytes": 1}

func newContainer(kind string, about any) (*container, error) {
	text, err := json.Marshal(about)
	if err != nil {
		return nil, fmt.Errorf("nmgnn: describing a %s: %w", kind, err)
	}
	return &container{header: containerHeader{Kind: kind, About: text}, data: map[string][]byte{}}, nil
}

func (c *container) put(name, kind string, count int, data any) {
	c.header.Sections = append(c.header.Sections, containerSection{name, kind, int64(count)})
	// Only a type without a fixed size fails to encode.
	c.data[name], _ = binary.Append(nil, binary.LittleEndian, data)
}

func (c *container) putFloats(name string, x []float32) { c.put(name, "float32", len(x), x) }
func (c *container) putInts(name string, x []int32)     { c.put(name, "int32", len(x), x) }
func (c *container) putLongs(name string, x []int64)    { c.put(name, "int64", len(x), x) }

func (c *container) putStrings(name string, x []string) {
	lengths := make([]int32, len(x))
	var all bytes.Buffer
	for i, s := range x {
		lengths[i] = int32(len(s))
		all.WriteString(s)
	}
	c.putInts(name+".lengths", lengths)
	c.put(name, "bytes", all.Len(), all.Bytes())
}

func padded(n int64) int64 { return (n + 7) &^ 7 }

// writeFile writes the container whole or not at all.
func (c *container) writeFile(path string) error {
	header, err := json.Marshal(c.header)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for int64(len(header)+containerPrefix)%8 != 0 {
		header = append(header, ' ')
	}
	if len(header) > maxContainerHeader {
		return fmt.Errorf("%s: a header of %d bytes: at most %d can be read back", path, len(header), maxContainerHeader)
	}
	file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer file.Cleanup()
	sum := sha256.New()
	out := io.MultiWriter(file, sum)
	prefix := append([]byte(containerMagic), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(prefix[8:], containerVersion)
	binary.LittleEndian.PutUint32(prefix[12:], uint32(len(header)))
	parts := [][]byte{prefix, header}
	for _, s := range c.header.Sections {
		data := c.data[s.Name]
		parts = append(parts, data, make([]byte, padded(int64(len(data)))-int64(len(data))))
	}
	for _, part := range parts {
		if _, err := out.Write(part); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	if _, err := file.Write(sum.Sum(nil)); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// readContainer reads a file of a kind, in one read, and checks all of it.
func readContainer(path, kind string) (*container, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxContainer {
		return nil, fmt.Errorf("%s: a %s of %d bytes: expected a file of at most %d", path, info.Mode().Type(), info.Size(), int64(maxContainer))
	}
	all := make([]byte, info.Size())
	if _, err := io.ReadFull(f, all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c, err := parseContainer(all, kind)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.path = path
	return c, nil
}

// parseContainer makes no copy: sections are parts of all.
func parseContainer(all []byte, kind string) (*container, error) {
	const damaged = "the file is damaged or cut short: save it again"
	if len(all) < containerPrefix+sha256.Size || string(all[:8]) != containerMagic {
		return nil, fmt.Errorf("byte 0: no %s file of nodemask's: expected it to begin with %q", kind, containerMagic)
	}
	if v := binary.LittleEndian.Uint32(all[8:]); v != containerVersion {
		return nil, fmt.Errorf("byte 8: version %d of the format: this nodemask reads version %d", v, containerVersion)
	}
	body, sum := all[:len(all)-sha256.Size], all[len(all)-sha256.Size:]
	length := int64(binary.LittleEndian.Uint32(all[12:]))
	if length > maxContainerHeader || length > int64(len(body)-containerPrefix) {
		return nil, fmt.Errorf("byte 12: a header of %d bytes in a file of %d: %s", length, len(all), damaged)
	}
	if own := sha256.Sum256(body); !bytes.Equal(own[:], sum) {
		return nil, fmt.Errorf("byte %d: the checksum does not match: %s", len(body), damaged)
	}
	c := &container{data: map[string][]byte{}}
	if err := json.Unmarshal(body[containerPrefix:containerPrefix+length], &c.header); err != nil {
		return nil, fmt.Errorf("byte %d: the header: %w", containerPrefix, err)
	}
	if c.header.Kind != kind {
		return nil, fmt.Errorf("this is a %q file, not a %s", c.header.Kind, kind)
	}
	at := containerPrefix + length
	for _, s := range c.header.Sections {
		size, known := containerSizes[s.Type]
		left := int64(len(body)) - at
		if !known || s.Count < 0 || s.Count > left/size || padded(s.Count*size) > left {
			return nil, fmt.Errorf("byte %d: section %q of %d × %s does not fit the %d bytes that are left: %s", at, s.Name, s.Count, s.Type, left, damaged)
		}
		if _, twice := c.data[s.Name]; twice {
			return nil, fmt.Errorf("byte %d: section %q is there twice", at, s.Name)
		}
		c.data[s.Name] = body[at : at+s.Count*size]
		at += padded(s.Count * size)
	}
	if at != int64(len(body)) {
		return nil, fmt.Errorf("byte %d: %d bytes more than the sections take: %s", at, int64(len(body))-at, damaged)
	}
	return c, nil
}

func (c *container) about(into any) error {
	if err := json.Unmarshal(c.header.About, into); err != nil {
		return fmt.Errorf("%s: the header: %w", c.path, err)
	}
	return nil
}

func (c *container) section(name, kind string) (data []byte, count int64, err error) {
	for _, s := range c.header.Sections {
		if s.Name == name && s.Type == kind {
			return c.data[name], s.Count, nil
		}
	}
	return nil, 0, fmt.Errorf("%s: no section %q of %s: the file was not written by this program", c.path, name, kind)
}

func (c *container) floats(name string) ([]float32, error) {
	data, count, err := c.section(name, "float32")
	if err != nil {
		return nil, err
	}
	x := make([]float32, count)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if x[i]-x[i] != 0 {
			return nil, fmt.Errorf("%s: section %q: number %d is %v: expected finite ones", c.path, name, i, x[i])
		}
	}
	return x, nil
}

func (c *container) ints(name string) ([]int32, error) {
	data, count, err := c.section(name, "int32")
	if err != nil {
		return nil, err
	}
	x := make([]int32, count)
	for i := range x {
		x[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return x, nil
}

func (c *container) longs(name string) ([]int64, error) {
	data, count, err := c.section(name, "int64")
	if err != nil {
		return nil, err
	}
	x := make([]int64, count)
	for i := range x {
		x[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return x, nil
}

func (c *container) strings(name string) ([]string, error) {
	lengths, err := c.ints(name + ".lengths")
	if err != nil {
		return nil, err
	}
	data, _, err := c.section(name, "bytes")
	if err != nil {
		return nil, err
	}
	text, x := string(data), make([]string, len(lengths))
	at := 0
	for i, n := range lengths {
		if n < 0 || int(n) > len(text)-at || !utf8.ValidString(text[at:at+int(n)]) {
			return nil, fmt.Errorf("%s: section %q: text %d of %d bytes is not there, or no UTF-8", c.path, name, i, n)
		}
		x[i] = text[at : at+int(n)]
		at += int(n)
	}
	if at != len(text) {
		return nil, fmt.Errorf("%s: section %q: %d bytes more than its texts take", c.path, name, len(text)-at)
	}
	return x, nil
}
