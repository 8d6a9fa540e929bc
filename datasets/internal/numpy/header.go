package numpy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits on what a header may claim. They are far above any real graph and far below what would hurt.
const (
	maxDims     = 8
	maxElements = 1 << 40 // only keeps products far from overflowing
)

// Header says what an array holds.
type Header struct {
	Type    Dtype
	Fortran bool // the first index runs fastest
	Shape   []int64
}

// Len returns the number of elements.
func (h Header) Len() int64 {
	n := int64(1)
	for _, d := range h.Shape {
		n *= d
	}
	return n
}

// parseHeader reads the Python dictionary that describes an array, for instance
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (2708, 1433), }
//
// Its three keys may come in any order, and lengths may end in L as Python 2 wrote them.
func parseHeader(text string) (Header, error) {
	var h Header
	s := headerScanner{rest: text}
	seen := map[string]bool{}
	if err := s.expect("{"); err != nil {
		return h, err
	}
	for !s.accept("}") {
		key, err := s.quoted()
		if err != nil {
			return h, err
		}
		if seen[key] {
			return h, fmt.Errorf("the header has %q twice", key)
		}
		seen[key] = true
		if err := s.expect(":"); err != nil {
			return h, err
		}
		switch key {
		case "descr":
			h.Type, err = s.dtype()
		case "fortran_order":
			h.Fortran, err = s.boolean()
		case "shape":
			h.Shape, err = s.shape()
		default:
			err = fmt.Errorf("the header has the key %.40q: expected descr, fortran_order and shape", key)
		}
		if err != nil {
			return h, err
		}
		if !s.accept(",") {
			if err := s.expect("}"); err != nil {
				return h, err
			}
			break
		}
	}
	if strings.TrimSpace(s.rest) != "" {
		return h, fmt.Errorf("the header goes on after its end: %.40q", s.rest)
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, fmt.Errorf("the header lacks %q", key)
		}
	}
	return h, nil
}

// headerScanner walks over the text of a header.
type headerScanner struct{ rest string }

func (s *headerScanner) accept(token string) bool {
	s.rest = strings.TrimLeft(s.rest, " \t\n\r")
	rest, found := strings.CutPrefix(s.rest, token)
	if found {
		s.rest = rest
	}
	return found
}

func (s *headerScanner) expect(token string) error {
	if !s.accept(token) {
		return fmt.Errorf("the header reads %.40q: expected %q", s.rest, token)
	}
	return nil
}

func (s *headerScanner) quoted() (string, error) {
	for _, quote := range []string{"'", `"`} {
		if s.accept(quote) {
			text, rest, found := strings.Cut(s.rest, quote)
			if !found {
				return "", errors.New("the header has a quote that is never closed")
			}
			s.rest = rest
			return text, nil
		}
	}
	return "", fmt.Errorf("the header reads %.40q: expected a quoted word", s.rest)
}

func (s *headerScanner) boolean() (bool, error) {
	if s.accept("True") {
		return true, nil
	}
	return false, s.expect("False")
}

func (s *headerScanner) shape() ([]int64, error) {
	if err := s.expect("("); err != nil {
		return nil, err
	}
	shape := []int64{}
	product := int64(1)
	for !s.accept(")") {
		digits := s.rest[:len(s.rest)-len(strings.TrimLeft(s.rest, "0123456789"))]
		d, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the header's shape reads %.40q: expected a length", s.rest)
		}
		s.rest = s.rest[len(digits):]
		s.accept("L")
		if d > maxElements || len(shape) == maxDims {
			return nil, fmt.Errorf("the header claims a shape beyond %d dimensions or %d elements", maxDims, int64(maxElements))
		}
		shape = append(shape, d)
		// A zero may not hide a huge product, so it counts as one.
		if d = max(d, 1); product > maxElements/d {
			return nil, fmt.Errorf("the header claims more than %d elements", int64(maxElements))
		}
		product *= d
		if !s.accept(",") {
			if err := s.expect(")"); err != nil {
				return nil, err
			}
			break
		}
	}
	return shape, nil
}

// dtype reads a type such as '<f4'.
func (s *headerScanner) dtype() (Dtype, error) {
	if s.accept("[") {
		return Dtype{}, errors.New("the array holds records with several fields: save each field as an array of its own")
	}
	name, err := s.quoted()
	if err != nil {
		return Dtype{}, err
	}
	return ParseDtype(name)
}
