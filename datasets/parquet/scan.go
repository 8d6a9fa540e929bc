package parquet

import (
	"context"
	"math"
	"slices"
	"strconv"

	"nodemask/datasets/internal/listing"
)

// nodes are the columns of a table of nodes.
type nodes struct {
	id, label *column    // label is nil if there is none
	masks     [3]*column // of the own split's sets; nil if there is none
	features  []*column
	notes     listing.Graph
}

// nodes finds the columns of a table of nodes, in which the label has one of the names.
func (t *table) nodes(labels ...string) (n nodes, err error) {
	if n.id, err = t.idColumn("id"); err != nil {
		return n, err
	}
	if n.label = t.find(labels...); n.label != nil && n.label.kind == other {
		return n, t.errorf("column %q of type %s: expected numbers or text", n.label.name, n.label.described)
	}
	for _, c := range t.columns {
		switch set := listing.MaskSet(c.name); {
		case c == n.id || c == n.label:
		case set >= 0 && c.kind != other:
			n.masks[set] = c
		case c.name == "__index_level_0__": // pandas numbers rows so
			n.notes.Notef("column %q, pandas' row numbers: left out", c.name)
		case c.kind == other || c.kind == text:
			n.notes.Notef("column %.80q of type %s: left out", c.name, c.described)
		default:
			n.features = append(n.features, c)
		}
	}
	return n, nil
}

// scanNodes calls each for every row; its slices are overwritten by the next.
func (t *table) scanNodes(n nodes, each func(id, label []byte, masks [3][]byte, features []float32) error) error {
	texts := []*column{n.id}
	into := []int{} // of each text behind the id: the set that it marks, or -1 for the label
	for set, c := range append([]*column{n.label}, n.masks[:]...) {
		if c != nil {
			texts, into = append(texts, c), append(into, set-1)
		}
	}
	return t.scan(texts, n.features, func(row int64, names [][]byte, numbers []float32) error {
		if len(names[0]) == 0 {
			return t.errorf("column %q: row %d: the id is empty: every node needs one", n.id.name, row)
		}
		var label []byte
		var masks [3][]byte
		for i, set := range into {
			if set < 0 {
				label = names[i+1]
			} else {
				masks[set] = names[i+1]
			}
		}
		if err := each(names[0], label, masks, numbers); err != nil {
			return t.errorf("row %d: %w", row, err)
		}
		return nil
	})
}

// ScanNodes reads a file laid out like nodes.parquet of [Reader], and calls each for every row: for readers that keep no graph, or one
// of many files of a graph. The label is empty where there is none. The slices are overwritten by the next row. Errors name the
// file, the column and the row, counted from 0.
func ScanNodes(ctx context.Context, path string, each func(id, label []byte, features []float32) error) error {
	return readTable(ctx, path, func(t *table) error {
		n, err := t.nodes("label")
		if err != nil {
			return err
		}
		return t.scanNodes(n, func(id, label []byte, _ [3][]byte, features []float32) error {
			return each(id, label, features)
		})
	})
}

// ends finds the columns of a table of edges.
func (t *table) ends() (ends []*column, err error) {
	for _, names := range [][]string{{"source", "src", "from"}, {"target", "dst", "to"}} {
		c, err := t.idColumn(names...)
		if err != nil {
			return nil, err
		}
		ends = append(ends, c)
	}
	return ends, nil
}

// ScanEdges is [ScanNodes] for edges.parquet.
func ScanEdges(ctx context.Context, path string, each func(source, target []byte) error) error {
	return readTable(ctx, path, func(t *table) error {
		ends, err := t.ends()
		if err != nil {
			return err
		}
		return t.scan(ends, nil, func(row int64, names [][]byte, _ []float32) error {
			for i, name := range names {
				if len(name) == 0 {
					return t.errorf("column %q: row %d is empty: expected a node's id", ends[i].name, row)
				}
			}
			if err := each(names[0], names[1]); err != nil {
				return t.errorf("row %d: %w", row, err)
			}
			return nil
		})
	})
}

// scan reads columns side by side, some rows at a time: values as text, and as numbers.
func (t *table) scan(texts, numbers []*column, each func(row int64, names [][]byte, values []float32) error) error {
	const block = 1024
	names := make([][]byte, len(texts)*block)
	values := make([]float32, block*len(numbers))
	readers := make([]*cursor, 0, len(texts)+len(numbers))
	for _, c := range slices.Concat(texts, numbers) {
		readers = append(readers, t.open(c))
		defer readers[len(readers)-1].close()
	}
	for begin := int64(0); begin < t.rows; begin += block {
		n := int(min(block, t.rows-begin))
		for j, r := range readers {
			at := 0
			if err := r.read(n, func(b batch) error {
				for i := range b.len() {
					switch k := j - len(texts); {
					case k < 0:
						names[at*len(texts)+j] = b.text(names[at*len(texts)+j][:0], i, r.c.kind)
					case b.null(i):
						return t.errorf("column %.80q: row %d is empty: write 0", r.c.name, begin+int64(at))
					default:
						x, err := listing.Float32(b.float(i))
						if err != nil {
							return t.errorf("column %.80q: row %d: %w", r.c.name, begin+int64(at), err)
						}
						values[at*len(numbers)+k] = x
					}
					at++
				}
				return nil
			}); err != nil {
				return err
			}
		}
		for v := range n {
			if err := each(begin+int64(v), names[v*len(texts):(v+1)*len(texts)], values[v*len(numbers):(v+1)*len(numbers)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// text appends a value as text; nothing for a null, or a number that is none.
func (b batch) text(to []byte, i int, k kind) []byte {
	switch {
	case b.null(i):
		return to
	case k == text:
		return append(to, b.values[i].ByteArray()...)
	case k == whole:
		return strconv.AppendInt(to, b.int(i), 10)
	}
	if x := b.float(i); !math.IsNaN(x) {
		return strconv.AppendFloat(to, x, 'f', -1, 64)
	}
	return to
}
