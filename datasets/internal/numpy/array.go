// Package numpy holds arrays in the memory layout that numpy and PyTorch use in files and pickles. Files are treated
// as hostile: arrays with elements outside their data are refused, and so are arrays of Python objects (dtype object).
package numpy

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Array is an array of one dimension or more.
type Array struct {
	Name    string // name of the array in errors, such as `member "labels"`
	Type    Dtype
	Shape   []int64 // a single number has shape [1]
	Strides []int64 // in elements
	Data    []byte  // the elements' bytes, from element 0 on
}

// New returns an array of the elements in data, column-major if fortran is true, else row-major.
func New(name string, t Dtype, shape []int64, fortran bool, data []byte) (*Array, error) {
	if len(shape) == 0 {
		shape = []int64{1}
	}
	a := &Array{Name: name, Type: t, Shape: shape, Strides: make([]int64, len(shape)), Data: data}
	elements, most := int64(1), int64(len(data)/t.Size)
	for i := range shape {
		if !fortran {
			i = len(shape) - 1 - i
		}
		a.Strides[i] = elements
		if shape[i] < 0 || shape[i] > 0 && elements > most/shape[i] {
			elements = -1
			break
		}
		elements *= shape[i]
	}
	if elements*int64(t.Size) != int64(len(data)) {
		return nil, a.Errorf("shape %v of %v does not fit %d bytes: the file is damaged or cut short", shape, t, len(data))
	}
	return a, nil
}

var header = regexp.MustCompile(`^\s*{\s*'descr':\s*('[^']*'|\[.*\]),\s*'fortran_order':\s*(True|False),\s*'shape':\s*` +
	`\(([\d, L]*)\),?\s*}\s*$`)

// Parse returns an .npy file's array, which shares the file's memory.
func Parse(name string, file []byte) (*Array, error) {
	a := &Array{Name: name}
	begin := 10
	if len(file) < begin || string(file[:6]) != "\x93NUMPY" {
		return nil, a.Errorf("this is not an npy array: found %.6q, expected \"\\x93NUMPY\"", file)
	}
	length := int(binary.LittleEndian.Uint16(file[8:]))
	if file[6] > 1 { // format versions 2 and 3
		begin = 12
		if length = len(file); len(file) >= begin {
			length = int(binary.LittleEndian.Uint32(file[8:]))
		}
	}
	if length > len(file)-begin {
		return nil, a.Errorf("the header claims %d bytes in a file of %d", length, len(file))
	}
	text := string(file[begin : begin+length])
	m := header.FindStringSubmatch(text)
	if m == nil {
		return nil, a.Errorf("the header reads %.80q: expected {'descr': …, 'fortran_order': …, 'shape': …}", text)
	}
	if m[1][0] == '[' {
		return nil, a.Errorf("the array holds records with several fields: save each field as an array of its own")
	}
	t, err := ParseDtype(strings.Trim(m[1], "'"))
	if err != nil {
		return nil, a.Errorf("%w", err)
	}
	var shape []int64
	for _, size := range strings.FieldsFunc(m[3], func(c rune) bool { return strings.ContainsRune(", L", c) }) {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return nil, a.Errorf("the header's shape reads %.40q: expected a length", size)
		}
		shape = append(shape, n)
	}
	return New(name, t, shape, m[2] == "True", file[begin+length:])
}

// Errorf returns an error that begins with the array's name.
func (a *Array) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", a.Name, fmt.Errorf(format, args...))
}

// Len returns the number of elements.
func (a *Array) Len() int64 {
	n := int64(1)
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// Rows returns the shape of an array of two dimensions. An array of one dimension counts as a column; with more than
// two, ok is false.
func (a *Array) Rows() (rows, columns int64, ok bool) {
	switch len(a.Shape) {
	case 1:
		return a.Shape[0], 1, true
	case 2:
		return a.Shape[0], a.Shape[1], true
	}
	return 0, 0, false
}

// Transposed returns the array, of two dimensions, with rows and columns exchanged. It shares a's memory.
func (a *Array) Transposed() *Array {
	t := *a
	t.Shape, t.Strides = []int64{a.Shape[1], a.Shape[0]}, []int64{a.Strides[1], a.Strides[0]}
	return &t
}

func (a *Array) at(i, j int64) []byte {
	e := i * a.Strides[0]
	if len(a.Strides) > 1 {
		e += j * a.Strides[1]
	}
	return a.Data[e*int64(a.Type.Size):]
}

// Int returns element [i, j] of an array of integers or booleans. A uint64 beyond int64 turns negative.
func (a *Array) Int(i, j int64) int64 { return a.Type.integer(a.at(i, j)) }

// Float returns element [i, j] of an array of numbers.
func (a *Array) Float(i, j int64) float64 { return a.Type.float(a.at(i, j)) }

// Text returns element [i, j] as text: numbers in decimal, invalid UTF-8 as U+FFFD.
func (a *Array) Text(i, j int64) string { return a.Type.text(a.at(i, j)) }
