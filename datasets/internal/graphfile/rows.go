package graphfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Column names of a table of edges; the first present wins.
var (
	SourceNames = []string{"source", "src", "from"}
	TargetNames = []string{"target", "dst", "to"}
)

// Find returns the first wanted column present, ignoring case, or -1.
func Find(columns []string, wanted ...string) int {
	for _, name := range wanted {
		if i := slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(c, name) }); i >= 0 {
			return i
		}
	}
	return -1
}

// Columns says which columns of a table of nodes hold what; -1: none.
type Columns struct {
	ID, Label int
	Masks     [3]int // of the own split's sets
	Features  []int
	Names     []string // of the features
}

// NodeColumns returns a table's columns, given ids' and labels' (-1: none). leave says why one cannot be used, or "".
func NodeColumns(names []string, id, label int, leave func(column int, mask bool) string) (c Columns, notes []string) {
	c = Columns{ID: id, Label: label, Masks: [3]int{-1, -1, -1}}
	class := ""
	if label >= 0 {
		class = names[label]
	}
	for i, name := range names {
		if i == id || i == label {
			continue
		}
		what, meaning := fmt.Sprintf("column %.80q", name), MeaningOf(name)
		set := meaning.set()
		if why := leave(i, set >= 0); why != "" {
			notes = append(notes, why+": left out")
		} else if set >= 0 && c.Masks[set] < 0 {
			c.Masks[set] = i
		} else if meaning == Feature && (class == "" || !strings.EqualFold(name, class)) {
			c.Features, c.Names = append(c.Features, i), append(c.Names, name)
		} else {
			notes = append(notes, max(meaning, Class).LeftOut(what, class))
		}
	}
	return c, notes
}

// A Row takes a row of nodes; label and masks may be empty. The next row overwrites its slices.
type Row = func(id, label []byte, masks [3][]byte, features []float32) error

// Nodes is a table of nodes, in any format.
type Nodes interface {
	// Names returns the names of the columns.
	Names() []string
	// Columns finds the columns; the label's has one of the names, or is missing.
	Columns(labels ...string) (c Columns, notes []string, err error)
	// Scan calls each for every row.
	Scan(c Columns, each Row) error
	// Keep returns an error if the features are too many, Take if more bytes are.
	Keep(c Columns) error
	Take(bytes int64) error
	// Errorf returns an error that names the file.
	Errorf(format string, args ...any) error
}

// ColumnsFor is Columns with width features required.
func ColumnsFor(width int, t Nodes) (c Columns, notes []string, err error) {
	c, notes, err = t.Columns()
	if found := len(c.Features); err == nil && found != width {
		err = t.Errorf("%d columns of features beside the id: expected %d, as the model was trained with", found, width)
	}
	return c, notes, err
}

// NoteEdgeColumns notes the columns left out of a table of edges.
func (g *Graph) NoteEdgeColumns(names []string, ends ...int) {
	for i, name := range names {
		if name != "" && !slices.Contains(ends, i) {
			g.Notef("column %.80q of edges: left out", name)
		}
	}
}

// Rows collects a table's nodes and finds them by id.
type Rows struct {
	IDs
	Graph *Graph // without edges

	columns  Columns
	ids      []string
	labels   []int32
	classes  Classes
	masks    [3][]int32 // nodes of each
	features Features
}

// ReadRows collects a table's rows. accept may refuse an id; nil accepts all.
func ReadRows(format string, t Nodes, c Columns, notes []string, accept func(id []byte) error) (*Rows, error) {
	if err := t.Keep(c); err != nil {
		return nil, err
	}
	r := &Rows{columns: c, features: NewFeatures(len(c.Features))}
	if err := t.Scan(c, func(id, label []byte, masks [3][]byte, features []float32) error {
		if accept != nil {
			if err := accept(id); err != nil {
				return err
			}
		}
		bytes, err := r.add(id, label, masks, features)
		if err != nil {
			return err
		}
		return t.Take(bytes)
	}); err != nil {
		return nil, err
	}
	r.finish(format, notes)
	return r, nil
}

func (r *Rows) add(id, label []byte, masks [3][]byte, features []float32) (bytes int64, err error) {
	v := int32(len(r.ids))
	if v >= MaxNodes {
		return 0, fmt.Errorf("more than %d nodes", MaxNodes)
	}
	r.ids = append(r.ids, string(id))
	if first, again := r.IDs.Add(r.ids[v], v); again {
		return 0, fmt.Errorf("the id %.80q is there already (node %d, counted from 0): ids must differ", id, first)
	}
	if r.columns.Label >= 0 {
		r.labels = append(r.labels, r.classes.Add(label))
	}
	for set, mask := range masks {
		if in, err := parseMask(string(mask)); err != nil {
			return 0, err
		} else if in {
			r.masks[set] = append(r.masks[set], v)
		}
	}
	return 128 + int64(len(id)) + r.features.Add(features), nil
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

func (r *Rows) finish(format string, notes []string) {
	r.Seal()
	g := &Graph{Format: format, Nodes: len(r.ids), IDs: r.ids,
		Features: r.features, FeatureNames: r.columns.Names, Notes: notes}
	if r.labels != nil {
		g.SetLabels(&r.classes, r.labels)
	}
	g.SetSplit(MasksSplit, r.columns.Masks != [3]int{-1, -1, -1}, r.masks)
	r.Graph = g
}

// SparseLimit is the largest share of nonzeros stored sparse: half of dense memory, with a column and value each.
const SparseLimit = 0.25

// NewFeatures returns features without rows, for [Features.Add].
func NewFeatures(width int) Features { return Features{Width: width, Offsets: []int64{0}} }

// Add copies a row and returns about its bytes. Features turn from sparse to dense once mostly nonzero.
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
	// Twice the limit, to avoid flipping back and forth.
	if f.Rows >= 64 && float64(len(f.Values)) > 2*SparseLimit*float64(f.Rows)*float64(f.Width) {
		*f = f.ToDense()
	}
	return bytes
}

// ToDense returns sparse features stored dense.
func (f *Features) ToDense() Features {
	d := Features{Rows: f.Rows, Width: f.Width, Dense: make([]float32, f.Rows*f.Width)}
	for v := range f.Rows {
		for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
			d.Dense[v*f.Width+int(f.Columns[i])] = f.Values[i]
		}
	}
	return d
}
