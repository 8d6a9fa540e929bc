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

	"nodemask/csr"
	"nodemask/datasets"
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
func (Reader) Read(ctx context.Context, path string) (*datasets.Graph, error) {
	g := &datasets.Graph{Source: path, Format: "Parquet", Name: filepath.Base(path)}
	if absolute, err := filepath.Abs(path); err == nil {
		g.Name = filepath.Base(absolute)
	}
	var known *datasets.NodeRows
	err := readTable(ctx, filepath.Join(path, nodesFile), func(t *table) (err error) {
		known, err = readNodes(t, g)
		return err
	})
	if err != nil {
		return nil, err
	}
	var pairs []csr.Edge
	err = readTable(ctx, filepath.Join(path, edgesFile), func(t *table) (err error) {
		pairs, err = readEdges(t, g, known)
		return err
	})
	if err != nil {
		return nil, err
	}
	known = nil // no longer needed when memory is
	if err := g.SetPairs(len(g.Labels), pairs); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(path, edgesFile), err)
	}
	return g, nil
}

// readNodes reads ids, labels, the own split and features.
func readNodes(t *table, g *datasets.Graph) (*datasets.NodeRows, error) {
	n, err := t.nodes("label", "class", "y")
	switch {
	case err != nil:
		return nil, err
	case n.label == nil:
		return nil, t.missing("label")
	case t.rows == 0:
		return nil, t.errorf("no nodes: expected a row for each")
	}
	if most := limitCells(t.in.Size); t.rows*int64(len(n.features)) > most {
		return nil, t.errorf("%d rows of %d features in a file of %d bytes: expected at most %d numbers",
			t.rows, len(n.features), t.in.Size, most)
	}
	g.Notes = n.notes.AllNotes()
	rows := datasets.NewNodeRows(len(n.features), true, [3]bool{n.masks[0] != nil, n.masks[1] != nil, n.masks[2] != nil})
	err = t.scanNodes(n, func(id, label []byte, masks [3][]byte, features []float32) error {
		bytes, err := rows.Add(id, label, masks, features)
		if err != nil {
			return err
		}
		return t.in.Take(bytes)
	})
	if err == nil {
		rows.Finish(g)
	}
	return rows, err
}

// readEdges reads pairs of ids.
func readEdges(t *table, g *datasets.Graph, known *datasets.NodeRows) ([]csr.Edge, error) {
	ends, err := t.ends()
	if err != nil {
		return nil, err
	}
	if err := t.in.Take(16 * t.rows); err != nil {
		return nil, t.errorf("%w", err)
	}
	pairs := make([]csr.Edge, t.rows)
	for end, c := range ends {
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
					return t.errorf("column %q: row %d names node %.80q, which %s does not have: add it there, or remove the edge",
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
			return nil, err
		}
	}
	var left listing.Graph
	for _, c := range t.columns {
		if !slices.Contains(ends, c) {
			left.Notef("column %.80q of edges: left out", c.name)
		}
	}
	g.Notes = append(g.Notes, left.AllNotes()...)
	return pairs, nil
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
