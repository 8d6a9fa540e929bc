// Package classes numbers the class names of a graph.
package classes

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Unlabelled is the number of no class.
const Unlabelled int32 = -1

// Index numbers class names as they are met, and puts them into natural order at the end. The zero value is ready.
type Index struct {
	index map[string]int32
	names []string
}

// Add returns the number of a class; [Unlabelled] for an empty name.
func (c *Index) Add(name []byte) int32 {
	if len(name) == 0 {
		return Unlabelled
	}
	if i, found := c.index[string(name)]; found {
		return i
	}
	if c.index == nil {
		c.index = map[string]int32{}
	}
	i := int32(len(c.names))
	c.names = append(c.names, string(name))
	c.index[c.names[i]] = i
	return i
}

// Finish returns the classes in natural order and renumbers labels to match.
func (c *Index) Finish(labels []int32) []string {
	classes := slices.Clone(c.names)
	slices.SortFunc(classes, classOrder(classes))
	renumber := make([]int32, len(classes))
	for i, name := range classes {
		renumber[c.index[name]] = int32(i)
	}
	for v, label := range labels {
		if label != Unlabelled {
			labels[v] = renumber[label]
		}
	}
	return classes
}

// classOrder returns the order of the names, for slices.SortFunc: by value if all are numbers, and otherwise as people sort
// them, "class 2" before "class 10".
func classOrder(names []string) func(a, b string) int {
	values := make(map[string]float64, len(names))
	for _, name := range names {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return naturalOrder
		}
		values[name] = v
	}
	return func(a, b string) int { return cmp.Or(cmp.Compare(values[a], values[b]), strings.Compare(a, b)) }
}

// naturalOrder compares runs of digits by their value and all else byte by byte.
func naturalOrder(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		p, q := digits(x), digits(y)
		if p > 0 && q > 0 {
			m, n := strings.TrimLeft(x[:p], "0"), strings.TrimLeft(y[:q], "0")
			if order := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); order != 0 {
				return order
			}
			x, y = x[p:], y[q:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits returns how many digits s begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
