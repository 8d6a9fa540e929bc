// Package parquet reads graphs in Parquet for [datasets.OpenOptions].Readers. It is apart from datasets so that a program that does not
// need it does not link it.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/datasets/internal/classes"
	"nodemask/datasets/internal/ids"
	"nodemask/datasets/internal/listing"
)

// Files of a graph.
const (
	nodesFile = "nodes.parquet"
	edgesFile = "edges.parquet"
)

// Reader reads a folder with two Parquet files, with the columns of [datasets.ReadCSV]:
//
//	nodes.parquet   id, label, and any further column of numbers as a feature
//	edges.parquet   source, target; further columns are left out
//
// Ids and labels are whole numbers or text; a label that is null is none. Columns of other types are left out and noted.
type Reader struct{}

// Reads reports whether a folder has both files, or one of them.
func (Reader) Reads(path string, folder bool) bool {
	if !folder {
		return false
	}
	return slices.ContainsFunc([]string{nodesFile, edgesFile}, func(file string) bool {
		_, err := os.Stat(filepath.Join(path, file))
		return err == nil
	})
}

// Layout describes the folder.
func (Reader) Layout() string { return "a folder with " + nodesFile + " and " + edgesFile }

// Read reads a folder. Errors name the file, the column and the row, counted from 0.
func (Reader) Read(ctx context.Context, path string) (g *datasets.Graph, err error) {
	g = &datasets.Graph{Source: path, Format: "Parquet", Name: filepath.Base(path)}
	if absolute, err := filepath.Abs(path); err == nil {
		g.Name = filepath.Base(absolute)
	}
	var known index
	if err := readTable(ctx, filepath.Join(path, nodesFile), func(t *table) error { return readNodes(t, g, &known) }); err != nil {
		return nil, err
	}
	var pairs []csr.Edge
	err = readTable(ctx, filepath.Join(path, edgesFile), func(t *table) error {
		pairs, err = readEdges(t, g, &known)
		return err
	})
	if err != nil {
		return nil, err
	}
	known = index{} // no longer needed when memory is
	if err := g.SetPairs(len(g.Labels), pairs); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(path, edgesFile), err)
	}
	return g, nil
}

