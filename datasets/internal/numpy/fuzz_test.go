package numpy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"nodemask/datasets/internal/numpy/numpytest"
)

// FuzzNPY reads any bytes as an array, in every way.
func FuzzNPY(f *testing.F) {
	for descr, elements := range numpytest.EveryType() {
		f.Add(numpytest.Array(descr, []int{3}, elements))
		f.Add(numpytest.Array(strings.Replace(descr, "<", ">", 1), []int{3, 1}, elements))
	}
	f.Add(numpytest.TooLarge())
	f.Add(numpytest.ArrayWith("{'descr': '<f2', 'fortran_order': True, 'shape': (), }", "\x00\x7c"))
	f.Add([]byte("\x93NUMPY\x03\x00\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, read := range []func(a *Array) error{
			func(a *Array) error { return a.Ints(make([]int64, a.Len())) },
			func(a *Array) error { return a.Indices(make([]int32, a.Len()), 10, "a node") },
			func(a *Array) error {
				x := make([]float32, a.Len())
				err := a.Float32s(x)
				for _, v := range x {
					if err == nil && v-v != 0 {
						t.Fatalf("%v was read as a finite number", v)
					}
				}
				return err
			},
			func(a *Array) error {
				texts := make([]string, a.Len())
				err := a.Strings(texts)
				for _, text := range texts {
					if err == nil && !utf8.ValidString(text) {
						t.Fatalf("%q was read as UTF-8", text)
					}
				}
				return err
			},
		} {
			a, err := readArray(b)
			if err == nil {
				if a.Len()*int64(a.Type.Size) > int64(len(b)) {
					t.Fatalf("%d elements of %d bytes in a file of %d", a.Len(), a.Type.Size, len(b))
				}
				err = read(a)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error takes several lines: %q", err)
			}
		}
	})
}
