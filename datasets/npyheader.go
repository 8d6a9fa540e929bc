package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errNPYObjects says why an array of type object is refused.
var errNPYObjects = errors.New("the array holds Python objects, which only running a pickle could read: save it as numbers or text, for instance with .astype(str)")

// parseNPYHeader reads the Python dictionary that describes an array, for instance
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (2708, 1433), }
//
// Its three keys may come in any order, and lengths may end in L as Python 2 wrote them.
func parseNPYHeader(text string) (npyHeader, error) {
	var h npyHeader
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
			err = s.descr(&h)
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
		if d > maxNPYElement || len(shape) == maxNPYDims {
			return nil, fmt.Errorf("the header claims a shape beyond %d dimensions or %d elements", maxNPYDims, int64(maxNPYElement))
		}
		shape = append(shape, d)
		// A zero may not hide a huge product, so it counts as one.
		if d = max(d, 1); product > maxNPYElement/d {
			return nil, fmt.Errorf("the header claims more than %d elements", int64(maxNPYElement))
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

// descr reads a type such as '<f4', '|b1' or '>U10'.
func (s *headerScanner) descr(h *npyHeader) error {
	if s.accept("[") {
		return errors.New("the array holds records with several fields: save each field as an array of its own")
	}
	descr, err := s.quoted()
	if err != nil {
		return err
	}
	h.Descr = descr
	h.Order = binary.LittleEndian
	rest := descr
	if len(rest) > 0 && strings.ContainsRune("<>|=", rune(rest[0])) {
		if rest[0] == '>' {
			h.Order = binary.BigEndian
		}
		rest = rest[1:]
	}
	if rest == "?" {
		rest = "b1"
	}
	if strings.HasPrefix(rest, "O") {
		return errNPYObjects
	}
	unknown := fmt.Errorf("type %.20q: expected bool, integers, float16 to float64, or text", descr)
	if len(rest) < 2 {
		return unknown
	}
	size, err := strconv.ParseUint(rest[1:], 10, 31)
	if err != nil {
		return unknown
	}
	h.Kind, h.Size = rest[0], int(size)
	switch {
	case h.Kind == 'b' && size == 1:
	case (h.Kind == 'i' || h.Kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8):
	case h.Kind == 'f' && (size == 2 || size == 4 || size == 8):
	case h.Kind == 'a' || h.Kind == 'S' || h.Kind == 'U':
		if h.Kind == 'a' {
			h.Kind = 'S'
		}
		if h.Kind == 'U' {
			h.Size *= 4
		}
		if size == 0 || size > maxNPYString || h.Size > maxNPYString {
			return fmt.Errorf("type %.20q: text must take 1 to %d bytes", descr, maxNPYString)
		}
	default:
		return unknown
	}
	return nil
}
