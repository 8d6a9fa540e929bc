// Package graphfile holds what readers of all file formats share: files, memory limits, tables, ids and classes.
// [Graph] holds the nodes, node pairs, features, classes and splits that a file lists.
package graphfile

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"nodemask/csr"
	"nodemask/datasets/internal/numpy"
)

const (
	MaxNodes = 1<<31 - 2
	MaxWidth = 1 << 24 // limit of feature columns: each takes memory in every dense row
	maxNotes = 20
	// maxSplits is the largest number of splits in a file. Each split is a mask column, which takes memory per node.
	maxSplits = 100
)

// Graph is a graph as a file lists it.
type Graph struct {
	Format  string
	Nodes   int
	IDs     []string // [nodes]; nil: ids are node numbers
	Labels  []int32  // [nodes]; -1: no class; nil: no labels
	Classes []string

	Features     Features
	FeatureNames []string // [Features.Width]; nil: no names
	// Pairs yields the node pairs that the file lists. It can be iterated repeatedly.
	Pairs iter.Seq2[int32, int32]
	// Both means that Pairs are entries of an adjacency matrix, which lists undirected edges both ways.
	Both bool
	// Directed means that the file declares edges directed.
	Directed bool

	// Splits are the file's splits, one per mask column. Each lists the train, validation and test nodes, ascending.
	Splits [][3][]int32
	Notes  []string
	more   int
}

// List returns an iterator over pairs, for [Graph].Pairs.
func List(pairs []csr.Edge) iter.Seq2[int32, int32] {
	return func(yield func(int32, int32) bool) {
		for _, e := range pairs {
			if !yield(e.Node, e.Neighbour) {
				return
			}
		}
	}
}

// Features is a float32 matrix [Rows, Width], like datasets.Features.
type Features struct {
	Rows, Width int
	Dense       []float32
	Offsets     []int64
	Columns     []int32
	Values      []float32
}

// Notef adds a note. Notes beyond maxNotes are only counted, as a file may cause a million.
func (g *Graph) Notef(format string, args ...any) {
	if len(g.Notes) < maxNotes {
		g.Notes = append(g.Notes, fmt.Sprintf(format, args...))
		return
	}
	g.more++
}

// AllNotes returns the notes. If some were omitted, the last one says how many.
func (g *Graph) AllNotes() []string {
	if g.more == 0 {
		return g.Notes
	}
	return append(g.Notes[:len(g.Notes):len(g.Notes)], fmt.Sprintf("and %d more of this kind", g.more))
}

// MasksSplit is the name of a split made of masks, for [Graph.SetSplit].
const MasksSplit = "the split of train_mask, val_mask and test_mask"

// SetSplit sets Splits to the given splits without their unlabelled nodes, or adds a note on why it cannot. name is
// what notes call the splits. Each split lists train, validation and test nodes, ascending.
func (g *Graph) SetSplit(name string, present bool, splits ...[3][]int32) {
	if !present {
		return
	}
	if g.Labels == nil {
		g.Notef("%s: left out: no node has a label", name)
		return
	}
	all, unlabelled := name, 0
	for k, sets := range splits {
		if len(splits) > 1 {
			name = fmt.Sprintf("%s, number %d", all, k)
		}
		without, fault := g.sound(&sets)
		if fault != "" {
			g.Notef("%s: left out: %s", name, fault)
			g.Splits = nil
			return
		}
		unlabelled += without
		g.Splits = append(g.Splits, sets)
	}
	if unlabelled > 0 {
		g.Notef("%s: %d of its nodes have no label and are left out of it", all, unlabelled)
	}
}

