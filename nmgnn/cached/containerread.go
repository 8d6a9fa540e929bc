package cached

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
	"unsafe"
)

// readContainer reads a container of the expected kind, and checks all of it. What it takes is the file's size and a
// few times the header's, whatever the file claims. Its sections of numbers are parts of the file as it was read.
func readContainer(path, kind string) (*container, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe waits for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: this is not a regular file (%s): expected a nodemask %s", path, info.Mode(), kind)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	return parseContainer(f, info.Size(), path, kind)
}

// containerParser reads a container of which size bytes are there.
type containerParser struct {
	*container
	r    io.Reader
	size int64
	want string // kind
}

func parseContainer(r io.Reader, size int64, path, kind string) (*container, error) {
	p := containerParser{&container{file: path, byName: map[string]int{}}, r, size, kind}
	if limit := min(int64(maxContainer), math.MaxInt); size > limit {
		return nil, fmt.Errorf("%s: the file has %d bytes: expected a nodemask %s of at most %d", path, size, kind, limit)
	}
	begin, err := p.header()
	if err != nil {
		return nil, err
	}
	if err := p.layout(begin); err != nil {
		return nil, err
	}
	whole := make([]byte, size)
	if err := p.fill(whole[copy(whole, begin):], int64(len(begin))); err != nil {
		return nil, err
	}
	if err := p.verify(whole); err != nil {
		return nil, err
	}
	return p.container, nil
}

// header reads the file up to the end of its header.
func (p *containerParser) header() ([]byte, error) {
	head := make([]byte, min(containerHead, p.size))
	if err := p.fill(head, 0); err != nil {
		return nil, err
	}
	if magic := head[:min(len(head), len(containerMagic))]; string(magic) != containerMagic {
		return nil, p.errorf(0, "this is not a nodemask %s: found %q, expected %q. Name another file", p.want, magic, containerMagic)
	}
	if len(head) < containerHead {
		return nil, p.damaged(p.size, "the file ends here, at least %d bytes early", containerHead+sha256.Size-p.size)
	}
	switch version := binary.LittleEndian.Uint32(head[8:]); {
	case version > containerVersion:
		return nil, p.errorf(8, "format version %d: this was written by a newer nodemask, or is damaged: expected version %d. Update nodemask", version, containerVersion)
	case version < containerVersion:
		return nil, p.damaged(8, "format version %d: expected %d", version, containerVersion)
	}
	length := int64(binary.LittleEndian.Uint32(head[12:]))
	if most := max(0, min(maxHeader, p.size-containerHead-sha256.Size)); length > most {
		return nil, p.damaged(12, "the header claims %d bytes: expected at most %d", length, most)
	}
	begin := make([]byte, containerHead+length)
	return begin, p.fill(begin[copy(begin, head):], containerHead)
}

// layout takes the header apart, and holds what it claims against the file's size. It stops at the first section that is
// wrong, so that no list of them takes more memory than the header does.
func (p *containerParser) layout(begin []byte) error {
	var h containerHeader
	if err := json.Unmarshal(begin[containerHead:], &h); err != nil {
		return p.damaged(containerHead, "the header cannot be read: %.120w", err)
	}
	p.kind, p.meta = h.Kind, h.Meta
	list := json.NewDecoder(bytes.NewReader(h.Sections))
	if open, _ := list.Token(); open != json.Delim('[') {
		return p.damaged(containerHead, "the header's \"sections\" read %.40q: expected a list", h.Sections)
	}
	at, end := padded(int64(len(begin))), p.size-sha256.Size
	for list.More() {
		var s section
		if err := list.Decode(&s); err != nil {
			return p.damaged(containerHead, "section %d of the header cannot be read: %.120w", len(p.sections), err)
		}
		s.at = at
		if err := p.add(s); err != nil {
			return p.damaged(containerHead, "the header is wrong: %w", err)
		}
		width, left := s.width(), max(0, end-at)
		if width == 0 {
			return p.damaged(containerHead, "section %.40q is of type %.40q: expected %s, %s, %s or %s", s.Name, s.Type, typeFloats, typeInts, typeLongs, typeStrings)
		}
		if s.Rows < 0 || s.Rows > left/width {
			return p.damaged(at, "section %.40q claims %d rows of %s: expected 0 to %d, as many as fit into what is left of the file", s.Name, s.Rows, s.Type, left/width)
		}
		if left -= s.Rows * width; s.Type != typeStrings {
			left = 0
		}
		if s.Bytes < 0 || s.Bytes > left {
			return p.damaged(at, "section %.40q of type %s claims %d bytes of text: expected 0 to %d", s.Name, s.Type, s.Bytes, left)
		}
		at = padded(at + s.Rows*width + s.Bytes)
	}
	switch {
	case at > end:
		return p.damaged(p.size, "the file ends here, %d bytes early", at-end)
	case at < end:
		return p.damaged(at+sha256.Size, "%d bytes follow after the last section and the checksum", end-at)
	}
	return nil
}

