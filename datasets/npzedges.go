package datasets

import (
	"errors"

	"nodemask/csr"
	"nodemask/datasets/internal/numpy"
)

// npzPairs is a sequence of pairs that is streamed from an npz each time it runs, so that a graph can be built without
// holding the pairs in memory. An error ends the sequence early and stays in err.
type npzPairs struct {
	z       npzReader
	nodes   int64
	rows    string  // member of row numbers, or "" if offsets are set
	offsets []int64 // row v has entries offsets[v] to offsets[v+1]
	columns string  // member of column numbers
	entries int64
	err     error
}

// cooPairs returns the sequence of pairs in two members of equal length.
func cooPairs(z npzReader, rows, columns string, nodes int64) (*npzPairs, error) {
	entries, err := z.length(rows, -1)
	if err != nil {
		return nil, err
	}
	if _, err := z.length(columns, entries); err != nil {
		return nil, err
	}
	return &npzPairs{z: z, nodes: nodes, rows: rows, columns: columns, entries: entries}, nil
}

// csrPairs returns the sequence of pairs in compressed sparse rows.
func csrPairs(z npzReader, indptr, indices string, nodes int64) (*npzPairs, error) {
	entries, err := z.length(indices, -1)
	if err != nil {
		return nil, err
	}
	offsets, err := z.rowOffsets(indptr, nodes, entries)
	if err != nil {
		return nil, err
	}
	return &npzPairs{z: z, nodes: nodes, offsets: offsets, columns: indices, entries: entries}, nil
}

// length returns the length of a member of one dimension, which must be want unless that is negative.
func (z npzReader) length(member string, want int64) (int64, error) {
	a, err := z.Vector(member, want)
	if err != nil {
		return 0, err
	}
	return a.Len(), a.Close()
}

// All yields the pairs. It may run any number of times.
func (p *npzPairs) All(yield func(int32, int32) bool) {
	if p.err == nil {
		p.err = p.run(yield)
	}
}

func (p *npzPairs) run(yield func(int32, int32) bool) (err error) {
	columns, err := p.z.Vector(p.columns, p.entries)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, columns.Close()) }()
	var rows *numpy.Array
	if p.rows != "" {
		if rows, err = p.z.Vector(p.rows, p.entries); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
	}
	var nodes, neighbours [4096]int32
	row := int32(0)
	for at := int64(0); at < p.entries; {
		n := int(min(p.entries-at, int64(len(nodes))))
		if p.rows != "" {
			if err := rows.Indices(nodes[:n], p.nodes, "node"); err != nil {
				return err
			}
		} else {
			for i := range n {
				for at+int64(i) >= p.offsets[row+1] {
					row++
				}
				nodes[i] = row
			}
		}
		if err := columns.Indices(neighbours[:n], p.nodes, "node"); err != nil {
			return err
		}
		for i, v := range nodes[:n] {
			if !yield(v, neighbours[i]) {
				return nil
			}
		}
		at += int64(n)
	}
	return nil
}

// undirected returns the graph of pairs that may be listed in one direction or in both. Files nearly always list both,
// so reading them as directed first takes half the memory.
func undirected(p *npzPairs, nodes int) (*csr.Graph, csr.Report, error) {
	g, report, err := csr.FromSeq(nodes, p.All, csr.Options{Directed: true})
	if p.err != nil {
		return nil, report, p.err
	}
	if err != nil {
		return nil, report, p.z.Errorf("%w", err)
	}
	if !g.IsSymmetric() {
		if g, _, err = csr.FromSeq(nodes, g.All(), csr.Options{}); err != nil {
			return nil, report, p.z.Errorf("%w", err)
		}
	}
	// Stored both ways, an edge listed in both directions is one edge and one duplicate.
	report.Edges = g.NumEdges() / 2
	report.Duplicates = report.Listed - report.SelfLoops - report.Edges
	return g, report, nil
}
