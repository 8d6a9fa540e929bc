// Package compact writes and reads a graph with features and labels in few bytes: the format of the embedded data.
//
// A file is
//
//	"nmgraph" and a version byte
//	SHA-256 of all that follows
//	length of the payload once inflated, a uvarint
//	the payload, deflated
//
// and the payload is a run of uvarints: counts, class names, node names, labels, the edges (v, u) with v < u as the
// differences within each row, the columns of the nonzero features likewise, for each column a dictionary of its
// distinct values (bits of float32, most frequent first), and last which of them each nonzero takes: all low bytes,
// then all high bytes. Feature values come back bit for bit.
package compact

import "fmt"

const (
	magic   = "nmgraph"
	version = 1

	// Far above what is embedded, and low enough that a hostile file cannot exhaust memory.
	maxPayload = 64 << 20
	maxNodes   = 1 << 24
	maxWidth   = 1 << 20
	maxName    = 1 << 12
	// An entry of a dictionary is named by two bytes.
	maxDictionary = 1 << 16
)

// Graph is what a file holds, in plain slices. Rows of Targets and Columns are strictly ascending.
type Graph struct {
	Width                         int      // columns of the features
	Classes                       []string // class names
	NodeIDs                       []string // names of the nodes, or nil
	Labels                        []int32  // class of each node, or -1
	Offsets                       []int64  // [nodes+1]: rows of Targets
	Targets                       []int32  // neighbours; each edge is in both rows
	FeatureOffsets                []int64  // [nodes+1]: rows of Columns and Values
	Columns                       []int32  // columns of the nonzero features
	Values                        []float32
	Listed, SelfLoops, Duplicates int64 // what the source's edge list held
}

func (g *Graph) check() error {
	n := len(g.Labels)
	if len(g.Offsets) != n+1 || len(g.FeatureOffsets) != n+1 || g.NodeIDs != nil && len(g.NodeIDs) != n {
		return fmt.Errorf("compact: %d labels, %d offsets, %d offsets of features, %d names: expected n, n+1, n+1 and n or none",
			n, len(g.Offsets), len(g.FeatureOffsets), len(g.NodeIDs))
	}
	if n > maxNodes || g.Width < 0 || g.Width > maxWidth {
		return fmt.Errorf("compact: %d nodes and %d columns: expected at most %d and %d", n, g.Width, maxNodes, maxWidth)
	}
	if g.Offsets[0] != 0 || g.Offsets[n] != int64(len(g.Targets)) {
		return fmt.Errorf("compact: rows of edges run from %d to %d of %d", g.Offsets[0], g.Offsets[n], len(g.Targets))
	}
	if g.FeatureOffsets[0] != 0 || g.FeatureOffsets[n] != int64(len(g.Columns)) || len(g.Columns) != len(g.Values) {
		return fmt.Errorf("compact: rows of features run from %d to %d of %d columns and %d values",
			g.FeatureOffsets[0], g.FeatureOffsets[n], len(g.Columns), len(g.Values))
	}
	for v := range n {
		if err := ascends(g.Offsets, g.Targets, v, n); err != nil {
			return fmt.Errorf("compact: edges of node %d: %w", v, err)
		}
		if err := ascends(g.FeatureOffsets, g.Columns, v, g.Width); err != nil {
			return fmt.Errorf("compact: features of node %d: %w", v, err)
		}
		if g.Labels[v] < -1 || int(g.Labels[v]) >= len(g.Classes) {
			return fmt.Errorf("compact: node %d has label %d of %d classes", v, g.Labels[v], len(g.Classes))
		}
	}
	return nil
}

func ascends(offsets []int64, items []int32, row, below int) error {
	from, to := offsets[row], offsets[row+1]
	if from < 0 || from > to || to > int64(len(items)) {
		return fmt.Errorf("row from %d to %d of %d", from, to, len(items))
	}
	last := int32(-1)
	for _, item := range items[from:to] {
		if item <= last || int(item) >= below {
			return fmt.Errorf("%d after %d: expected ascending numbers below %d", item, last, below)
		}
		last = item
	}
	return nil
}
