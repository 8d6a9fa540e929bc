package numpy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxText = 64 << 10

// ErrObjects refuses an array of Python objects.
var ErrObjects = errors.New("the array holds Python objects, which only running a pickle could read: save it as " +
	"numbers or text, for instance with .astype(str)")

// Dtype is the type of an array's elements.
type Dtype struct {
	Name  string // as written, e.g. "<f4"
	Kind  byte   // 'b' booleans, 'i' and 'u' integers, 'f' floats, 'S' bytes, 'U' text
	Size  int    // bytes per element
	Order binary.ByteOrder
}

// ParseDtype reads a name such as "<f4", "|b1" or ">U10". It returns [ErrObjects] for Python objects.
func ParseDtype(name string) (Dtype, error) {
	t := Dtype{Name: name, Order: binary.LittleEndian}
	rest := name
	if len(rest) > 0 && strings.ContainsRune("<>|=", rune(rest[0])) {
		if rest[0] == '>' {
			t.Order = binary.BigEndian
		}
		rest = rest[1:]
	}
	if rest == "?" {
		rest = "b1"
	}
	if strings.HasPrefix(rest, "O") {
		return Dtype{}, ErrObjects
	}
	unknown := fmt.Errorf("type %.20q: expected bool, integers, float16 to float64, or text", name)
	if len(rest) < 2 {
		return Dtype{}, unknown
	}
	size, err := strconv.ParseUint(rest[1:], 10, 31)
	if err != nil {
		return Dtype{}, unknown
	}
	t.Kind, t.Size = rest[0], int(size)
	switch {
	case t.Kind == 'b' && size == 1:
	case (t.Kind == 'i' || t.Kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8):
	case t.Kind == 'f' && (size == 2 || size == 4 || size == 8):
	case t.Kind == 'a' || t.Kind == 'S' || t.Kind == 'U':
		if t.Kind == 'a' { // an old name of 'S'
			t.Kind = 'S'
		}
		if t.Kind == 'U' {
			t.Size *= 4
		}
		if size == 0 || size > maxText || t.Size > maxText {
			return Dtype{}, fmt.Errorf("type %.20q: text must take 1 to %d bytes", name, maxText)
		}
	default:
		return Dtype{}, unknown
	}
	return t, nil
}

// IsText reports whether elements are text or bytes.
func (t Dtype) IsText() bool { return t.Kind == 'S' || t.Kind == 'U' }

// Int returns the integer or boolean at the start of b; a uint64 beyond int64 comes out negative.
func (t Dtype) Int(b []byte) int64 {
	n := t.bits(b)
	if t.Kind == 'i' {
		free := 64 - 8*t.Size
		return int64(n<<free) >> free
	}
	return int64(n)
}

// Float returns the number at the start of b.
func (t Dtype) Float(b []byte) float64 {
	switch {
	case t.Kind == 'i':
		return float64(t.Int(b))
	case t.Kind != 'f':
		return float64(t.bits(b))
	case t.Size == 2:
		return float64(half(uint16(t.bits(b))))
	case t.Size == 4:
		return float64(math.Float32frombits(uint32(t.bits(b))))
	}
	return math.Float64frombits(t.bits(b))
}

// Text returns the element at the start of b: numbers in decimal, invalid UTF-8 as U+FFFD.
func (t Dtype) Text(b []byte) string {
	switch t.Kind {
	case 'S':
		return strings.ToValidUTF8(string(bytes.TrimRight(b[:t.Size], "\x00")), "\uFFFD")
	case 'U':
		var s strings.Builder
		for i := 0; i < t.Size; i += 4 {
			r := t.Order.Uint32(b[i:])
			if r > utf8.MaxRune {
				r = utf8.RuneError
			}
			s.WriteRune(rune(r))
		}
		return strings.TrimRight(s.String(), "\x00")
	case 'f':
		// strconv lacks float16, but 32 bits hold one exactly.
		return strconv.FormatFloat(t.Float(b), 'g', -1, max(32, 8*t.Size))
	case 'i':
		return strconv.FormatInt(t.Int(b), 10)
	}
	return strconv.FormatUint(t.bits(b), 10)
}

func (t Dtype) bits(b []byte) uint64 {
	switch t.Size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(t.Order.Uint16(b))
	case 4:
		return uint64(t.Order.Uint32(b))
	}
	return t.Order.Uint64(b)
}

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

func (t Dtype) ints(b []byte, dst []int64) int {
	little := t.Order == binary.LittleEndian
	switch {
	case t.Kind == 'i' && t.Size == 4 && little: // common layouts, without a call per element
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case t.Kind == 'i' && t.Size == 8 && little:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case t.Kind == 'i' || t.Kind == 'u' || t.Kind == 'b':
		for i := range dst {
			if dst[i] = t.Int(b[i*t.Size:]); dst[i] < 0 && t.Kind != 'i' {
				return i
			}
		}
	case t.Kind == 'f':
		for i := range dst {
			v := t.Float(b[i*t.Size:])
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

func (t Dtype) float32s(b []byte, dst []float32) int {
	little := t.Order == binary.LittleEndian
	switch {
	case t.IsText():
		return 0
	case t.Kind == 'f' && t.Size == 4 && little: // common layouts, without a call per element
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case t.Kind == 'f' && t.Size == 8 && little:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	case t.Kind == 'f':
		for i := range dst {
			dst[i] = float32(t.Float(b[i*t.Size:]))
		}
	case t.Kind == 'i':
		for i := range dst {
			dst[i] = float32(t.Int(b[i*t.Size:]))
		}
	default:
		for i := range dst {
			dst[i] = float32(t.bits(b[i*t.Size:]))
		}
	}
	for i, v := range dst {
		if v-v != 0 { // NaN and both infinities
			return i
		}
	}
	return len(dst)
}
