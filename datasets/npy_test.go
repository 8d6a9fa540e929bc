package datasets

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNPYReadsEveryNumberTypeInBothByteOrders(t *testing.T) {
	for descr, elements := range map[string]any{
		"|i1": []int8{1, 0, 3}, "<i2": []int16{1, 0, 3}, "<i4": []int32{1, 0, 3}, "<i8": []int64{1, 0, 3},
		"|u1": []uint8{1, 0, 3}, "<u2": []uint16{1, 0, 3}, "<u4": []uint32{1, 0, 3}, "<u8": []uint64{1, 0, 3},
		"<f2": []uint16{halfBits(1), 0, halfBits(3)}, "<f4": []float32{1, 0, 3}, "<f8": []float64{1, 0, 3}, "=i4": []int32{1, 0, 3},
	} {
		little := npy(descr, []int{3}, elements)
		var big bytes.Buffer
		big.Write(bytes.Replace(little[:len(little)-binary.Size(elements)], []byte("'<"), []byte("'>"), 1))
		require.NoError(t, binary.Write(&big, binary.BigEndian, elements))
		if descr[0] == '=' {
			big.Reset()
			big.Write(little)
		}
		for _, b := range [][]byte{little, big.Bytes()} {
			a, err := readArray(b)
			require.NoError(t, err, descr)
			ints := make([]int64, 3)
			require.NoError(t, a.Ints(ints), descr)
			assert.Equal(t, []int64{1, 0, 3}, ints, descr)
			a, err = readArray(b)
			require.NoError(t, err)
			floats := make([]float32, 3)
			require.NoError(t, a.Float32s(floats), descr)
			assert.Equal(t, []float32{1, 0, 3}, floats, descr)
		}
	}
}

func TestNPYReadsNegativeNumbersAndBools(t *testing.T) {
	a, err := readArray(npy("|i1", []int{2}, []int8{-1, -128}))
	require.NoError(t, err)
	ints := make([]int64, 2)
	require.NoError(t, a.Ints(ints))
	assert.Equal(t, []int64{-1, -128}, ints)
	a, err = readArray(npy("|b1", []int{2}, []bool{true, false}))
	require.NoError(t, err)
	require.NoError(t, a.Ints(ints))
	assert.Equal(t, []int64{1, 0}, ints)
}

func TestNPYWidensHalfFloatsExactly(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.33325195, 0x7bff: 65504, 0x0001: 5.9604645e-8, 0x0400: 6.1035156e-5, 0x03ff: 6.097555e-5,
	} {
		assert.Equal(t, want, half(bits), "%#04x", bits)
	}
	assert.True(t, math.IsInf(float64(half(0xfc00)), -1))
	assert.True(t, half(0x7e00) != half(0x7e00), "NaN")
}

func TestNPYReadsTextAndBytes(t *testing.T) {
	a, err := readArray(npy("<U3", []int{2}, []uint32{'G', 'N', 'N', 'é', 0, 0}))
	require.NoError(t, err)
	text := make([]string, 2)
	require.NoError(t, a.Strings(text))
	assert.Equal(t, []string{"GNN", "é"}, text)
	a, err = readArray(npy("|S3", []int{2}, "GNNa\x00\x00"))
	require.NoError(t, err)
	require.NoError(t, a.Strings(text))
	assert.Equal(t, []string{"GNN", "a"}, text)
}

// Halves are 0.333251953125 = 1365/4096, 65504 (the largest), infinity and NaN.
func TestNPYWritesHalfFloatsAsText(t *testing.T) {
	a, err := readArray(npy("<f2", []int{4}, []uint16{0x3555, 0x7bff, 0x7c00, 0x7e00}))
	require.NoError(t, err)
	text := make([]string, 4)
	require.NoError(t, a.Strings(text))
	assert.Equal(t, []string{"0.33325195", "65504", "+Inf", "NaN"}, text)
}

