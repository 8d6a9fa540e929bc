package datasets

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"nodemask/datasets/internal/classes"
	"nodemask/datasets/internal/ids"
	"nodemask/datasets/internal/listing"
)

// NodeRows collects the nodes that a table lists, a row each, for [Reader]s of tables. It finds them by their ids.
type NodeRows struct {
	ids.Index

	ids      []string
	labelled bool
	labels   []int32
	classes  classes.Index
	masked   [3]bool    // whether there is a column for the train, validation and test set
	masks    [3][]int32 // the nodes of each
	features *FeatureBuilder
}

// NewNodeRows returns a collector of rows with so many features, that have a label, and marks for the train, validation
// and test set of the graph's own split, if there are columns for them.
func NewNodeRows(width int, labelled bool, masked [3]bool) *NodeRows {
	return &NodeRows{labelled: labelled, masked: masked, features: NewFeatureBuilder(width)}
}

// Add copies a row, and returns about how many bytes it takes.
func (n *NodeRows) Add(id, label []byte, masks [3][]byte, row []float32) (bytes int64, err error) {
	v := int32(len(n.ids))
	if v >= maxNodes {
		return 0, fmt.Errorf("more than %d nodes", maxNodes)
	}
	n.ids = append(n.ids, string(id))
	if first, again := n.Index.Add(n.ids[v], v); again {
		return 0, fmt.Errorf("the id %.80q is there already (node %d, counted from 0): ids must differ", id, first)
	}
	if n.labelled {
		n.labels = append(n.labels, n.classes.Add(label))
	}
	for set, mask := range masks {
		if in, err := parseMask(string(mask)); err != nil {
			return 0, err
		} else if in && n.masked[set] {
			n.masks[set] = append(n.masks[set], v)
		}
	}
	return 128 + int64(len(id)) + n.features.Add(row), nil
}

// parseMask reads whether a node is in a set.
func parseMask(field string) (bool, error) {
	switch strings.ToLower(field) {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	}
	x, err := strconv.ParseFloat(field, 64)
	if err != nil || math.IsNaN(x) {
		return false, fmt.Errorf("found %.40q in a column of the split: expected true or false", field)
	}
	return x != 0, nil
}

// Finish makes the rows g's nodes and their marks its own split, or notes why they are none.
func (n *NodeRows) Finish(g *Graph) {
	n.Seal()
	g.NodeIDs, g.Labels, g.Classes, g.Features = n.ids, n.labels, n.classes.Finish(n.labels), n.features.Finish()
	l := listing.Graph{Nodes: len(n.ids), IDs: n.ids, Labels: n.labels}
	l.SetSplit("the split of train_mask, val_mask and test_mask", n.masked != [3]bool{}, n.masks)
	if l.Train != nil {
		g.OwnSplit = newOwnSplit(l.Train, l.Validation, l.Test)
	}
	g.Notes = append(g.Notes, l.AllNotes()...)
}
