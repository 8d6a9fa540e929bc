package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits on what an array may claim. They are far above any real graph and far below what would hurt.
const (
	maxNPYHeader  = 64 << 10 // bytes of text; numpy itself refuses more than 10,000 by default
	maxNPYDims    = 8
	maxNPYString  = 64 << 10 // bytes one string element may take
	npyChunk      = 64 << 10 // bytes decoded at a time
	maxNPYElement = 1 << 40  // elements; only keeps products far from overflowing
)

// npyHeader says what an array holds.
type npyHeader struct {
	Descr   string // as written, e.g. "<f4"
	Kind    byte   // 'b' bool, 'i' and 'u' integers, 'f' floats, 'S' bytes, 'U' text
	Size    int    // bytes one element takes
	Order   binary.ByteOrder
	Fortran bool // first index runs fastest
	Shape   []int64
}

// Len is the number of elements.
func (h npyHeader) Len() int64 {
	n := int64(1)
	for _, d := range h.Shape {
		n *= d
	}
	return n
}

// npyArray is an npy array read as a stream, in file order. Nothing is allocated by what the header claims: the
// caller does so, and only after the claim was held against the bytes that are there.
type npyArray struct {
	npyHeader
	where string // names the file and member in errors
	r     io.Reader
	at    int64 // bytes read so far, header included
	left  int64 // elements not read yet
	buf   []byte
}

// newNPY reads the header of an array of which size bytes (header included) are there.
func newNPY(r io.Reader, size int64, where string) (*npyArray, error) {
	a := &npyArray{where: where, r: r}
	head := make([]byte, 12)
	if err := a.fill(head[:10]); err != nil {
		return nil, err
	}
	if string(head[:6]) != "\x93NUMPY" {
		return nil, a.errorf(0, "this is not an npy array: found %q, expected \"\\x93NUMPY\"", head[:6])
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
		return nil, a.errorf(6, "npy version %d: expected 1, 2 or 3", head[6])
	}
	if length > maxNPYHeader || length > size-a.at {
		return nil, a.errorf(8, "the header claims %d bytes: expected at most %d", length, max(0, min(maxNPYHeader, size-a.at)))
	}
	begin := a.at
	text := make([]byte, length)
	if err := a.fill(text); err != nil {
		return nil, err
	}
	h, err := parseNPYHeader(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", a.where, begin, err)
	}
	a.npyHeader = h
	a.left = h.Len()
	if need, there := a.left*int64(h.Size), size-a.at; need != there {
		return nil, a.errorf(begin, "the header claims shape %s of %s, which takes %d bytes, but %d are there. The file is damaged or cut short: get it again",
			shapeString(h.Shape), h.Descr, need, there)
	}
	return a, nil
}

func (a *npyArray) errorf(at int64, format string, args ...any) error {
	return fmt.Errorf("%s: byte %d: %s", a.where, at, fmt.Sprintf(format, args...))
}

func (a *npyArray) fill(b []byte) error {
	n, err := io.ReadFull(a.r, b)
	a.at += int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return a.errorf(a.at, "the array ends here, %d bytes early. The file is damaged or cut short: get it again", len(b)-n)
	}
	if err != nil {
		return fmt.Errorf("%s: byte %d: %w", a.where, a.at, err)
	}
	return nil
}

// chunk reads the raw bytes of the next n elements, or of as many as fit into a chunk.
func (a *npyArray) chunk(n int) ([]byte, int, error) {
	if int64(n) > a.left {
		return nil, 0, a.errorf(a.at, "%d more elements wanted, but %d are left of shape %s", n, a.left, shapeString(a.Shape))
	}
	n = min(n, max(1, npyChunk/a.Size))
	if cap(a.buf) < n*a.Size {
		a.buf = make([]byte, n*a.Size)
	}
	b := a.buf[:n*a.Size]
	if err := a.fill(b); err != nil {
		return nil, 0, err
	}
	if a.left -= int64(n); a.left == 0 {
		// A zip checks a member's checksum only when it is read to its end.
		if _, err := io.ReadFull(a.r, make([]byte, 1)); !errors.Is(err, io.EOF) {
			if err == nil {
				err = errors.New("bytes follow after the last element")
			}
			return nil, 0, fmt.Errorf("%s: byte %d: %w", a.where, a.at, err)
		}
	}
	return b, n, nil
}

// Ints reads the next len(dst) elements as integers. Floats must be whole numbers.
func (a *npyArray) Ints(dst []int64) error {
	for len(dst) > 0 {
		begin := a.at
		b, n, err := a.chunk(len(dst))
		if err != nil {
			return err
		}
		if i := decodeInts(a.npyHeader, b, dst[:n]); i < n {
			return a.errorf(begin+int64(i*a.Size), "element %s of type %s is not a whole number that fits 64 bits", a.element(b[i*a.Size:]), a.Descr)
		}
		dst = dst[n:]
	}
	return nil
}

// Indices reads the next len(dst) elements, which must lie from 0 to limit-1. What names them in errors.
func (a *npyArray) Indices(dst []int32, limit int64, what string) error {
	var wide [1024]int64
	for len(dst) > 0 {
		n := min(len(dst), len(wide))
		begin := a.left
		if err := a.Ints(wide[:n]); err != nil {
			return err
		}
		for i, v := range wide[:n] {
			if v < 0 || v >= limit {
				return fmt.Errorf("%s: element %d: names %s %d, but there are %d (0 to %d)", a.where, a.Len()-begin+int64(i), what, v, limit, limit-1)
			}
			dst[i] = int32(v)
		}
		dst = dst[n:]
	}
	return nil
}

