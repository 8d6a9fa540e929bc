// Package graphfile is what the readers of all formats share: it opens files and bounds what their content may take,
// reads tables, finds nodes by their ids, numbers classes, and holds a graph as a file lists it, before it becomes a
// datasets.Graph.
package graphfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"nodemask/csr"
)

// Limits that every format shares.
const (
	MaxNodes = 1<<31 - 2
	MaxWidth = 1 << 24 // columns of features: a dense row takes memory for each
	maxNotes = 20
)

// Graph is what a file says of a graph.
type Graph struct {
	Format  string   // "GraphML"
	Nodes   int      //
	IDs     []string // [nodes]; nil: their numbers
	Labels  []int32  // [nodes], -1 for none; nil: none has one
	Classes []string // in natural order

	Features     Features
	FeatureNames []string // [Features.Width]; nil: they have none
	Pairs        []csr.Edge
	// Both says that the pairs are entries of an adjacency matrix: an undirected edge is listed in both directions, and an
	// edge that is not is directed.
	Both bool
	// Directed says that the file calls its edges directed.
	Directed bool

	Train, Validation, Test []int32  // the file's own split, ascending; all nil if it has none
	Notes                   []string // what was left out or taken otherwise than it stands there, a sentence each
	more                    int      // notes beyond maxNotes
}

// Features holds [Rows, Width] float32, as datasets.Features does, into which it converts.
type Features struct {
	Rows, Width int
	Dense       []float32
	Offsets     []int64 // nil: dense
	Columns     []int32
	Values      []float32
}

// Notef adds a note, up to a limit: a file may have a million things to leave out.
func (g *Graph) Notef(format string, args ...any) {
	if len(g.Notes) < maxNotes {
		g.Notes = append(g.Notes, fmt.Sprintf(format, args...))
		return
	}
	g.more++
}

// AllNotes returns the notes, and at their end how many more there would be.
func (g *Graph) AllNotes() []string {
	if g.more == 0 {
		return g.Notes
	}
	return append(g.Notes[:len(g.Notes):len(g.Notes)], fmt.Sprintf("and %d more of this kind", g.more))
}

// MasksSplit names the split that marks at the nodes make up, for [Graph.SetSplit].
const MasksSplit = "the split of train_mask, val_mask and test_mask"

// SetSplit takes over the train, validation and test set of an own split, if there is one, without the nodes that have
// no label, or says why not. Sets must be ascending; what names the split is for notes.
func (g *Graph) SetSplit(what string, is bool, sets [3][]int32) {
	if !is {
		return
	}
	names := [3]string{"train", "validation", "test"}
	if g.Labels == nil {
		g.Notef("%s: left out: no node has a label", what)
		return
	}
	in := make([]uint8, g.Nodes)
	unlabelled := 0
	for s, set := range sets {
		kept := make([]int32, 0, len(set))
		for _, v := range set {
			switch {
			case v < 0 || int(v) >= g.Nodes:
				g.Notef("%s: left out: it names node %d of %d", what, v, g.Nodes)
				return
			case in[v] != 0:
				g.Notef("%s: left out: node %s is in the %s and the %s set", what, g.id(v), names[in[v]-1], names[s])
				return
			case g.Labels[v] < 0:
				unlabelled++
			default:
				kept = append(kept, v)
			}
			in[v] = uint8(s + 1)
		}
		sets[s] = kept
	}
	for s, set := range sets {
		if len(set) == 0 {
			g.Notef("%s: left out: its %s set is empty", what, names[s])
			return
		}
	}
	if unlabelled > 0 {
		g.Notef("%s: %d of its nodes have no label and are left out of it", what, unlabelled)
	}
	g.Train, g.Validation, g.Test = sets[0], sets[1], sets[2]
}

// id returns what the file calls node v.
func (g *Graph) id(v int32) string {
	if g.IDs == nil {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%.40q", g.IDs[v])
}

// ClaimError returns an error if a number of nodes that nothing but a number in the file vouches for is more than edges
// make likely; what names that number. A graph takes memory for each node.
func ClaimError(what string, nodes int64, edges int) error {
	most := min(int64(1_000_000)+16*int64(edges), MaxNodes)
	if nodes < 0 || nodes > most {
		return fmt.Errorf("%s makes %d nodes: expected 0 to %d beside %d edges, unless features or labels list them",
			what, nodes, most, edges)
	}
	return nil
}

// ParseFeature reads a finite number. Converting a short []byte to string for strconv allocates nothing.
func ParseFeature(field []byte) (float32, error) {
	if len(field) == 1 && '0' <= field[0] && field[0] <= '9' {
		return float32(field[0] - '0'), nil
	}
	v, err := strconv.ParseFloat(string(field), 32)
	switch {
	case err == nil && !math.IsNaN(v) && !math.IsInf(v, 0):
		return float32(v), nil
	case len(field) == 0:
		return 0, errors.New("the feature is empty: write 0")
	}
	return 0, fmt.Errorf("found %.40q: expected a finite number that fits 32 bits", field)
}

// Float32 returns x as a feature holds it, or an error if it is not finite there.
func Float32(x float64) (float32, error) {
	f := float32(x)
	if math.IsNaN(x) || math.IsInf(float64(f), 0) {
		return 0, fmt.Errorf("found %v: expected a finite number that fits 32 bits", x)
	}
	return f, nil
}
