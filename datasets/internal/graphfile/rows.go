package graphfile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Possible names of an edge table's columns. The first that the table has is used.
var (
	SourceNames = []string{"source", "src", "from"}
	TargetNames = []string{"target", "dst", "to"}
)

// Find returns the index in columns of the first wanted name found there, ignoring case; -1 if none is found.
func Find(columns []string, wanted ...string) int {
	for _, name := range wanted {
		if i := slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(c, name) }); i >= 0 {
			return i
		}
	}
	return -1
}

// Columns holds the column numbers of a node table; -1: missing.
type Columns struct {
	ID, Label int
	Masks     [3]int // columns of the train, validation and test masks
	Features  []int
	Names     []string
	Notes     []string
}

// Columns recognises a node table's columns by their names. A column whose first value is text is no feature. The
// class column is named by the first of labels that occurs in the header.
func (t *Table) Columns(labels ...string) (Columns, error) {
	c := Columns{Label: Find(t.Header, labels...), Masks: [3]int{-1, -1, -1}}
	var err error
	if c.ID, err = t.Column("id"); err != nil {
		return c, err
	}
	class := ""
	if c.Label >= 0 {
		class = t.Header[c.Label]
	}
	text := func(column int) bool {
		_, err := t.feature(t.Fields[column])
		return errors.Is(err, errText)
	}
	more := t.peek()
	for i, name := range t.Header {
		what, meaning := fmt.Sprintf("column %.80q", name), MeaningOf(name)
		set := meaning.Set()
		switch {
		case i == c.ID || i == c.Label:
		case name == "": // pandas' row numbers
			c.Notes = append(c.Notes, fmt.Sprintf("column %d has no name: left out", i+1))
		case set >= 0 && c.Masks[set] < 0:
			c.Masks[set] = i
		case meaning != Feature || strings.EqualFold(name, class):
			c.Notes = append(c.Notes, max(meaning, Class).LeftOut(what, class))
		case more && text(i):
			c.Notes = append(c.Notes, what+" of text: left out")
		default:
			c.Features, c.Names = append(c.Features, i), append(c.Names, name)
		}
	}
	return c, nil
}

// ScanNodes calls visit for every line. label and masks are empty if the table has no such columns. The next line
// overwrites features, so visit must not keep them.
func (t *Table) ScanNodes(c Columns, visit func(id, label string, masks [3]string, features []float32) error) error {
	row := make([]float32, len(c.Features))
	field := func(column int) string {
		if column < 0 {
			return ""
		}
		return t.Fields[column]
	}
	for t.Next() {
		id := field(c.ID)
		if id == "" {
			return t.Errorf("the id is empty: every node needs one")
		}
		for i, column := range c.Features {
			var err error
			if row[i], err = t.feature(t.Fields[column]); err != nil {
				return t.Errorf("column %.80q: %w", t.Header[column], err)
			}
		}
		masks := [3]string{field(c.Masks[0]), field(c.Masks[1]), field(c.Masks[2])}
		if err := visit(id, field(c.Label), masks, row); err != nil {
			return t.Errorf("%w", err)
		}
	}
	return t.Err()
}

// NoteEdgeColumns notes that all columns of an edge table are left out, except the columns whose numbers are in ends.
func (g *Graph) NoteEdgeColumns(names []string, ends ...int) {
	for i, name := range names {
		if name != "" && !slices.Contains(ends, i) {
			g.Notef("column %.80q of edges: left out", name)
		}
	}
}

