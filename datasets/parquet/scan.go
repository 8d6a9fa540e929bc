package parquet

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"nodemask/datasets/internal/graphfile"
)

// Names returns the names of the columns.
func (t *table) Names() []string { return t.names }

// Columns finds the columns of a table of nodes, in which the label has one of the names.
func (t *table) Columns(labels ...string) (c graphfile.Columns, notes []string, err error) {
	id, err := t.idColumn("id")
	if err != nil {
		return c, nil, err
	}
	label := graphfile.Find(t.names, labels...)
	if label >= 0 && t.columns[label].kind == other {
		return c, nil, t.Errorf("column %q of type %s: expected numbers or text", t.names[label], t.columns[label].described)
	}
	c, notes = graphfile.NodeColumns(t.names, id, label, func(i int, mask bool) string {
		switch c := t.columns[i]; {
		case c.name == "__index_level_0__":
			return fmt.Sprintf("column %q, pandas' row numbers", c.name)
		case c.kind == other || c.kind == text && !mask:
			return fmt.Sprintf("column %.80q of type %s", c.name, c.described)
		}
		return ""
	})
	return c, notes, nil
}

// Keep returns an error if the features are more numbers than a file of this size may stand for.
func (t *table) Keep(c graphfile.Columns) error {
	if most := limitCells(t.Size); t.rows*int64(len(c.Features)) > most {
		return t.Errorf("%d rows of %d features in a file of %d bytes: expected at most %d numbers",
			t.rows, len(c.Features), t.Size, most)
	}
	return nil
}

// Scan calls each for every row of a table of nodes.
func (t *table) Scan(c graphfile.Columns, each graphfile.Row) error {
	texts, places := []int{c.ID}, []int{0} // each text's place among the label and the masks, from 1; the id's is 0
	for i, column := range append([]int{c.Label}, c.Masks[:]...) {
		if column >= 0 {
			texts, places = append(texts, column), append(places, i+1)
		}
	}
	return t.scan(texts, c.Features, func(row int64, names [][]byte, numbers []float32) error {
		if len(names[0]) == 0 {
			return t.Errorf("column %q: row %d: the id is empty: every node needs one", t.names[c.ID], row)
		}
		var all [5][]byte
		for i, place := range places {
			all[place] = names[i]
		}
		if err := each(all[0], all[1], [3][]byte(all[2:]), numbers); err != nil {
			return t.Errorf("row %d: %w", row, err)
		}
		return nil
	})
}

// ends finds the columns of a table of edges.
func (t *table) ends() (ends []int, err error) {
	for _, names := range [][]string{graphfile.SourceNames, graphfile.TargetNames} {
		c, err := t.idColumn(names...)
		if err != nil {
			return nil, err
		}
		ends = append(ends, c)
	}
	return ends, nil
}

// scan reads columns side by side, some rows at a time: values as text, and as numbers.
func (t *table) scan(texts, numbers []int, each func(row int64, names [][]byte, values []float32) error) error {
	const block = 1024
	names := make([][]byte, len(texts)*block)
	values := make([]float32, block*len(numbers))
	readers := make([]*cursor, 0, len(texts)+len(numbers))
	if err := t.Take(int64(t.buffer * cap(readers))); err != nil {
		return t.Errorf("%w", err)
	}
	for _, c := range slices.Concat(texts, numbers) {
		readers = append(readers, t.open(t.columns[c]))
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
						return t.Errorf("column %.80q: row %d is empty: write 0", r.c.name, begin+int64(at))
					default:
						x, err := graphfile.Float32(b.float(i))
						if err != nil {
							return t.Errorf("column %.80q: row %d: %w", r.c.name, begin+int64(at), err)
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
			if err := each(begin+int64(v), names[v*len(texts):(v+1)*len(texts)],
				values[v*len(numbers):(v+1)*len(numbers)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// text appends a value as text; nothing for a null or a NaN.
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