// readNodes reads ids, labels and features.
func readNodes(t *table, g *datasets.Graph, known *index) error {
	id, err := t.column("id")
	if err != nil {
		return err
	}
	label, err := t.column("label", "class", "y")
	if err != nil {
		return err
	}
	masks := [3]*column{}
	var features []*column
	for _, c := range t.columns {
		switch {
		case c == id || c == label:
		case listing.MaskSet(c.name) >= 0 && c.kind == whole:
			masks[listing.MaskSet(c.name)] = c
		case c.name == "__index_level_0__": // pandas numbers rows so
			g.Notes = append(g.Notes, fmt.Sprintf("column %q, pandas' row numbers: left out", c.name))
		case c.kind == other || c.kind == text:
			g.Notes = append(g.Notes, fmt.Sprintf("column %.80q of type %s: left out", c.name, c.described))
		default:
			features = append(features, c)
		}
	}
	g.Notes = shortened(g.Notes)
	if t.rows == 0 {
		return t.errorf("no nodes: expected a row for each")
	}
	switch id.kind {
	case whole, text:
	default:
		return t.errorf("column %q of type %s: expected whole numbers or text", id.name, id.described)
	}
	if label.kind == other {
		return t.errorf("column %q of type %s: expected numbers or text", label.name, label.described)
	}
	if err := known.read(t, id, g); err != nil {
		return err
	}
	if g.Labels, g.Classes, err = readLabels(t, label); err != nil {
		return err
	}
	if g.Features, err = readFeatures(t, features); err != nil {
		return err
	}
	var split datasets.Masks
	for set, c := range masks {
		if c == nil {
			continue
		}
		if err := t.each(c, func(row int, b batch) error {
			for i := range b.len() {
				split.Add(set, int32(row+i), !b.null(i) && b.int(i) != 0)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	g.SetMasks(split)
	return nil
}

// shortened keeps the first notes of very many.
func shortened(notes []string) []string {
	const most = 20
	if len(notes) > most {
		return append(notes[:most], fmt.Sprintf("and %d more columns left out", len(notes)-most))
	}
	return notes
}

// readLabels reads the classes, in natural order, and the class of each node.
func readLabels(t *table, c *column) ([]int32, []string, error) {
	labels := make([]int32, 0, t.rows)
	var index classes.Index
	var name []byte
	err := t.each(c, func(_ int, b batch) error {
		for i := range b.len() {
			name = b.text(name[:0], i, c.kind)
			labels = append(labels, index.Add(name))
		}
		return nil
	})
	return labels, index.Finish(labels), err
}

// readFeatures reads columns of numbers side by side, some rows at a time.
func readFeatures(t *table, columns []*column) (datasets.Features, error) {
	if cells := t.rows * int64(len(columns)); cells > limitCells(t.in.Size) {
		return datasets.Features{}, t.errorf("%d rows of %d features in a file of %d bytes: expected at most %d numbers", t.rows, len(columns), t.in.Size, limitCells(t.in.Size))
	}
	builder := datasets.NewFeatureBuilder(len(columns))
	if len(columns) == 0 {
		return datasets.Features{Rows: int(t.rows)}, nil
	}
	const block = 1024
	rows := make([]float32, block*len(columns))
	readers := make([]*cursor, len(columns))
	for j, c := range columns {
		readers[j] = t.open(c)
		defer readers[j].close()
	}
	for begin := int64(0); begin < t.rows; begin += block {
		n := int(min(block, t.rows-begin))
		for j, r := range readers {
			at := 0
			err := r.read(n, func(b batch) error {
				for i := range b.len() {
					if b.null(i) {
						return t.errorf("column %.80q: row %d is empty: write 0", columns[j].name, begin+int64(at))
					}
					x, err := listing.Float32(b.float(i))
					if err != nil {
						return t.errorf("column %.80q: row %d: %w", columns[j].name, begin+int64(at), err)
					}
					rows[at*len(columns)+j] = x
					at++
				}
				return nil
			})
			if err != nil {
				return datasets.Features{}, err
			}
		}
		for v := range n {
			if err := t.in.Take(builder.Add(rows[v*len(columns) : (v+1)*len(columns)])); err != nil {
				return datasets.Features{}, t.errorf("row %d: %w", begin+int64(v), err)
			}
		}
	}
	return builder.Finish(), nil
}

// readEdges reads pairs of ids.
func readEdges(t *table, g *datasets.Graph, known *index) ([]csr.Edge, error) {
	source, err := t.column("source", "src", "from")
	if err != nil {
		return nil, err
	}
	target, err := t.column("target", "dst", "to")
	if err != nil {
		return nil, err
	}
	for _, c := range []*column{source, target} {
		if c.kind != whole && c.kind != text {
			return nil, t.errorf("column %q of type %s: expected whole numbers or text, as ids are", c.name, c.described)
		}
	}
	if err := t.in.Take(16 * t.rows); err != nil {
		return nil, t.errorf("%w", err)
	}
	pairs := make([]csr.Edge, t.rows)
	for _, end := range []struct {
		c   *column
		set func(pair *csr.Edge, v int32)
	}{{source, func(p *csr.Edge, v int32) { p.Node = v }}, {target, func(p *csr.Edge, v int32) { p.Neighbour = v }}} {
		err := t.each(end.c, func(row int, b batch) error {
			for i := range b.len() {
				v, found := int32(0), false
				if !b.null(i) {
					v, found = known.find(b, i, end.c.kind)
				}
				if !found {
					return t.errorf("column %q: row %d names node %.80q, which %s does not have: add it there, or remove the edge", end.c.name, row+i, b.name(i, end.c.kind), nodesFile)
				}
				end.set(&pairs[row+i], v)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var left []string
	for _, c := range t.columns {
		if c != source && c != target {
			left = append(left, fmt.Sprintf("column %.80q of edges: left out", c.name))
		}
	}
	g.Notes = append(g.Notes, shortened(left)...)
	return pairs, nil
}

// index finds nodes by their ids.
type index struct{ ids.Index }

// read reads all ids into g.NodeIDs.
func (x *index) read(t *table, c *column, g *datasets.Graph) error {
	if err := t.in.Take(64 * t.rows); err != nil {
		return t.errorf("%w", err)
	}
	var digits []byte // of all numbers: one allocation for all names
	ends := make([]int, 0, t.rows)
	if c.kind == text {
		g.NodeIDs = make([]string, 0, t.rows)
	}
	err := t.each(c, func(row int, b batch) error {
		for i := range b.len() {
			if b.null(i) || c.kind == text && len(b.values[i].ByteArray()) == 0 {
				return t.errorf("column %q: row %d: the id is empty: every node needs one", c.name, row+i)
			}
			var old int32
			var again bool
			if c.kind == text {
				id := string(b.values[i].ByteArray())
				g.NodeIDs = append(g.NodeIDs, id)
				old, again = x.Add(id, int32(row+i))
			} else {
				id := b.int(i)
				digits = strconv.AppendInt(digits, id, 10)
				ends = append(ends, len(digits))
				old, again = x.AddNumber(id, int32(row+i))
			}
			if again {
				return t.errorf("column %q: row %d: the id %.80q is there already (row %d): ids must differ", c.name, row+i, b.name(i, c.kind), old)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	x.Seal()
	if c.kind != text {
		all, begin := string(digits), 0
		g.NodeIDs = make([]string, len(ends))
		for v, end := range ends {
			g.NodeIDs[v], begin = all[begin:end], end
		}
	}
	return nil
}

// find returns the node of value i of a batch. Numbers find ids of text, and the other way round.
func (x *index) find(b batch, i int, k kind) (int32, bool) {
	if k == whole {
		return x.FindNumber(b.int(i))
	}
	return x.Find(b.values[i].ByteArray())
}

var errDamaged = errors.New("the file is damaged")

// most rows that a byte of a file may stand for, and what any file may have: packed numbers in steps of one take 25 a byte.
const (
	rowsPerByte = 64
	rowsAnyway  = 1_000_000
)

// limitCells returns how many numbers the features in a file of a size may have: reading each takes time, also where all are 0.
func limitCells(size int64) int64 { return 1<<28 + 256*size }

// limit returns how many rows a file of a size may have.
func limit(size int64) int64 {
	return min(rowsAnyway+rowsPerByte*size, listing.MaxNodes)
}