// ReadNodes returns a graph of the table's nodes, without edges, and each id's node number. accept, unless nil, may
// refuse an id by returning an error.
func (t *Table) ReadNodes(c Columns, accept func(id string) error) (g *Graph, numbers map[string]int32, err error) {
	g = &Graph{Format: "CSV", Features: NewFeatures(len(c.Features)), FeatureNames: c.Names, Notes: c.Notes}
	numbers = map[string]int32{}
	var classes Classes
	var labels []int32
	var sets [3][]int32
	err = t.ScanNodes(c, func(id, label string, masks [3]string, features []float32) error {
		v := int32(g.Nodes)
		if g.Nodes >= MaxNodes {
			return fmt.Errorf("more than %d nodes", MaxNodes)
		}
		if accept != nil {
			if err := accept(id); err != nil {
				return err
			}
		}
		if first, again := numbers[id]; again {
			return fmt.Errorf("the id %.80q is there already (node %d, counted from 0): ids must differ", id, first)
		}
		id = strings.Clone(id) // a substring would keep its whole line in memory
		g.Nodes, g.IDs = g.Nodes+1, append(g.IDs, id)
		numbers[id] = v
		if c.Label >= 0 {
			labels = append(labels, classes.Add(label))
		}
		for set, mask := range masks {
			if in, err := parseMask(mask); err != nil {
				return err
			} else if in {
				sets[set] = append(sets[set], v)
			}
		}
		return t.in.Take(128 + int64(len(id)) + g.Features.Add(features))
	})
	if err != nil {
		return nil, nil, err
	}
	if labels != nil {
		g.SetLabels(&classes, labels)
	}
	g.SetSplit(MasksSplit, c.Masks != [3]int{-1, -1, -1}, sets)
	return g, numbers, nil
}

func parseMask(field string) (bool, error) {
	switch strings.ToLower(field) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	x, err := strconv.ParseFloat(field, 64)
	if err != nil || x != math.Trunc(x) {
		return false, fmt.Errorf("found %.40q in a column of the split: expected true or false", field)
	}
	return x != 0, nil
}

// SparseLimit is the largest share of nonzeros at which features are stored sparse.
const SparseLimit = 0.25

// NewFeatures returns features without rows, for [Features.Add].
func NewFeatures(width int) Features { return Features{Width: width, Offsets: []int64{0}} }

// Add appends a copy of a row and returns its approximate size in bytes. Features become dense if mostly nonzero.
func (f *Features) Add(row []float32) (bytes int64) {
	f.Rows++
	if f.Offsets == nil {
		f.Dense = append(f.Dense, row...)
		return 4 * int64(f.Width)
	}
	before := len(f.Values)
	for j, v := range row {
		if v != 0 {
			f.Columns, f.Values = append(f.Columns, int32(j)), append(f.Values, v)
		}
	}
	f.Offsets = append(f.Offsets, int64(len(f.Values)))
	bytes = 8 + 8*int64(len(f.Values)-before)
	// Doubling the limit makes it rare to turn dense and later sparse again.
	if f.Rows >= 64 && float64(len(f.Values)) > 2*SparseLimit*float64(f.Rows)*float64(f.Width) {
		*f = f.ToDense()
	}
	return bytes
}

// ToDense returns sparse features as dense ones, [Rows, Width].
func (f *Features) ToDense() Features {
	d := Features{Rows: f.Rows, Width: f.Width, Dense: make([]float32, f.Rows*f.Width)}
	for v := range f.Rows {
		for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
			d.Dense[v*f.Width+int(f.Columns[i])] = f.Values[i]
		}
	}
	return d
}

// Sort sorts each row of sparse features by column, in place. It sums repeated columns, as scipy does, and drops zeros.
// It returns the first row with a sum that is not finite, or -1.
func (f *Features) Sort() int {
	type entry struct {
		column int32
		value  float32
	}
	var row []entry
	var kept, begin int64
	for v := range f.Rows {
		end := f.Offsets[v+1]
		row = row[:0]
		for i := begin; i < end; i++ {
			row = append(row, entry{f.Columns[i], f.Values[i]})
		}
		begin = end
		slices.SortStableFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
		for i := 0; i < len(row); {
			column, sum := row[i].column, float32(0)
			for ; i < len(row) && row[i].column == column; i++ {
				sum += row[i].value
			}
			if sum-sum != 0 { // NaN or infinite
				return v
			}
			if sum != 0 {
				f.Columns[kept], f.Values[kept] = column, sum
				kept++
			}
		}
		f.Offsets[v+1] = kept
	}
	if kept < int64(len(f.Values)) {
		f.Columns, f.Values = slices.Clone(f.Columns[:kept]), slices.Clone(f.Values[:kept])
	}
	return -1
}
