// Package parquet reads graphs in Parquet for [datasets.OpenOptions].Readers. It is apart from datasets so that a
// program that does not need it does not link it.
package parquet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/datasets/internal/graphfile"
)

// Files of a graph.
const (
	nodesFile = "nodes.parquet"
	edgesFile = "edges.parquet"
)

// Reader reads a folder with two Parquet files, with the columns that [datasets.Open] reads in CSV:
//
//	nodes.parquet   id, label, and any further column of numbers as a feature
//	edges.parquet   source, target; further columns are left out
//
// Ids and labels are whole numbers or text; a label that is null is none. Columns of other types are left out and
// noted.
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
func (Reader) Read(ctx context.Context, path string) (*datasets.Graph, error) {
	var rows *graphfile.Rows
	err := readTable(ctx, filepath.Join(path, nodesFile), func(t *table) (err error) {
		rows, err = readNodes(t)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err = readTable(ctx, filepath.Join(path, edgesFile),
		func(t *table) error { return readEdges(t, rows) }); err != nil {
		return nil, err
	}
	return datasets.FromFile(rows.Graph, "", path)
}

// ReadsTable reports whether a file is a table of nodes or edges in Parquet, by its name.
func (Reader) ReadsTable(file string) bool { return strings.EqualFold(filepath.Ext(file), ".parquet") }

// WithNodes opens a table of nodes.
func (Reader) WithNodes(ctx context.Context, file string, use func(t graphfile.Nodes) error) error {
	return readTable(ctx, file, func(t *table) error { return use(t) })
}

// ScanEdges is [datasets.ScanEdges] of one table.
func (Reader) ScanEdges(ctx context.Context, file string, each func(source, target []byte) error) error {
	return readTable(ctx, file, func(t *table) error {
		ends, err := t.ends()
		if err != nil {
			return err
		}
		return t.scan(ends, nil, func(row int64, names [][]byte, _ []float32) error {
			for i, name := range names {
				if len(name) == 0 {
					return t.Errorf("column %q: row %d is empty: expected a node's id", t.names[ends[i]], row)
				}
			}
			if err := each(names[0], names[1]); err != nil {
				return t.Errorf("row %d: %w", row, err)
			}
			return nil
		})
	})
}

// readNodes reads ids, labels, the own split and features.
func readNodes(t *table) (*graphfile.Rows, error) {
	labels := graphfile.LabelColumns(t.ctx)
	c, notes, err := t.Columns(labels...)
	switch {
	case err != nil:
		return nil, err
	case c.Label < 0:
		return nil, t.missing(labels[0])
	case t.rows == 0:
		return nil, t.Errorf("no nodes: expected a row for each")
	}
	return graphfile.ReadRows("Parquet", t, c, notes, nil)
}

// readEdges reads pairs of ids.
func readEdges(t *table, known *graphfile.Rows) error {
	ends, err := t.ends()
	if err != nil {
		return err
	}
	if err := t.Take(16 * t.rows); err != nil {
		return t.Errorf("%w", err)
	}
	pairs := make([]csr.Edge, t.rows)
	for end, at := range ends {
		c := t.columns[at]
		err := t.each(c, func(row int, b batch) error {
			for i := range b.len() {
				v, found := int32(0), false
				switch { // numbers find ids of text, and the other way round
				case b.null(i):
				case c.kind == whole:
					v, found = known.FindNumber(b.int(i))
				default:
					v, found = known.Find(b.values[i].ByteArray())
				}
				if !found {
					return t.Errorf("column %q: row %d names node %.80q, which %s does not have: add it there, or remove the edge",
						c.name, row+i, b.text(nil, i, c.kind), nodesFile)
				}
				if end == 0 {
					pairs[row+i].Node = v
				} else {
					pairs[row+i].Neighbour = v
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	known.Graph.Pairs = pairs
	known.Graph.NoteEdgeColumns(t.names, ends...)
	return nil
}

var errDamaged = errors.New("the file is damaged")

// most rows that a byte of a file may stand for, and what any file may have: packed numbers in steps of one take 25 a
// byte.
const (
	rowsPerByte = 64
	rowsAnyway  = 1_000_000
)

// limitCells returns how many numbers the features in a file of a size may have: reading each takes time, also where
// all are 0.
func limitCells(size int64) int64 { return 1<<28 + 256*size }

// limit returns how many rows a file of a size may have.
func limit(size int64) int64 {
	return min(rowsAnyway+rowsPerByte*size, graphfile.MaxNodes)
}
