// Package datasets reads and makes graphs with node features and class labels, and splits them for training.
//
// Cora and PubMed are embedded, so nothing needs to be downloaded. Planetoid and Reddit files, a user's own npz or CSV
// files and synthetic graphs come through the same type, [Graph]. Every reader treats its file as hostile: lengths are
// capped before anything is allocated, and errors name the file, the place, what was found and what was expected.
package datasets

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"nodemask/csr"
)

// Unlabelled is the label of a node whose class is not known. Such a node is in no split.
const Unlabelled int32 = -1

// Graph is an undirected graph with node features and labels. Node v is row v of all its parts.
type Graph struct {
	Name     string     // e.g. "cora"
	Edges    *csr.Graph // distinct edges, both directions, no self-loops
	Features Features   // [nodes, width]
	Labels   []int32    // [nodes], index into Classes or Unlabelled
	Classes  []string   // class names; "0", "1", … where the source has none
	NodeIDs  []string   // names of the nodes in the source; nil: their numbers
	Source   string     // where it was read from: "embedded", a path, or the generator's settings
	Report   csr.Report // what was found in the source's edge list
}

// NumNodes is the number of nodes.
func (g *Graph) NumNodes() int { return g.Edges.NumNodes() }

// NumClasses is the number of classes.
func (g *Graph) NumClasses() int { return len(g.Classes) }

// Features is a matrix [Rows, Width] of float32, dense or sparse: exactly one of Dense and Offsets is set (both may be
// empty if there are no rows).
type Features struct {
	Rows, Width int
	Dense       []float32 // row-major [Rows·Width], or nil if sparse
	Offsets     []int64   // [Rows+1]: row v's nonzeros are at Columns[Offsets[v]:Offsets[v+1]]; nil if dense
	Columns     []int32   // strictly ascending within a row
	Values      []float32 // the nonzeros, beside Columns
}

// Density is the share of entries that are stored: 1 for a dense matrix.
func (f Features) Density() float64 {
	if !f.IsSparse() || f.Rows == 0 || f.Width == 0 {
		return 1
	}
	return float64(f.NonZeros()) / float64(f.Rows) / float64(f.Width)
}

// IsSparse says whether the matrix is stored by its nonzeros.
func (f Features) IsSparse() bool { return f.Offsets != nil }

// RowHashes are numbers that are the same for two rows exactly if the rows are, but for a chance of some 1 in 2^64 a pair.
func (f Features) RowHashes() []uint64 {
	hashes := make([]uint64, f.Rows)
	var number [8]byte
	for v := range hashes {
		h := fnv.New64a()
		put := func(column int, x float32) {
			if x == 0 {
				return // so that it does not matter how the matrix is stored
			}
			binary.LittleEndian.PutUint32(number[:4], uint32(column))
			binary.LittleEndian.PutUint32(number[4:], math.Float32bits(x))
			h.Write(number[:])
		}
		if f.IsSparse() {
			for i := f.Offsets[v]; i < f.Offsets[v+1]; i++ {
				put(int(f.Columns[i]), f.Values[i])
			}
		} else {
			for c, x := range f.Dense[v*f.Width : (v+1)*f.Width] {
				put(c, x)
			}
		}
		hashes[v] = h.Sum64()
	}
	return hashes
}

// Limits on graphs read from files. A width is only a number in a header, which costs a file nothing but whoever makes a
// dense row of it a lot, so it needs one of its own.
const (
	maxNodes = 1<<31 - 2
	maxWidth = 1 << 24
)