func (g *Graph) sound(sets *[3][]int32) (unlabelled int, fault string) {
	names := [3]string{"train", "validation", "test"}
	in := make([]uint8, g.Nodes)
	for s, set := range sets {
		kept := make([]int32, 0, len(set))
		for _, v := range set {
			switch {
			case v < 0 || int(v) >= g.Nodes:
				return 0, fmt.Sprintf("it names node %d of %d", v, g.Nodes)
			case in[v] != 0:
				return 0, fmt.Sprintf("node %s is in the %s and the %s set", g.id(v), names[in[v]-1], names[s])
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
			return 0, fmt.Sprintf("its %s set is empty", names[s])
		}
	}
	return unlabelled, ""
}

// SetMasks sets Splits from the train, validation and test masks. A mask has shape [nodes], [nodes, splits] or
// [splits, nodes], and is nonzero at the nodes of its set; a nil mask marks no node. choice is the index of the split
// to keep, counted from 1; 0 keeps all.
func (g *Graph) SetMasks(masks [3]*numpy.Array, choice int) error {
	splits, several := int64(1), ""
	var columns [3]int64
	for i, m := range masks {
		if m == nil {
			continue
		}
		nodes := int64(g.Nodes)
		rows, wide, ok := m.Rows()
		if ok && len(m.Shape) == 2 && rows != nodes && wide == nodes {
			m, rows, wide = m.Transposed(), wide, rows
		}
		if !m.Type.IsWhole() {
			return m.Errorf("found %v: expected true or false, or 0 or 1 as integers", m.Type)
		}
		if !ok || rows != nodes {
			return m.Errorf("shape %v: expected true or false for each of %d nodes, or for each split", m.Shape, nodes)
		}
		masks[i], columns[i] = m, wide
		if wide > 1 {
			if wide > maxSplits || several != "" && wide != splits {
				return m.Errorf("%d columns, a split each: expected at most %d, and as many in each mask", wide, maxSplits)
			}
			splits, several = wide, m.Name
		}
	}
	first, last := int64(0), splits
	if several != "" {
		if choice > int(splits) {
			return fmt.Errorf("%s has %d columns, a split each: expected mask=0 to mask=%d, not mask=%d", several, splits,
				splits-1, choice-1)
		}
		if choice > 0 {
			first, last = int64(choice)-1, int64(choice)
		} else {
			g.Notef("%s has %d columns, a split each: trials with the own split take one after the other; PATH:mask=k takes "+
				"one, counted from 0", several, splits)
		}
	}
	all := make([][3][]int32, 0, last-first)
	for k := first; k < last; k++ {
		var sets [3][]int32
		for i, m := range masks {
			if columns[i] == 0 { // the mask is missing or has no columns
				continue
			}
			for v := range int64(g.Nodes) {
				if m.Int(v, min(k, columns[i]-1)) != 0 {
					sets[i] = append(sets[i], int32(v))
				}
			}
		}
		all = append(all, sets)
	}
	g.SetSplit(MasksSplit, columns != [3]int64{}, all...)
	return nil
}

func (g *Graph) id(v int32) string {
	if g.IDs == nil {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%.40q", g.IDs[v])
}

// ClaimError returns an error if a file with this many edges claims implausibly many nodes. The error begins with the
// parameter subject.
func ClaimError(subject string, nodes, edges int64) error {
	most := min(int64(1_000_000)+16*edges, MaxNodes)
	if nodes < 0 || nodes > most {
		return fmt.Errorf("%s makes %d nodes: expected 0 to %d beside %d edges, unless features or labels list them",
			subject, nodes, most, edges)
	}
	return nil
}

// ParseFeature parses a finite number. It reads true as 1 and false as 0.
func ParseFeature(field string) (float32, error) {
	if len(field) == 1 && '0' <= field[0] && field[0] <= '9' {
		return float32(field[0] - '0'), nil
	}
	v, err := strconv.ParseFloat(field, 32)
	switch {
	case err != nil && strings.EqualFold(field, "true"):
		return 1, nil
	case err != nil && strings.EqualFold(field, "false"):
		return 0, nil
	case err == nil && !math.IsNaN(v) && !math.IsInf(v, 0):
		return float32(v), nil
	case field == "":
		return 0, errors.New("the feature is empty: write 0")
	case errors.Is(err, strconv.ErrSyntax):
		return 0, fmt.Errorf("found %.40q: expected a finite number that fits 32 bits: %w", field, errText)
	}
	return 0, fmt.Errorf("found %.40q: expected a finite number that fits 32 bits", field)
}

var errText = errors.New("a column of text is left out where its first field is text")

// Float32 returns x as float32, or an error if the result is not finite.
func Float32(x float64) (float32, error) {
	f := float32(x)
	if math.IsNaN(x) || math.IsInf(float64(f), 0) {
		return 0, fmt.Errorf("found %v: expected a finite number that fits 32 bits", x)
	}
	return f, nil
}
