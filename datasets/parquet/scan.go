package parquet

import (
	"context"
	"math"
	"strconv"

	"nodemask/datasets/internal/listing"
)

// ScanNodes reads a file laid out like nodes.parquet of [Reader], and calls each for every row: for readers that keep no graph, or one
// of many files of a graph. The label is empty where there is none. The slices are overwritten by the next row. Errors name the
// file, the column and the row, counted from 0.
func ScanNodes(ctx context.Context, path string, each func(id, label []byte, features []float32) error) error {
	return readTable(ctx, path, func(t *table) error {
		id, err := t.column("id")
		if err != nil {
			return err
		}
		if id.kind != whole && id.kind != text {
			return t.errorf("column %q of type %s: expected whole numbers or text", id.name, id.described)
		}
		label, _ := t.column("label") // may be missing
		var features []*cursor
		for _, c := range t.columns {
			if c != id && c != label && c.kind != other && c.kind != text && !c.isMask() {
				r := t.open(c)
				defer r.close()
				features = append(features, r)
			}
		}
		texts := []*cursor{t.open(id)}
		defer texts[0].close()
		if label != nil {
			if label.kind == other {
				return t.errorf("column %q of type %s: expected numbers or text", label.name, label.described)
			}
			texts = append(texts, t.open(label))
			defer texts[1].close()
		}
		return t.scan(texts, features, func(row int64, names [][]byte, numbers []float32) error {
			if len(names[0]) == 0 {
				return t.errorf("column %q: row %d: the id is empty: every node needs one", id.name, row)
			}
			var class []byte
			if label != nil {
				class = names[1]
			}
			if err := each(names[0], class, numbers); err != nil {
				return t.errorf("row %d: %w", row, err)
			}
			return nil
		})
	})
}

// ScanEdges is [ScanNodes] for edges.parquet.
func ScanEdges(ctx context.Context, path string, each func(source, target []byte) error) error {
	return readTable(ctx, path, func(t *table) error {
		var ends []*cursor
		for _, names := range [][]string{{"source", "src", "from"}, {"target", "dst", "to"}} {
			c, err := t.column(names...)
			if err != nil {
				return err
			}
			if c.kind != whole && c.kind != text {
				return t.errorf("column %q of type %s: expected whole numbers or text, as ids are", c.name, c.described)
			}
			ends = append(ends, t.open(c))
			defer ends[len(ends)-1].close()
		}
		return t.scan(ends, nil, func(row int64, names [][]byte, _ []float32) error {
			for i, name := range names {
				if len(name) == 0 {
					return t.errorf("column %q: row %d is empty: expected a node's id", ends[i].c.name, row)
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
func (t *table) scan(texts, numbers []*cursor, each func(row int64, names [][]byte, values []float32) error) error {
	const block = 1024
	names := make([][]byte, len(texts)*block)
	values := make([]float32, block*len(numbers))
	for begin := int64(0); begin < t.rows; begin += block {
		n := int(min(block, t.rows-begin))
		for j, r := range texts {
			at := 0
			if err := r.read(n, func(b batch) error {
				for i := range b.len() {
					names[at*len(texts)+j] = b.text(names[at*len(texts)+j][:0], i, r.c.kind)
					at++
				}
				return nil
			}); err != nil {
				return err
			}
		}
		for j, r := range numbers {
			at := 0
			if err := r.read(n, func(b batch) error {
				for i := range b.len() {
					if b.null(i) {
						return t.errorf("column %.80q: row %d is empty: write 0", r.c.name, begin+int64(at))
					}
					x, err := listing.Float32(b.float(i))
					if err != nil {
						return t.errorf("column %.80q: row %d: %w", r.c.name, begin+int64(at), err)
					}
					values[at*len(numbers)+j] = x
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

// isMask reports whether a column is part of the own split, or pandas' row numbers, and so no feature.
func (c *column) isMask() bool { return listing.MaskSet(c.name) >= 0 || c.name == "__index_level_0__" }
