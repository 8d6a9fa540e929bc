package numpy

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// npy returns an array of version 1 as numpy writes it.
func npy(descr, shape string, elements any, order binary.AppendByteOrder) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, shape)
	file := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text))), text...)
	if content, ok := elements.(string); ok {
		return append(file, content...)
	}
	file, _ = binary.Append(file, order.(binary.ByteOrder), elements)
	return file
}

// everyType holds three elements of each type, and their text.
var everyType = map[string]struct {
	elements any
	texts    [3]string
}{
	"b1": {[]bool{false, true, true}, [3]string{"0", "1", "1"}}, "S2": {"0\x001\x00ab", [3]string{"0", "1", "ab"}},
	"U2": {[]uint32{'0', 0, '1', 0, 'é', 'b'}, [3]string{"0", "1", "éb"}},
	"i1": {[]int8{0, 1, -128}, [3]string{"0", "1", "-128"}}, "i2": {[]int16{0, 1, -2}, [3]string{"0", "1", "-2"}},
	"i4": {[]int32{0, 1, -1}, [3]string{"0", "1", "-1"}},
	"i8": {[]int64{0, 1, math.MinInt64}, [3]string{"0", "1", "-9223372036854775808"}},
	"u1": {[]uint8{0, 1, 255}, [3]string{"0", "1", "255"}}, "u2": {[]uint16{0, 1, 2}, [3]string{"0", "1", "2"}},
	"u4": {[]uint32{0, 1, 2}, [3]string{"0", "1", "2"}},
	"u8": {[]uint64{0, 1, math.MaxUint64}, [3]string{"0", "1", "18446744073709551615"}},
	"f2": {[]uint16{0, 0x3c00, 0x3555}, [3]string{"0", "1", "0.33325195"}}, // 1365/4096
	"f4": {[]float32{0, 1, 0.1}, [3]string{"0", "1", "0.1"}},
	"f8": {[]float64{0, 1, math.Inf(1)}, [3]string{"0", "1", "+Inf"}},
}

func TestEveryTypeIsReadInBothByteOrders(t *testing.T) {
	for descr, c := range everyType {
		for order, bytes := range map[string]binary.AppendByteOrder{"<": binary.LittleEndian, ">": binary.BigEndian} {
			a, err := Parse("a", npy(order+descr, "3,", c.elements, bytes))
			require.NoError(t, err, descr)
			for i, text := range c.texts {
				assert.Equal(t, text, a.Text(int64(i), 0), descr)
			}
			if !a.Type.IsText() {
				assert.Equal(t, 1.0, a.Float(1, 0), descr)
			}
			if a.Type.IsWhole() {
				assert.EqualValues(t, 1, a.Int(1, 0), descr)
			}
		}
	}
}

func TestHalfFloatsWidenExactly(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.33325195, 0x7bff: 65504, 0x0001: 5.9604645e-8, 0x0400: 6.1035156e-5,
		0x03ff: 6.097555e-5,
	} {
		assert.Equal(t, want, half(bits), "%#04x", bits)
	}
	assert.True(t, math.IsInf(float64(half(0xfc00)), -1))
	assert.True(t, half(0x7e00) != half(0x7e00), "NaN")
	assert.Equal(t, "-2", BFloat16.text([]byte{0, 0xc0}))
}

func TestVersions2And3AndPython2AreRead(t *testing.T) {
	b := npy("<i4", "2L, 1L", []int32{7, 8}, binary.LittleEndian)
	for version := byte(2); version <= 3; version++ {
		long := append([]byte("\x93NUMPY"), version, 0)
		long = binary.LittleEndian.AppendUint32(long, uint32(binary.LittleEndian.Uint16(b[8:])))
		a, err := Parse("a", append(long, b[10:]...))
		require.NoError(t, err)
		assert.Equal(t, []int64{2, 1}, a.Shape)
		assert.EqualValues(t, 8, a.Int(1, 0))
	}
}

func TestArraysThatCannotBeAreErrors(t *testing.T) {
	good := string(npy("<i4", "2,", []int32{1, 2}, binary.LittleEndian))
	array := func(descr, shape, content string) string {
		return string(npy(descr, shape, content, binary.LittleEndian))
	}
	for _, c := range [][2]string{
		{"", `this is not an npy array: found ""`},
		{"PK\x03\x04 and so on", `this is not an npy array: found "PK\x03\x04 a"`},
		{good[:30], "the header claims"},
		{"\x93NUMPY\x02\x00\xff", "this is not an npy array"},
		{"\x93NUMPY\x02\x00\xff\xff", "the header claims 10 bytes in a file of 10"},
		{good[:len(good)-1], "shape [2] of int32 does not fit 7 bytes: the file is damaged or cut short"},
		{good + "x", "shape [2] of int32 does not fit 9 bytes"},
		{array("<f8", "1000000000000,", "0123456789abcdef"), "shape [1000000000000] of float64 does not fit 16 bytes"},
		{array("<f8", "4294967296, 4294967296", ""), "does not fit 0 bytes"},
		{array("<f8", "99999999999999999999,", ""), `shape reads "99999999999999999999": expected a length`},
		{array("|O", "1,", "x"), "Python objects"},
		{strings.Replace(array("<f4567", "1,", "abcd"), "'<f4567'", "[('a',)]", 1), "records with several fields"},
		{array("<c8", "1,", "01234567"), `type "<c8": expected bool, integers`},
		{array("<f16", "1,", "0123456789abcdef"), `type "<f16"`},
		{array("<U0", "1000000,", ""), "text must take"},
		{array("|S100000000", "1,", ""), "text must take"},
		{array("<f8", "-1,", ""), "the header reads"},
		{strings.Replace(array("<f8", "1,", "01234567"), "fortran_order", "fortran_ordeR", 1), "the header reads"},
	} {
		_, err := Parse("a", []byte(c[0]))
		require.ErrorContains(t, err, c[1])
		assert.ErrorContains(t, err, "a: ")
		assert.NotContains(t, err.Error(), "\n")
	}
}

// FuzzNPY reads any bytes as an array, and all of its elements.
func FuzzNPY(f *testing.F) {
	for descr, c := range everyType {
		f.Add(npy("<"+descr, "3,", c.elements, binary.LittleEndian))
		f.Add(npy(">"+descr, "1, 3", c.elements, binary.BigEndian))
	}
	f.Add(npy("<f2", "", "\x00\x7c", binary.LittleEndian))
	f.Add([]byte("\x93NUMPY\x03\x00\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Parse("a", b)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		rows, columns, ok := a.Rows()
		require.LessOrEqual(t, a.Len()*int64(a.Type.Size), int64(len(b)))
		for i := range rows {
			for j := range columns {
				require.True(t, ok && utf8.ValidString(a.Text(i, j)))
				if !a.Type.IsText() {
					a.Float(i, j)
				}
			}
		}
	})
}
