package numpy

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/numpy/numpytest"
)

func readArray(b []byte) (*Array, error) {
	return newArray(bytes.NewReader(b), int64(len(b)), "a.npy")
}

func readAll[T any](t *testing.T, array []byte, n int, read func(a *Array, into []T) error) []T {
	t.Helper()
	a, err := readArray(array)
	require.NoError(t, err)
	values := make([]T, n)
	require.NoError(t, read(a, values))
	return values
}

func halfBits(v float32) uint16 { // exact for the tests' values
	bits := math.Float32bits(v)
	return uint16(bits>>16&0x8000) | uint16((int(bits>>23&255)-127+15)<<10) | uint16(bits>>13&1023)
}

func TestNPYReadsEveryNumberTypeInBothByteOrders(t *testing.T) {
	for descr, elements := range map[string]any{
		"|i1": []int8{1, 0, 3}, "<i2": []int16{1, 0, 3}, "<i4": []int32{1, 0, 3}, "<i8": []int64{1, 0, 3},
		"|u1": []uint8{1, 0, 3}, "<u2": []uint16{1, 0, 3}, "<u4": []uint32{1, 0, 3}, "<u8": []uint64{1, 0, 3},
		"<f2": []uint16{halfBits(1), 0, halfBits(3)}, "<f4": []float32{1, 0, 3}, "<f8": []float64{1, 0,
			3}, "=i4": []int32{1, 0, 3},
	} {
		little := numpytest.Array(descr, []int{3}, elements)
		var big bytes.Buffer
		big.Write(bytes.Replace(little[:len(little)-binary.Size(elements)], []byte("'<"), []byte("'>"), 1))
		require.NoError(t, binary.Write(&big, binary.BigEndian, elements))
		if descr[0] == '=' {
			big.Reset()
			big.Write(little)
		}
		for _, b := range [][]byte{little, big.Bytes()} {
			assert.Equal(t, []int64{1, 0, 3}, readAll(t, b, 3, (*Array).Ints), descr)
			assert.Equal(t, []float32{1, 0, 3}, readAll(t, b, 3, (*Array).Float32s), descr)
		}
	}
}

func TestNPYReadsNegativeNumbersAndBools(t *testing.T) {
	negative := numpytest.Array("|i1", []int{2}, []int8{-1, -128})
	assert.Equal(t, []int64{-1, -128}, readAll(t, negative, 2, (*Array).Ints))
	bools := numpytest.Array("|b1", []int{2}, []bool{true, false})
	assert.Equal(t, []int64{1, 0}, readAll(t, bools, 2, (*Array).Ints))
}

func TestNPYWidensHalfFloatsExactly(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.33325195, 0x7bff: 65504, 0x0001: 5.9604645e-8, 0x0400: 6.1035156e-5,
		0x03ff: 6.097555e-5,
	} {
		assert.Equal(t, want, half(bits), "%#04x", bits)
	}
	assert.True(t, math.IsInf(float64(half(0xfc00)), -1))
	assert.True(t, half(0x7e00) != half(0x7e00), "NaN")
}

// Halves are 0.333251953125 = 1365/4096, 65504 (the largest), infinity and NaN.
func TestNPYReadsTextAndWritesNumbersAsText(t *testing.T) {
	unicode := numpytest.Array("<U3", []int{2}, []uint32{'G', 'N', 'N', 'é', 0, 0})
	assert.Equal(t, []string{"GNN", "é"}, readAll(t, unicode, 2, (*Array).Strings))
	ascii := numpytest.Array("|S3", []int{2}, "GNNa\x00\x00")
	assert.Equal(t, []string{"GNN", "a"}, readAll(t, ascii, 2, (*Array).Strings))
	halves := numpytest.Array("<f2", []int{4}, []uint16{0x3555, 0x7bff, 0x7c00, 0x7e00})
	assert.Equal(t, []string{"0.33325195", "65504", "+Inf", "NaN"}, readAll(t, halves, 4, (*Array).Strings))
}