func TestNPYReadsWhatPython2AndVersions2And3Wrote(t *testing.T) {
	a, err := readArray(npyWith("{'shape': (2L, 1L), 'descr': '<i4', 'fortran_order': False}", []int32{7, 8}))
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 1}, a.Shape)
	for version := byte(2); version <= 3; version++ {
		b := npy("<i4", []int{1}, []int32{7})
		length := binary.LittleEndian.Uint16(b[8:])
		long := append([]byte("\x93NUMPY"), version, 0)
		long = binary.LittleEndian.AppendUint32(long, uint32(length))
		a, err := readArray(append(long, b[10:]...))
		require.NoError(t, err)
		one := make([]int64, 1)
		require.NoError(t, a.Ints(one))
		assert.Equal(t, int64(7), one[0])
	}
}

func TestNPYErrorsSayWhereAndWhat(t *testing.T) {
	good := npy("<i4", []int{2}, []int32{1, 2})
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"empty":            {nil, "byte 0: the array ends here, 10 bytes early"},
		"another format":   {[]byte("PK\x03\x04 this is a zip"), "byte 0: this is not an npy array"},
		"version":          {append([]byte("\x93NUMPY\x09\x00"), good[8:]...), "byte 6: npy version 9"},
		"header's length":  {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f"), "byte 8: the header claims 2147483647 bytes"},
		"cut short":        {good[:len(good)-1], "byte 10: the header claims shape [2] of <i4, which takes 8 bytes, but 7 are there"},
		"goes on":          {append(bytes.Clone(good), 0), "which takes 8 bytes, but 9 are there"},
		"a trillion rows":  {oneBillionRows(), "the header claims shape [1000000000000] of <f8, which takes 8000000000000 bytes, but 16 are there"},
		"overflow":         {npyWith("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", ""), "the header claims"},
		"hidden by a zero": {npyWith("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1000000000, 1000000000)}", ""), "more than"},
		"objects":          {npy("|O", []int{1}, "x"), "Python objects"},
		"records":          {npyWith("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", ""), "records with several fields"},
		"complex":          {npy("<c8", []int{1}, []float64{0}), `type "<c8": expected bool, integers`},
		"long double":      {npy("<f16", []int{1}, "0123456789abcdef"), `type "<f16"`},
		"empty text":       {npy("<U0", []int{1000000}, ""), "text must take"},
		"huge text":        {npy("|S100000000", []int{1}, ""), "text must take"},
		"negative length":  {npyWith("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", ""), "expected a length"},
		"no descr":         {npyWith("{'fortran_order': False, 'shape': (1,)}", ""), `lacks "descr"`},
		"twice":            {npyWith("{'shape': (1,), 'shape': (1,)}", ""), `"shape" twice`},
		"unknown key":      {npyWith("{'shade': (1,)}", ""), `the key "shade"`},
		"open quote":       {npyWith("{'shape", ""), "never closed"},
		"trailing":         {npyWith("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} + evil()", ""), "goes on after its end"},
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
		"half an integer": npy("<f8", []int{1}, []float64{1.5}),
		"NaN":             npy("<f4", []int{1}, []float32{float32(math.NaN())}),
		"too large":       npy("<u8", []int{1}, []uint64{1 << 63}),
		"a half's half":   npy("<f2", []int{1}, []uint16{0x3800}),
	} {
		a, err := readArray(b)
		require.NoError(t, err)
		require.ErrorContains(t, a.Ints(make([]int64, 1)), "is not a whole number", name)
	}
	for name, v := range map[string]float64{"NaN": math.NaN(), "infinity": math.Inf(-1), "beyond 32 bits": 1e200} {
		a, err := readArray(npy("<f8", []int{2}, []float64{0, v}))
		require.NoError(t, err)
		require.ErrorContains(t, a.Float32s(make([]float32, 2)), "expected a finite number", name)
	}
	a, err := readArray(npy("<f2", []int{2}, []uint16{0, 0xfc00}))
	require.NoError(t, err)
	require.ErrorContains(t, a.Float32s(make([]float32, 2)), "element -Inf of type <f2: expected a finite number")
}

func TestNPYSurvivesAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := npy("<i4", []int{3}, []int32{1, 2, 3})
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
		if a, err := readArray(b); err == nil {
			_ = a.Ints(make([]int64, a.Len()))
		}
	})
}

func TestNPZMembersOpenSeveralTimesStoredOrDeflated(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		z := memberNPZ(t, members{"row": npy("<i4", []int{3}, []int32{5, 6, 7})}.zip(method))
		for range 2 {
			values, err := z.ints("row", 3)
			require.NoError(t, err)
			assert.Equal(t, []int64{5, 6, 7}, values)
		}
	}
}

func TestNPZDenseReadsRowsInEitherOrder(t *testing.T) {
	rows := npy("<f4", []int{2, 3}, []float32{1, 2, 3, 4, 5, 6})
	columns := npyWith("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", []float32{1, 4, 2, 5, 3, 6})
	z := memberNPZ(t, members{"c": rows, "f": columns}.zip(zip.Deflate))
	for _, member := range []string{"c", "f"} {
		f, err := z.dense(member, 2)
		require.NoError(t, err)
		assert.Equal(t, []float32{1, 2, 3, 4, 5, 6}, f.Dense, member)
	}
}

func TestNPZClaimsAreNotBelievedBeforeTheBytesAreCounted(t *testing.T) {
	// A claim of 8 GB, in the array's header and in the zip's directory, over a few bytes.
	const claim = 8_000_000_000
	header := npyWith(fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, %d)}", claim/8/1_000_000), "")
	whole := members{"attr_matrix": header}.zip(zip.Deflate)
	forge := func(packed uint32) []byte {
		b := bytes.Clone(whole)
		central := bytes.LastIndex(b, []byte("PK\x01\x02"))
		binary.LittleEndian.PutUint32(b[central+20:], packed)
		binary.LittleEndian.PutUint32(b[central+24:], 0xfffffff0)
		return b
	}
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"array header alone":  {whole, "the header claims shape [1000000, 1000], of"},
		"directory too":       {forge(binary.LittleEndian.Uint32(whole[bytes.LastIndex(whole, []byte("PK\x01\x02"))+20:])), "which deflate cannot do"},
		"packed size as well": {forge(5_000_000), "packed bytes in a file of"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := memberNPZ(t, c.bytes).dense("attr_matrix", 1_000_000)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, strings.ReplaceAll(c.says, "], of", "] of"))
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "bytes allocated")
		})
	}
}

func TestNPZErrorsNameTheMemberAndDamageIsFound(t *testing.T) {
	good := members{"row": npy("<i4", []int{3}, []int32{5, 6, 7})}.zip(zip.Store)
	damaged := bytes.Replace(good, []byte{5, 0, 0, 0, 6}, []byte{5, 0, 0, 0, 9}, 1)
	_, err := memberNPZ(t, damaged).ints("row", 3)
	assert.ErrorContains(t, err, "a.npz: row: byte 140: the packed bytes are damaged (zip: checksum error): get the file again")
	_, err = memberNPZ(t, good).ints("col", 3)
	assert.ErrorContains(t, err, `a.npz: no member "col"; found row`)
}

func TestNPZReadingStopsWhenTheContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := members{"row": npy("<i4", []int{3}, []int32{5, 6, 7})}.zip(zip.Store)
	z, err := newNPZ(ctx, bytes.NewReader(b), int64(len(b)), "a.npz")
	require.NoError(t, err)
	cancel()
	_, err = z.ints("row", 3)
	require.ErrorIs(t, err, context.Canceled)
}

func TestNPZRefusesWhatIsNotAZip(t *testing.T) {
	_, err := newNPZ(t.Context(), strings.NewReader("<html>not found"), 15, "a.npz")
	require.ErrorContains(t, err, "a.npz: 15 bytes: not a whole npz (zip) file")
}
