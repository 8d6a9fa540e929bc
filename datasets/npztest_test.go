package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// npy returns an array as numpy writes it, from Go values of fixed size, or from a string of its bytes.
func npy(descr string, shape []int, elements any) []byte {
	lengths := ""
	for _, d := range shape {
		lengths += fmt.Sprintf("%d,", d)
	}
	return npyWith(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, lengths), elements)
}

func npyWith(header string, elements any) []byte {
	file := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	file = append(file, header...)
	if text, ok := elements.(string); ok {
		return append(file, text...)
	}
	file, err := binary.Append(file, binary.LittleEndian, elements)
	if err != nil {
		panic(err)
	}
	return file
}

// tooLarge claims far more than it holds.
var tooLarge = npy("<f8", []int{1_000_000_000_000}, []float64{1, 2})

// members holds the arrays of an npz by name.
type members map[string][]byte

// With returns a copy with some members replaced, or removed if nil.
func (m members) With(changes members) members {
	out := maps.Clone(m)
	maps.Copy(out, changes)
	maps.DeleteFunc(out, func(_ string, array []byte) bool { return array == nil })
	return out
}

func (m members) Zip(method uint16) []byte {
	files := map[string][]byte{}
	for name, array := range m {
		files[name+".npy"] = array
	}
	return zipped(method, files)
}

// zipped returns a zip of files, stored or deflated.
func zipped(method uint16, files map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			panic(err)
		}
	}
	_ = z.Close()
	return b.Bytes()
}

func writeNPZ(t testing.TB, m members, name string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, m.Zip(zip.Deflate), 0o666))
	return path
}

func readMembers(t testing.TB, m members) (*Graph, error) {
	return ReadMemory(t.Context(), "", map[string][]byte{"a.npz": m.Zip(zip.Deflate)})
}
