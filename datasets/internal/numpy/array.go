// Package numpy streams numpy's files: arrays (npy) and zips of arrays (npz).
//
// Files are treated as hostile: lengths are checked before allocating, objects never unpickled, and errors name file,
// member and place.
package numpy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	maxHeader = 64 << 10 // bytes of text; numpy's default is 10,000
	chunkSize = 64 << 10 // bytes decoded at a time
)

// Array streams an array. It never allocates by the header's length; the caller may, as that many bytes exist.
type Array struct {
	Header

	where  string // file and member, for errors
	r      io.Reader
	closer io.Closer // nil: nothing to close
	at     int64     // bytes read, header included
	left   int64     // unread elements
	buf    []byte
}

// newArray reads a header; size counts all bytes, header included.
func newArray(r io.Reader, size int64, where string) (*Array, error) {
	a := &Array{where: where, r: r}
	head := make([]byte, 12)
	if err := a.fill(head[:10]); err != nil {
		return nil, err
	}
	if string(head[:6]) != "\x93NUMPY" {
		return nil, a.atByte(0, "this is not an npy array: found %q, expected \"\\x93NUMPY\"", head[:6])
	}
	length := int64(binary.LittleEndian.Uint16(head[8:10]))
	switch head[6] {
	case 1:
	case 2, 3:
		if err := a.fill(head[10:12]); err != nil {
			return nil, err
		}
		length = int64(binary.LittleEndian.Uint32(head[8:12]))
	default:
		return nil, a.atByte(6, "npy version %d: expected 1, 2 or 3", head[6])
	}
	if length > maxHeader || length > size-a.at {
		return nil, a.atByte(8, "the header claims %d bytes: expected at most %d", length, max(0, min(maxHeader, size-a.at)))
	}
	begin := a.at
	text := make([]byte, length)
	if err := a.fill(text); err != nil {
		return nil, err
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return nil, a.atByte(begin, "%w", err)
	}
	a.Header = h
	a.left = h.Len()
	if need, there := a.left*int64(h.Type.Size), size-a.at; need != there {
		return nil, a.atByte(begin,
			"the header claims shape %s of %s, which takes %d bytes, but %d are there. The file is damaged or cut short: get "+
				"it again",
			ShapeText(h.Shape), h.Type.Name, need, there)
	}
	return a, nil
}

// Close closes the member; others stay open.
func (a *Array) Close() error {
	if a.closer == nil {
		return nil
	}
	return a.closer.Close()
}

// Errorf returns an error that names file and member.
func (a *Array) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", a.where, fmt.Errorf(format, args...))
}

func (a *Array) atByte(at int64, format string, args ...any) error {
	return a.Errorf("byte %d: %w", at, fmt.Errorf(format, args...))
}

func (a *Array) fill(b []byte) error {
	n, err := io.ReadFull(a.r, b)
	a.at += int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return a.atByte(a.at, "the array ends here, %d bytes early. The file is damaged or cut short: get it again", len(b)-n)
	}
	if err != nil {
		return a.atByte(a.at, "%w", err)
	}
	return nil
}

func (a *Array) chunk(n int) ([]byte, int, error) {
	if int64(n) > a.left {
		return nil, 0, a.atByte(a.at, "%d more elements wanted, but %d are left of shape %s", n, a.left, ShapeText(a.Shape))
	}
	n = min(n, max(1, chunkSize/a.Type.Size))
	if cap(a.buf) < n*a.Type.Size {
		a.buf = make([]byte, n*a.Type.Size)
	}
	b := a.buf[:n*a.Type.Size]
	if err := a.fill(b); err != nil {
		return nil, 0, err
	}
	if a.left -= int64(n); a.left == 0 {
		// A zip checks a member's checksum only at its end.
		if _, err := io.ReadFull(a.r, make([]byte, 1)); !errors.Is(err, io.EOF) {
			if err == nil {
				err = errors.New("bytes follow after the last element")
			}
			return nil, 0, a.atByte(a.at, "%w", err)
		}
	}
	return b, n, nil
}

// read decodes the next len(dst) elements; wrong explains an early stop.
func read[T any](a *Array, dst []T, decode func(b []byte, dst []T) int, wrong string) error {
	for len(dst) > 0 {
		begin := a.at
		b, n, err := a.chunk(len(dst))
		if err != nil {
			return err
		}
		if i := decode(b, dst[:n]); i < n {
			at := i * a.Type.Size
			return a.atByte(begin+int64(at), "element %s of type %s%s", a.Type.Text(b[at:]), a.Type.Name, wrong)
		}
		dst = dst[n:]
	}
	return nil
}

// Ints reads the next len(dst) elements as integers. Floats must be integral.
func (a *Array) Ints(dst []int64) error {
	return read(a, dst, a.Type.ints, " is not a whole number that fits 64 bits")
}

// Indices reads the next len(dst) elements, each from 0 to limit-1; what names the indexed things in errors.
func (a *Array) Indices(dst []int32, limit int64, what string) error {
	var wide [1024]int64
	for len(dst) > 0 {
		n := min(len(dst), len(wide))
		begin := a.left
		if err := a.Ints(wide[:n]); err != nil {
			return err
		}
		for i, v := range wide[:n] {
			if v < 0 || v >= limit {
				return a.Errorf("element %d: names %s %d, but there are %d (0 to %d)",
					a.Len()-begin+int64(i), what, v, limit, limit-1)
			}
			dst[i] = int32(v)
		}
		dst = dst[n:]
	}
	return nil
}

// Float32s reads the next len(dst) elements, finite in 32 bits.
func (a *Array) Float32s(dst []float32) error {
	return read(a, dst, a.Type.float32s, ": expected a finite number that fits 32 bits")
}

// Strings reads the next len(dst) elements as text; see [Dtype.Text] for numbers.
func (a *Array) Strings(dst []string) error {
	return read(a, dst, func(b []byte, dst []string) int {
		for i := range dst {
			dst[i] = a.Type.Text(b[i*a.Type.Size : (i+1)*a.Type.Size])
		}
		return len(dst)
	}, "")
}

// ShapeText returns a shape as in "[2708, 1433]".
func ShapeText(shape []int64) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.FormatInt(d, 10)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
