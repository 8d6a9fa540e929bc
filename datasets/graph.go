// Package datasets reads and generates graphs with node features and class labels, and splits them for training.
//
// Start with [Open]. Readers treat files as hostile: they cap lengths before allocating, and errors name the file, the
// line or byte, what was found and what was expected.
package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
)

// Unlabelled is the label of nodes whose class is unknown. They are in no split.
const Unlabelled = graphfile.Unlabelled

// Graph is a graph with node features and labels, undirected unless OneWay. Row v of Features, Labels and NodeIDs is
// node v's.
type Graph struct {
	Name     string
	Edges    *csr.Graph // distinct edges, no self-loops, both directions unless OneWay
	OneWay   bool       // whether u may be a neighbour of v, but v not of u. No file reader sets OneWay
	Features Features   // [nodes, width]
	Labels   []int32    // [nodes], indexes into Classes, or Unlabelled
	Classes  []string   // class names; "0", "1", … if the source has none
	NodeIDs  []string   // ids in the source; nil if the source only numbers its nodes
	// FeatureNames are the names of the source's feature columns; nil if unknown or not distinct.
	FeatureNames []string
	Source       string // "embedded", a path, or the generator and its options
	Report       csr.Report

	Format   string
	Reverses int64 // duplicates that list an edge in the opposite direction
	// Directed means that the source is directed, or lists some edges in one direction only. Edges nevertheless holds
	// both directions.
	Directed bool
	OwnSplit *Split // the source's own split; nil: none
	// OwnSplits lists all of the source's splits, OwnSplit first.
	OwnSplits []*Split
	Notes     []string // sentences on what was left out or changed on reading
}

// NumNodes returns the number of nodes.
func (g *Graph) NumNodes() int { return g.Edges.NumNodes() }

func (g *Graph) edges() int64 {
	if g.OneWay {
		return g.Edges.NumEdges()
	}
	return g.Edges.NumEdges() / 2
}

// NumClasses returns the number of classes.
func (g *Graph) NumClasses() int { return len(g.Classes) }

// CheckTrainable returns an error if g has fewer than two classes or no features.
func (g *Graph) CheckTrainable() error {
	switch n := g.NumClasses(); {
	case n < 2:
		return fmt.Errorf("number of classes: %d, expected at least two to tell apart", n)
	case g.Features.Width == 0:
		return errors.New("no features: a model needs at least one number for each node, if only 1 for all")
	}
	return nil
}

// FindNode returns the node whose id equals text, else the node whose number equals text, else -1. If text is the id of
// one node and the number of another, alsoNumber is the second node; else -1.
func (g *Graph) FindNode(text string) (node, alsoNumber int32) {
	node, alsoNumber = int32(slices.Index(g.NodeIDs, text)), -1
	if v, err := strconv.ParseInt(text, 10, 32); err == nil && v >= 0 && int(v) < g.NumNodes() {
		alsoNumber = int32(v)
	}
	switch {
	case node < 0:
		return alsoNumber, -1
	case node == alsoNumber:
		return node, -1
	}
	return node, alsoNumber
}

// ContentHash returns a hex SHA-256 of what a model trains on: nodes in order, edges, features, labels and the data
// set's splits.
func (g *Graph) ContentHash() string {
	h := sha256.New()
	add := func(numbers any) { _ = binary.Write(h, binary.LittleEndian, numbers) } // writing to a hash never fails
	list := func(length int, numbers any) {
		add(int64(length))
		add(numbers)
	}
	list(len(g.Edges.Offsets), g.Edges.Offsets)
	list(len(g.Edges.Indices), g.Edges.Indices)
	list(g.NumClasses(), g.Labels)
	f := g.Features
	add([]int64{int64(f.Rows), int64(f.Width)})
	list(len(f.Offsets), f.Offsets)
	list(len(f.Columns), f.Columns)
	list(len(f.Values), f.Values)
	list(len(f.Dense), f.Dense)
	splits := g.OwnSplits
	if g.OwnSplit != nil {
		splits = append([]*Split{g.OwnSplit}, splits[min(1, len(splits)):]...)
	}
	for _, s := range splits {
		for _, nodes := range [][]int32{s.Train, s.Validation, s.Test} {
			list(len(nodes), nodes)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CheckText returns an error if the name of the graph, a class or a feature is not UTF-8, because a saved model stores
// them as JSON. If ids is true, it also checks node ids, which are saved only in caches.
func (g *Graph) CheckText(ids bool) error {
	all := []struct {
		what  string
		names []string
	}{{"class", g.Classes}, {"feature", g.FeatureNames}, {"data set", []string{g.Name}}, {"node", g.NodeIDs}}
	if !ids {
		all = all[:3]
	}
	for _, some := range all {
		for i, name := range some.names {
			if !utf8.ValidString(name) {
				return fmt.Errorf("%s %d is %.60q, which is not UTF-8 and cannot be saved: convert the file that it is from, "+
					"as by iconv -f latin1 -t utf8", some.what, i, name)
			}
		}
	}
	return nil
}

// Check returns an error for wrong sizes, labels out of range, edges in one direction only (unless OneWay) and what
// [Features.Check] refuses.
func (g *Graph) Check() error {
	if g == nil {
		return errors.New("the graph is nil: expected one that datasets.Open reads")
	}
	if err := g.check(); err != nil {
		return fmt.Errorf("graph %q: %w", g.Name, err)
	}
	return nil
}

func (g *Graph) check() error {
	if g.Edges == nil {
		return errors.New("no edges (nil): expected a graph, even if it has none")
	}
	if _, err := csr.New(g.Edges.Offsets, g.Edges.Indices); err != nil {
		return err
	}
	nodes := g.NumNodes()
	switch {
	case !g.OneWay && !g.Edges.IsSymmetric():
		return fmt.Errorf("some edge is stored in one direction only: expected both, or OneWay")
	case g.Features.Rows != nodes:
		return fmt.Errorf("%d rows of features for %d nodes", g.Features.Rows, nodes)
	case len(g.Labels) != nodes:
		return fmt.Errorf("%d labels for %d nodes", len(g.Labels), nodes)
	case g.NodeIDs != nil && len(g.NodeIDs) != nodes:
		return fmt.Errorf("%d node names for %d nodes", len(g.NodeIDs), nodes)
	}
	for v, c := range g.Labels {
		if c != Unlabelled && (c < 0 || int(c) >= g.NumClasses()) {
			return fmt.Errorf("node %d has label %d: expected 0 to %d, or %d for none", v, c, g.NumClasses()-1, Unlabelled)
		}
	}
	return g.Features.Check()
}
