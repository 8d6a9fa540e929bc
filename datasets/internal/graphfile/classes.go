package graphfile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Unlabelled is the label of a node without a class.
const Unlabelled int32 = -1

// Classes assigns numbers to class names; [Classes.Finish] sorts the names. The zero value is ready.
type Classes struct {
	index map[string]int32
	names []string
	nulls int
}

// Add returns the index of a new or known class, or [Unlabelled] if the name is empty, NaN or null.
func (c *Classes) Add(name string) int32 {
	switch {
	case name == "":
		return Unlabelled
	case len(name) <= 4 && slices.ContainsFunc([]string{"nan", "null", "<na>"}, func(null string) bool {
		return strings.EqualFold(null, name)
	}):
		c.nulls++
		return Unlabelled
	}
	if i, ok := c.index[name]; ok {
		return i
	}
	if c.index == nil {
		c.index = map[string]int32{}
	}
	i := int32(len(c.names))
	name = strings.Clone(name)
	c.names = append(c.names, name)
	c.index[name] = i
	return i
}

// AddNumber calls [Classes.Add] if text is an integer or NaN. Otherwise, ok is false.
func (c *Classes) AddNumber(text string) (number int32, ok bool) {
	name, whole := numberName(text)
	if !whole {
		return 0, false
	}
	return c.Add(name), true
}

// numberName returns a number's class name, such as "1" for "1.0". whole is true for integers and NaN.
func numberName(text string) (name string, whole bool) {
	if wholeText(text) {
		return text, true
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return text, false
	case math.Abs(x) > 1<<53:
		return strconv.FormatFloat(x, 'g', -1, 64), false
	}
	return strconv.FormatFloat(x, 'f', -1, 64), math.IsNaN(x) || x == math.Trunc(x)
}

func wholeText(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return text != "" && digits(text) == len(text) && (text[0] != '0' || len(text) == 1)
}

// noClass returns the name that means "no class": "-1", or PyTorch's "-100", if all other names are integers that are
// not negative. Otherwise it returns "".
func noClass(names []string) (none string) {
	for _, name := range names {
		switch {
		case wholeText(name) && name[0] != '-':
		case none == "" && (name == "-1" || name == "-100"):
			none = name
		default:
			return ""
		}
	}
	return none
}

// SetLabels sets the nodes' classes, and adds a note on how many nodes have none.
func (g *Graph) SetLabels(c *Classes, labels []int32) {
	none := noClass(plain(c.names))
	g.Labels, g.Classes = labels, c.Finish(labels)
	if c.nulls > 0 {
		g.Notef("%d nodes have the class NaN or null: they are unlabelled", c.nulls)
	}
	if none != "" {
		unlabelled := -c.nulls
		for _, label := range labels {
			if label == Unlabelled {
				unlabelled++
			}
		}
		g.Notef("%d nodes have no class, or %s where all others are 0 or more: they are unlabelled", unlabelled, none)
	}
}

// NameClasses replaces each class name, a number i, by names[i].
func (g *Graph) NameClasses(names []string) error {
	for i, class := range g.Classes {
		number, err := strconv.Atoi(class)
		if err != nil || number < 0 || number >= len(names) {
			return fmt.Errorf("found class %.40s: expected 0 to %d, as %d classes have names", class, len(names)-1, len(names))
		}
		g.Classes[i] = names[number]
	}
	return nil
}

// Finish returns the classes in natural order and renumbers labels to match.
func (c *Classes) Finish(labels []int32) []string {
	names := plain(c.names)
	none := noClass(names)
	classes := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == none })
	slices.SortFunc(classes, classOrder(classes))
	classes = slices.Compact(classes)
	place := make(map[string]int32, len(classes))
	for i, name := range classes {
		place[name] = int32(i)
	}
	renumber := make([]int32, len(names))
	for i, name := range names {
		if renumber[i] = place[name]; name == none {
			renumber[i] = Unlabelled
		}
	}
	for v, label := range labels {
		if label != Unlabelled {
			labels[v] = renumber[label]
		}
	}
	return classes
}

// plain makes class names equal across formats: if all are numbers, 1.0 becomes 1; if all are booleans, they become 0
// and 1.
func plain(names []string) []string {
	truths := map[string]string{"false": "0", "true": "1"}
	booleans, numbers := true, true
	for _, name := range names {
		_, ok := truths[strings.ToLower(name)]
		booleans = booleans && ok
		_, err := strconv.ParseFloat(name, 64)
		numbers = numbers && err == nil
	}
	if !booleans && !numbers {
		return names
	}
	same := make([]string, len(names))
	for i, name := range names {
		same[i] = name
		if booleans {
			same[i] = truths[strings.ToLower(name)]
		} else if whole, fraction, is := strings.Cut(name, "."); is && strings.Trim(fraction, "0") == "" &&
			digits(strings.TrimPrefix(whole, "-")) > 0 && whole != "-0" {
			same[i] = whole
		}
	}
	return same
}

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

// naturalOrder compares two names: runs of digits by value, all other text byte by byte.
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

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
