package numpy

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Limits on a header's claims, far above any real graph.
const (
	maxDims     = 8
	maxElements = 1 << 40 // keeps products far from overflow
)

// Header describes an array.
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

var headerEntry = regexp.MustCompile(
	`^\s*['"](\w*)['"]\s*:\s*(?:['"]([^'"]*)['"]|(True|False)|\(([^()]*)\)|\[)\s*(?:,\s*(\}?)|(\}))?`)

// parseHeader reads a dictionary such as
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (2708, 1433), }
//
// Keys come in any order; Python 2's lengths end in L.
func parseHeader(text string) (h Header, err error) {
	rest, ended := strings.CutPrefix(strings.TrimSpace(text), "{")
	ended = !ended
	seen := map[string]bool{}
	for !ended {
		m := headerEntry.FindStringSubmatch(rest)
		if m == nil {
			return h, fmt.Errorf("the header reads %.40q: expected a key in quotes and its value", rest)
		}
		key := m[1]
		switch {
		case seen[key]:
			return h, fmt.Errorf("the header has %q twice", key)
		case key == "descr" && strings.Contains(m[0], "["):
			return h, errors.New("the array holds records with several fields: save each field as an array of its own")
		case key == "descr" && m[2] != "":
			h.Type, err = ParseDtype(m[2])
		case key == "fortran_order" && m[3] != "":
			h.Fortran = m[3] == "True"
		case key == "shape" && strings.Contains(m[0], "("):
			h.Shape, err = parseShape(m[4])
		default:
			err = fmt.Errorf("the header has the key %.40q with %.40q: expected descr, fortran_order and shape", key, m[0])
		}
		if err != nil {
			return h, err
		}
		seen[key], rest, ended = true, rest[len(m[0]):], m[5]+m[6] != ""
	}
	if rest != "" {
		return h, fmt.Errorf("the header goes on after its end: %.40q", rest)
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, fmt.Errorf("the header lacks %q", key)
		}
	}
	return h, nil
}

func parseShape(text string) ([]int64, error) {
	shape := []int64{}
	text = strings.TrimSuffix(strings.TrimSpace(text), ",")
	if text == "" {
		return shape, nil
	}
	product := int64(1)
	for length := range strings.SplitSeq(text, ",") {
		d, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(length), "L"), 10, 63)
		if err != nil {
			return nil, fmt.Errorf("the header's shape reads %.40q: expected a length", length)
		}
		if d > maxElements || len(shape) == maxDims {
			return nil, fmt.Errorf("the header claims a shape beyond %d dimensions or %d elements", maxDims, int64(maxElements))
		}
		shape = append(shape, int64(d))
		// A zero must not hide a huge product.
		if d = max(d, 1); product > maxElements/int64(d) {
			return nil, fmt.Errorf("the header claims more than %d elements", int64(maxElements))
		}
		product *= int64(d)
	}
	return shape, nil
}
