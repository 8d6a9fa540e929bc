package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"nodemask/datasets/internal/graphfile"
)

// checkFooter returns an error unless a footer, in Thrift's compact protocol, is nested within bounds: the library
// reads it by recursion, and ends the process where that is too deep.
func checkFooter(footer []byte) error {
	f := thrift{data: footer}
	if f.structure(1, nil); f.err != nil {
		return f.err
	}
	// The schema lists a tree's nodes by their number of children, each before them.
	var open []int64 // children still to come, by depth
	for _, children := range f.children {
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if children > 0 {
			open = append(open, children)
		}
		if len(open) > graphfile.MaxDepth {
			return fmt.Errorf("its schema is nested more than %d deep", graphfile.MaxDepth)
		}
	}
	return nil
}

// thrift walks over values without keeping them. After the first fault it reads zeros.
type thrift struct {
	data     []byte
	children []int64 // of each element of the schema
	err      error
}

func (f *thrift) fail(err error) {
	if f.err == nil {
		f.data, f.err = nil, err
	}
}

// take returns the next n bytes; nil if there are not so many.
func (f *thrift) take(n uint64) []byte {
	if n > uint64(len(f.data)) {
		f.fail(fmt.Errorf("the footer is cut short: %w", io.ErrUnexpectedEOF))
		return nil
	}
	taken := f.data[:n]
	f.data = f.data[n:]
	return taken
}

func (f *thrift) byte() byte {
	if b := f.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (f *thrift) varint() uint64 {
	x, n := binary.Uvarint(f.data)
	if n <= 0 {
		n = len(f.data) + 1
	}
	f.take(uint64(n))
	return x
}

func (f *thrift) signed() int64 {
	x := f.varint()
	return int64(x>>1) ^ -int64(x&1)
}

// structure walks over a structure. path are the fields that lead to it: 2 is the schema, and field 5 of its elements
// their number of children.
func (f *thrift) structure(depth int, path []int64) {
	field, children := int64(0), int64(0)
	inSchema := len(path) == 1 && path[0] == 2
	for {
		head := f.byte()
		if head == 0 {
			if inSchema {
				f.children = append(f.children, children)
			}
			return
		}
		if step := int64(head >> 4); step > 0 {
			field += step
		} else {
			field = f.signed()
		}
		if kind := head & 15; inSchema && field == 5 && kind == 5 {
			children = f.signed()
		} else {
			f.value(kind, depth, append(path[:len(path):len(path)], field))
		}
	}
}

func (f *thrift) value(kind byte, depth int, path []int64) {
	if depth > graphfile.MaxDepth {
		f.fail(fmt.Errorf("its footer is nested more than %d deep", graphfile.MaxDepth))
		return
	}
	switch kind {
	case 1, 2: // true and false, which a field's head holds
	case 3:
		f.take(1)
	case 4, 5, 6:
		f.varint()
	case 7:
		f.take(8)
	case 8:
		f.take(f.varint())
	case 9, 10: // list and set
		head := f.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = f.varint()
		}
		f.elements(n, []byte{head & 15}, depth, path)
	case 11: // map
		if n := f.varint(); n > 0 {
			kinds := f.byte()
			f.elements(n, []byte{kinds >> 4, kinds & 15}, depth, path)
		}
	case 12:
		f.structure(depth+1, path)
	default:
		f.fail(errors.New("the footer holds a value of no known type"))
	}
}

// elements walks over n elements of the kinds, each of which takes a byte at least.
func (f *thrift) elements(n uint64, kinds []byte, depth int, path []int64) {
	for ; n > 0 && f.err == nil; n-- {
		for _, kind := range kinds {
			if kind == 1 || kind == 2 {
				f.take(1)
			} else {
				f.value(kind, depth+1, path)
			}
		}
	}
}
