package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"nodemask/datasets/internal/input"
)

// checkFooter returns an error unless a footer, in Thrift's compact protocol, is nested within bounds: the library reads it by
// recursion, and ends the process where that is too deep.
func checkFooter(footer []byte) error {
	f := thrift{data: footer}
	if err := f.structure(1, nil); err != nil {
		return err
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
		if len(open) > input.MaxDepth {
			return fmt.Errorf("its schema is nested more than %d deep", input.MaxDepth)
		}
	}
	return nil
}

// thrift walks over values without keeping them.
type thrift struct {
	data     []byte
	children []int64 // of each element of the schema
}

var errShort = fmt.Errorf("the footer is cut short: %w", io.ErrUnexpectedEOF)

func (f *thrift) byte() (byte, error) {
	if len(f.data) == 0 {
		return 0, errShort
	}
	b := f.data[0]
	f.data = f.data[1:]
	return b, nil
}

func (f *thrift) varint() (uint64, error) {
	x, n := binary.Uvarint(f.data)
	if n <= 0 {
		return 0, errShort
	}
	f.data = f.data[n:]
	return x, nil
}

func (f *thrift) skip(n uint64) error {
	if n > uint64(len(f.data)) {
		return errShort
	}
	f.data = f.data[n:]
	return nil
}

// structure walks over a structure. path are the fields that lead to it: 2 is the schema, and field 5 of its elements their
// number of children.
func (f *thrift) structure(depth int, path []int64) error {
	field, children := int64(0), int64(0)
	for {
		head, err := f.byte()
		if err != nil {
			return err
		}
		if head == 0 {
			if len(path) == 1 && path[0] == 2 {
				f.children = append(f.children, children)
			}
			return nil
		}
		if step := int64(head >> 4); step > 0 {
			field += step
		} else {
			id, err := f.varint()
			if err != nil {
				return err
			}
			field = int64(id>>1) ^ -int64(id&1)
		}
		if kind := head & 15; len(path) == 1 && path[0] == 2 && field == 5 && kind == 5 {
			n, err := f.varint()
			if err != nil {
				return err
			}
			children = int64(n>>1) ^ -int64(n&1)
		} else if err := f.value(kind, depth, append(path[:len(path):len(path)], field)); err != nil {
			return err
		}
	}
}

func (f *thrift) value(kind byte, depth int, path []int64) error {
	if depth > input.MaxDepth {
		return fmt.Errorf("its footer is nested more than %d deep", input.MaxDepth)
	}
	switch kind {
	case 1, 2: // true and false, which a field's head holds
		return nil
	case 3:
		return f.skip(1)
	case 4, 5, 6:
		_, err := f.varint()
		return err
	case 7:
		return f.skip(8)
	case 8:
		n, err := f.varint()
		if err != nil {
			return err
		}
		return f.skip(n)
	case 9, 10: // list and set
		head, err := f.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = f.varint(); err != nil {
				return err
			}
		}
		return f.elements(n, []byte{head & 15}, depth, path)
	case 11: // map
		n, err := f.varint()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := f.byte()
		if err != nil {
			return err
		}
		return f.elements(n, []byte{kinds >> 4, kinds & 15}, depth, path)
	case 12:
		return f.structure(depth+1, path)
	}
	return errors.New("the footer holds a value of no known type")
}

// elements walks over n elements of the kinds, each of which takes a byte at least.
func (f *thrift) elements(n uint64, kinds []byte, depth int, path []int64) error {
	if n > uint64(len(f.data)) {
		return errShort
	}
	for range n {
		for _, kind := range kinds {
			var err error
			if kind == 1 || kind == 2 {
				err = f.skip(1)
			} else {
				err = f.value(kind, depth+1, path)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
