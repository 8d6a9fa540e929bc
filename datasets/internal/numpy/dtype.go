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

// ErrObjects is the error for an array of Python objects.
var ErrObjects = errors.New("the array holds Python objects, which only running a pickle could read: save it as " +
	"numbers or text, for instance with .astype(str)")

// Dtype is the type of an array's elements.
type Dtype struct {
	Kind  byte // 'b' booleans, 'i' and 'u' integers, 'f' floats, 'B' bfloat16, 'S' bytes, 'U' text
	Size  int  // bytes per element
	Order binary.ByteOrder
}

// BFloat16 is PyTorch's bfloat16, the upper half of a float32.
var BFloat16 = Dtype{'B', 2, binary.LittleEndian}

// ParseDtype reads a name such as "<f4", "|b1" or ">U10". It returns [ErrObjects] for Python objects.
func ParseDtype(name string) (Dtype, error) {
	t := Dtype{Order: binary.LittleEndian}
	rest := strings.TrimLeft(name, "<>|=")
	if strings.HasPrefix(name, ">") {
		t.Order = binary.BigEndian
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
	case t.Kind == 'S' || t.Kind == 'U':
		if t.Kind == 'U' {
			t.Size *= 4
		}
		if size == 0 || t.Size > maxText {
			return Dtype{}, fmt.Errorf("type %.20q: text must take 1 to %d bytes", name, maxText)
		}
	default:
		return Dtype{}, unknown
	}
	return t, nil
}

// String returns a name such as "int64", "float32" or "text".
func (t Dtype) String() string {
	switch {
	case t.Kind == 'B':
		return "bfloat16"
	case t.Kind == 'b':
		return "bool"
	case t.IsText():
		return "text"
	}
	return map[byte]string{'i': "int", 'u': "uint", 'f': "float"}[t.Kind] + strconv.Itoa(8*t.Size)
}

// IsText reports whether elements are text or bytes.
func (t Dtype) IsText() bool { return t.Kind == 'S' || t.Kind == 'U' }

// IsWhole reports whether elements are integers or booleans.
func (t Dtype) IsWhole() bool { return t.Kind == 'i' || t.Kind == 'u' || t.Kind == 'b' }

func (t Dtype) integer(b []byte) int64 {
	n := t.bits(b)
	if t.Kind == 'i' {
		free := 64 - 8*t.Size
		return int64(n<<free) >> free
	}
	return int64(n)
}

func (t Dtype) float(b []byte) float64 {
	switch {
	case t.Kind == 'i':
		return float64(t.integer(b))
	case t.Kind == 'B':
		return float64(math.Float32frombits(uint32(t.bits(b)) << 16))
	case t.Kind != 'f':
		return float64(t.bits(b))
	case t.Size == 2:
		return float64(half(uint16(t.bits(b))))
	case t.Size == 4:
		return float64(math.Float32frombits(uint32(t.bits(b))))
	}
	return math.Float64frombits(t.bits(b))
}

func (t Dtype) text(b []byte) string {
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
	case 'f', 'B':
		// strconv lacks 16-bit floats, but float32 holds them exactly.
		return strconv.FormatFloat(t.float(b), 'g', -1, max(32, 8*t.Size))
	case 'i':
		return strconv.FormatInt(t.integer(b), 10)
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