// verify holds the whole file against its checksum, and finds the sections in it.
func (p *containerParser) verify(whole []byte) error {
	end := p.size - sha256.Size
	if sum := sha256.Sum256(whole[:end]); !bytes.Equal(sum[:], whole[end:]) {
		return p.damaged(end, "the checksum is %x…, but that of what is there is %x…", whole[end:][:6], sum[:6])
	}
	switch {
	case p.kind != kindModel && p.kind != kindCache:
		return p.errorf(containerHead, "this is of unknown kind %.40q: expected a %s. Name another file", p.kind, p.want)
	case p.kind != p.want:
		return p.errorf(containerHead, "this is a %s: expected a %s. Name another file", p.kind, p.want)
	}
	for i := range p.sections {
		s := &p.sections[i]
		numbers := whole[s.at:][:s.Rows*s.width()]
		switch s.Type {
		case typeFloats:
			s.data = viewNumbers[float32](numbers)
		case typeInts:
			s.data = viewNumbers[int32](numbers)
		case typeLongs:
			s.data = viewNumbers[int64](numbers)
		case typeStrings:
			t := packedText{viewNumbers[int64](numbers), whole[s.at:][len(numbers):][:s.Bytes]}
			if err := p.checkText(*s, t); err != nil {
				return err
			}
			s.data = t
		}
	}
	return nil
}

func (p *containerParser) checkText(s section, t packedText) error {
	start := int64(0)
	for row, end := range t.ends {
		at := s.at + 8*int64(row)
		if end < start || end > s.Bytes {
			return p.damaged(at, "section %.40q: row %d ends at %d: expected %d to %d", s.Name, row, end, start, s.Bytes)
		}
		if text := t.text[start:end]; !utf8.Valid(text) {
			return p.damaged(s.at+8*s.Rows+start, "section %.40q: row %d is %.40q: expected UTF-8", s.Name, row, text)
		}
		start = end
	}
	if start != s.Bytes {
		return p.damaged(s.at+8*s.Rows+start, "section %.40q: its text ends here, but the header claims %d bytes more", s.Name, s.Bytes-start)
	}
	return nil
}

func (p *containerParser) fill(b []byte, at int64) error {
	n, err := io.ReadFull(p.r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return p.damaged(at+int64(n), "the file ends here, %d bytes early: it was cut while being read", len(b)-n)
	}
	if err != nil {
		return fmt.Errorf("%s: byte %d: %w", p.file, at+int64(n), err)
	}
	return nil
}

func (c *container) errorf(at int64, format string, args ...any) error {
	return fmt.Errorf("%s: byte %d: %w", c.file, at, fmt.Errorf(format, args...))
}

// damaged is an error that ends in what to do about a damaged file.
func (p *containerParser) damaged(at int64, format string, args ...any) error {
	return p.errorf(at, "%w. The file is damaged or cut short: %s", fmt.Errorf(format, args...), remedy(p.want))
}

func remedy(kind string) string {
	if kind == kindCache {
		return "delete it and run the same command, which makes it again"
	}
	return "get it again, or train the model again"
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// viewNumbers is the numbers that raw holds: raw itself where the machine can read it in place, else a copy.
func viewNumbers[T containerNumber](raw []byte) []T {
	var zero T
	n, start := len(raw)/int(unsafe.Sizeof(zero)), unsafe.Pointer(unsafe.SliceData(raw))
	if n > 0 && littleEndian && uintptr(start)%unsafe.Alignof(zero) == 0 {
		return unsafe.Slice((*T)(start), n)
	}
	data := make([]T, n)
	_, _ = binary.Decode(raw, binary.LittleEndian, data) // fails only if raw is too short
	return data
}

// floats and its siblings are a section's data. It is an error if there is none of that name, or if it is of another type.
func (c *container) floats(name string) ([]float32, error) {
	return sectionData[[]float32](c, name, typeFloats)
}

func (c *container) ints(name string) ([]int32, error) {
	return sectionData[[]int32](c, name, typeInts)
}

func (c *container) longs(name string) ([]int64, error) {
	return sectionData[[]int64](c, name, typeLongs)
}

// strings are copies: they do not keep the file in memory.
func (c *container) strings(name string) ([]string, error) {
	data, err := sectionData[any](c, name, typeStrings)
	if err != nil {
		return nil, err
	}
	t, packed := data.(packedText)
	if !packed {
		return data.([]string), nil
	}
	all, start := string(t.text), int64(0)
	texts := make([]string, len(t.ends))
	for row, end := range t.ends {
		texts[row], start = all[start:end], end
	}
	return texts, nil
}

func sectionData[T any](c *container, name, kind string) (T, error) {
	var none T
	i, found := c.byName[name]
	if !found {
		return none, c.errorf(containerHead, "the header lists %d sections, but not %q, of type %s. Another version of nodemask wrote it: %s", len(c.sections), name, kind, remedy(c.kind))
	}
	s := c.sections[i]
	if s.Type != kind {
		return none, c.errorf(s.at, "section %q holds %s: expected %s. Another version of nodemask wrote it: %s", name, s.Type, kind, remedy(c.kind))
	}
	return s.data.(T), nil
}

// decodeMeta fills in what newContainer was given. Keys that into does not know are left out.
func (c *container) decodeMeta(into any) error {
	if err := json.Unmarshal(c.meta, into); err != nil {
		return c.errorf(containerHead, "the description of the %s cannot be read: %.120w. Another version of nodemask wrote it: %s", c.kind, err, remedy(c.kind))
	}
	return nil
}
