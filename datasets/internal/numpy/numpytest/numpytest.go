// Package numpytest writes npy and npz files for tests.
package numpytest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Array returns an array as numpy writes it (version 1), from Go values of fixed size.
func Array(descr string, shape []int, elements any) []byte {
	lengths := ""
	for _, d := range shape {
		lengths += fmt.Sprintf("%d,", d)
	}
	return ArrayWith(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, lengths), elements)
}

// ArrayWith returns an array with any header. Elements in a string are copied.
func ArrayWith(header string, elements any) []byte {
	var b bytes.Buffer
	header += strings.Repeat(" ", (64-(10+len(header)+1)%64)%64) + "\n"
	b.WriteString("\x93NUMPY\x01\x00")
	must(binary.Write(&b, binary.LittleEndian, uint16(len(header))))
	b.WriteString(header)
	if text, ok := elements.(string); ok {
		b.WriteString(text)
	} else {
		must(binary.Write(&b, binary.LittleEndian, elements))
	}
	return b.Bytes()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Members holds the arrays of an npz by name.
type Members map[string][]byte

// With returns a copy with some members replaced, or removed if nil.
func (m Members) With(changes Members) Members {
	out := maps.Clone(m)
	maps.Copy(out, changes)
	maps.DeleteFunc(out, func(_ string, array []byte) bool { return array == nil })
	return out
}

// Zip returns an npz of the members, stored or deflated.
func (m Members) Zip(method uint16) []byte {
	files := map[string][]byte{}
	for name, array := range m {
		files[name+".npy"] = array
	}
	return Zip(method, files)
}

// Zip returns a zip of files, ordered by name, stored or deflated.
func Zip(method uint16, files map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		must(err)
		_, err = w.Write(files[name])
		must(err)
	}
	must(z.Close())
	return b.Bytes()
}

// TooLarge returns the start of an array that claims far more than it holds.
func TooLarge() []byte { return Array("<f8", []int{1_000_000_000_000}, []float64{1, 2}) }

// EveryType returns the elements 0, 1 and one more of every supported type.
func EveryType() map[string]any {
	return map[string]any{
		"|b1": []bool{false, true, true}, "|S2": "0\x001\x00ab", "<U2": []uint32{'0', 0, '1', 0, 'é', 'b'},
		"|i1": []int8{0, 1, -128}, "<i2": []int16{0, 1, -2}, "<i4": []int32{0, 1, -1}, "<i8": []int64{0, 1, math.MinInt64},
		"|u1": []uint8{0, 1, 255}, "<u2": []uint16{0, 1, 2}, "<u4": []uint32{0, 1, 2}, "<u8": []uint64{0, 1, math.MaxUint64},
		"<f2": []uint16{0, 0x3c00, 0x3555}, "<f4": []float32{0, 1, 0.1}, "<f8": []float64{0, 1, math.Inf(1)},
	}
}
