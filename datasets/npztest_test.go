package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// npy writes an array as numpy does (version 1), with elements given as Go values of fixed size.
func npy(descr string, shape []int, elements any) []byte {
	return npyWith(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, tuple(shape)), elements)
}

func tuple(shape []int) string {
	text := "("
	for _, d := range shape {
		text += fmt.Sprintf("%d,", d)
	}
	return text + ")"
}

func npyWith(header string, elements any) []byte {
	var b bytes.Buffer
	header += strings.Repeat(" ", (64-(10+len(header)+1)%64)%64) + "\n"
	b.WriteString("\x93NUMPY\x01\x00")
	must(binary.Write(&b, binary.LittleEndian, uint16(len(header))))
	b.WriteString(header)
	if text, isText := elements.(string); isText {
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

// members are the arrays of an npz by name.
type members map[string][]byte

// with is a copy in which some members are replaced, or left out if nil.
func (m members) with(changes members) members {
	out := members{}
	for name, b := range m {
		out[name] = b
	}
	for name, b := range changes {
		if out[name] = b; b == nil {
			delete(out, name)
		}
	}
	return out
}

func (m members) zip(method uint16) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		must(err)
		_, err = w.Write(m[name])
		must(err)
	}
	must(z.Close())
	return b.Bytes()
}

func (m members) write(t testing.TB, name string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, m.zip(zip.Deflate), 0o666))
	return path
}

func memberNPZ(t testing.TB, b []byte) *npzFile {
	z, err := newNPZ(t.Context(), bytes.NewReader(b), int64(len(b)), "a.npz")
	require.NoError(t, err)
	return z
}

// readArray opens an array that stands alone.
func readArray(b []byte) (*npyArray, error) {
	return newNPY(bytes.NewReader(b), int64(len(b)), "a.npy")
}

// oneBillionRows is the start of an array that claims far more than is there.
func oneBillionRows() []byte { return npy("<f8", []int{1_000_000_000_000}, []float64{1, 2}) }

// everyType holds the elements 0, 1 and one more of every type that is read.
func everyType() map[string]any {
	return map[string]any{
		"|b1": []bool{false, true, true}, "|S2": "0\x001\x00ab", "<U2": []uint32{'0', 0, '1', 0, 'é', 'b'},
		"|i1": []int8{0, 1, -128}, "<i2": []int16{0, 1, -2}, "<i4": []int32{0, 1, -1}, "<i8": []int64{0, 1, math.MinInt64},
		"|u1": []uint8{0, 1, 255}, "<u2": []uint16{0, 1, 2}, "<u4": []uint32{0, 1, 2}, "<u8": []uint64{0, 1, math.MaxUint64},
		"<f2": []uint16{0, 0x3c00, 0x3555}, "<f4": []float32{0, 1, 0.1}, "<f8": []float64{0, 1, math.Inf(1)},
	}
}

func halfBits(v float32) uint16 { // exact for the values used in tests
	bits := math.Float32bits(v)
	return uint16(bits>>16&0x8000) | uint16((int(bits>>23&255)-127+15)<<10) | uint16(bits>>13&1023)
}