// Float32s reads the next len(dst) elements, and refuses those that are not finite in 32 bits.
func (a *npyArray) Float32s(dst []float32) error {
	for len(dst) > 0 {
		begin := a.at
		b, n, err := a.chunk(len(dst))
		if err != nil {
			return err
		}
		if i := decodeFloat32s(a.npyHeader, b, dst[:n]); i < n {
			return a.errorf(begin+int64(i*a.Size), "element %s of type %s: expected a finite number that fits 32 bits", a.element(b[i*a.Size:]), a.Descr)
		}
		dst = dst[n:]
	}
	return nil
}

// Strings reads the next len(dst) elements of a text or bytes array; numbers are formatted.
func (a *npyArray) Strings(dst []string) error {
	for len(dst) > 0 {
		b, n, err := a.chunk(len(dst))
		if err != nil {
			return err
		}
		for i := range n {
			dst[i] = a.element(b[i*a.Size : (i+1)*a.Size])
		}
		dst = dst[n:]
	}
	return nil
}

// element formats the element at the start of b.
func (h npyHeader) element(b []byte) string {
	switch h.Kind {
	case 'S':
		return strings.ToValidUTF8(string(bytes.TrimRight(b[:h.Size], "\x00")), "\uFFFD")
	case 'U':
		var s strings.Builder
		for i := 0; i < h.Size; i += 4 {
			r := h.Order.Uint32(b[i:])
			if r > utf8.MaxRune {
				r = utf8.RuneError
			}
			s.WriteRune(rune(r))
		}
		return strings.TrimRight(s.String(), "\x00")
	case 'f':
		return strconv.FormatFloat(h.float(b), 'g', -1, max(32, h.Size*8)) // strconv knows no halves; 32 bits hold one exactly
	case 'b':
		return strconv.Itoa(int(b[0]))
	case 'u':
		return strconv.FormatUint(h.bits(b), 10)
	}
	return strconv.FormatInt(h.signed(b), 10)
}

func (h npyHeader) bits(b []byte) uint64 {
	switch h.Size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(h.Order.Uint16(b))
	case 4:
		return uint64(h.Order.Uint32(b))
	}
	return h.Order.Uint64(b)
}

func (h npyHeader) signed(b []byte) int64 {
	shift := 64 - 8*h.Size
	return int64(h.bits(b)<<shift) >> shift
}

func (h npyHeader) float(b []byte) float64 {
	switch h.Size {
	case 2:
		return float64(half(h.Order.Uint16(b)))
	case 4:
		return float64(math.Float32frombits(h.Order.Uint32(b)))
	}
	return math.Float64frombits(h.Order.Uint64(b))
}

// half widens a 16-bit float.
func half(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, int(bits>>10&31), uint32(bits&1023)
	var v float32
	switch exponent {
	case 0:
		v = float32(fraction) / (1 << 24)
	case 31:
		v = math.Float32frombits(0xff<<23 | fraction<<13)
	default:
		v = math.Float32frombits(uint32(exponent-15+127)<<23 | fraction<<13)
	}
	return math.Float32frombits(math.Float32bits(v) | sign)
}

// decodeInts returns how many of dst it could fill.
func decodeInts(h npyHeader, b []byte, dst []int64) int {
	little := h.Order == binary.LittleEndian
	switch {
	case h.Kind == 'i' && h.Size == 4 && little: // the common layouts, without a call for each element
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case h.Kind == 'i' && h.Size == 8 && little:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case h.Kind == 'i':
		for i := range dst {
			dst[i] = h.signed(b[i*h.Size:])
		}
	case h.Kind == 'u' || h.Kind == 'b':
		for i := range dst {
			v := h.bits(b[i*h.Size:])
			if v > math.MaxInt64 {
				return i
			}
			dst[i] = int64(v)
		}
	case h.Kind == 'f':
		for i := range dst {
			v := h.float(b[i*h.Size:])
			if v != math.Trunc(v) || math.Abs(v) > 1<<53 { // NaN differs from itself
				return i
			}
			dst[i] = int64(v)
		}
	default:
		return 0
	}
	return len(dst)
}

// decodeFloat32s returns how many of dst it could fill with finite numbers.
func decodeFloat32s(h npyHeader, b []byte, dst []float32) int {
	little := h.Order == binary.LittleEndian
	switch {
	case h.Kind == 'f' && h.Size == 4 && little:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case h.Kind == 'f' && h.Size == 8 && little:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	case h.Kind == 'f':
		for i := range dst {
			dst[i] = float32(h.float(b[i*h.Size:]))
		}
	case h.Kind == 'i':
		for i := range dst {
			dst[i] = float32(h.signed(b[i*h.Size:]))
		}
	case h.Kind == 'u' || h.Kind == 'b':
		for i := range dst {
			dst[i] = float32(h.bits(b[i*h.Size:]))
		}
	default:
		return 0
	}
	for i, v := range dst {
		if v-v != 0 { // NaN and both infinities
			return i
		}
	}
	return len(dst)
}

func shapeString(shape []int64) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.FormatInt(d, 10)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