func TestNPYReadsWhatPython2AndVersions2And3Wrote(t *testing.T) {
	a, err := readArray(numpytest.ArrayWith("{'shape': (2L, 1L), 'descr': '<i4', 'fortran_order': False}", []int32{7, 8}))
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 1}, a.Shape)
	for version := byte(2); version <= 3; version++ {
		b := numpytest.Array("<i4", []int{1}, []int32{7})
		length := binary.LittleEndian.Uint16(b[8:])
		long := append([]byte("\x93NUMPY"), version, 0)
		long = binary.LittleEndian.AppendUint32(long, uint32(length))
		assert.Equal(t, []int64{7}, readAll(t, append(long, b[10:]...), 1, (*Array).Ints))
	}
}

func TestNPYErrorsSayWhereAndWhat(t *testing.T) {
	good := numpytest.Array("<i4", []int{2}, []int32{1, 2})
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"empty":           {nil, "byte 0: the array ends here, 10 bytes early"},
		"another format":  {[]byte("PK\x03\x04 this is a zip"), "byte 0: this is not an npy array"},
		"version":         {append([]byte("\x93NUMPY\x09\x00"), good[8:]...), "byte 6: npy version 9"},
		"header's length": {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f"), "byte 8: the header claims 2147483647 bytes"},
		"cut short": {good[:len(good)-1],
			"byte 10: the header claims shape [2] of <i4, which takes 8 bytes, but 7 are there"},
		"goes on": {append(bytes.Clone(good), 0), "which takes 8 bytes, but 9 are there"},
		"a trillion rows": {numpytest.TooLarge(),
			"the header claims shape [1000000000000] of <f8, which takes 8000000000000 bytes, but 16 are there"},
		"overflow": {numpytest.ArrayWith("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, "+
			"4294967296)}", ""), "the header claims"},
		"hidden by a zero": {numpytest.ArrayWith("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1000000000, "+
			"1000000000)}", ""), "more than"},
		"objects": {numpytest.Array("|O", []int{1}, "x"), "Python objects"},
		"records": {numpytest.ArrayWith("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", ""),
			"records with several fields"},
		"complex":     {numpytest.Array("<c8", []int{1}, []float64{0}), `type "<c8": expected bool, integers`},
		"long double": {numpytest.Array("<f16", []int{1}, "0123456789abcdef"), `type "<f16"`},
		"empty text":  {numpytest.Array("<U0", []int{1000000}, ""), "text must take"},
		"huge text":   {numpytest.Array("|S100000000", []int{1}, ""), "text must take"},
		"negative length": {numpytest.ArrayWith("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", ""),
			"expected a length"},
		"no descr":    {numpytest.ArrayWith("{'fortran_order': False, 'shape': (1,)}", ""), `lacks "descr"`},
		"twice":       {numpytest.ArrayWith("{'shape': (1,), 'shape': (1,)}", ""), `"shape" twice`},
		"unknown key": {numpytest.ArrayWith("{'shade': (1,)}", ""), `the key "shade"`},
		"open quote":  {numpytest.ArrayWith("{'shape", ""), "expected a key in quotes"},
		"trailing": {numpytest.ArrayWith("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} + evil()", ""),
			"goes on after its end"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readArray(c.bytes)
			require.ErrorContains(t, err, c.says)
			assert.ErrorContains(t, err, "a.npy: byte ")
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestNPYRefusesNumbersThatDoNotFit(t *testing.T) {
	for name, b := range map[string][]byte{
		"half an integer": numpytest.Array("<f8", []int{1}, []float64{1.5}),
		"NaN":             numpytest.Array("<f4", []int{1}, []float32{float32(math.NaN())}),
		"too large":       numpytest.Array("<u8", []int{1}, []uint64{1 << 63}),
		"a half's half":   numpytest.Array("<f2", []int{1}, []uint16{0x3800}),
	} {
		a, err := readArray(b)
		require.NoError(t, err)
		require.ErrorContains(t, a.Ints(make([]int64, 1)), "is not a whole number", name)
	}
	for name, v := range map[string]float64{"NaN": math.NaN(), "infinity": math.Inf(-1), "beyond 32 bits": 1e200} {
		a, err := readArray(numpytest.Array("<f8", []int{2}, []float64{0, v}))
		require.NoError(t, err)
		require.ErrorContains(t, a.Float32s(make([]float32, 2)), "expected a finite number", name)
	}
	a, err := readArray(numpytest.Array("<f2", []int{2}, []uint16{0, 0xfc00}))
	require.NoError(t, err)
	require.ErrorContains(t, a.Float32s(make([]float32, 2)), "element -Inf of type <f2: expected a finite number")
}
