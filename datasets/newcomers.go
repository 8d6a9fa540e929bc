package datasets

import (
	"context"
	"fmt"
	"slices"

	"nodemask/datasets/internal/graphfile"
)

// Newcomers holds nodes that arrive together after a model was trained, with their edges to nodes that it knew and to
// each other.
type Newcomers struct {
	IDs      []string
	Features Features
	// Known[v] lists the known nodes that newcomer v is joined to, ascending, each once.
	Known [][]int32
	// Linked[v] lists the newcomers that newcomer v is joined to, ascending, each once; nil: none is joined to any.
	Linked [][]int32
	// Ignored counts edges that a cache has no use for: those among known nodes, those of a node with itself, and those
	// that [Newcomers.Apart] left out.
	Ignored int64
	// Skipped counts edges to nodes that are neither new nor known, with [NewcomersOptions.SkipUnknownEdges].
	Skipped int64
}

// NewcomersOptions says what a model expects of newcomers.
type NewcomersOptions struct {
	Width int // features a node
	// Known returns the node that an id stands for among those that the model knew.
	Known func(id []byte) (int32, bool)
	// SkipUnknownEdges leaves out edges to nodes that are neither new nor known, which are an error otherwise.
	SkipUnknownEdges bool
}

// ReadNewcomers reads two files laid out like the nodes.csv and edges.csv of [Open]: nodes with an id and features, in
// the order that the model was trained on, and edges with the ids of their ends. A column of labels is ignored.
func ReadNewcomers(ctx context.Context, nodesFile, edgesFile string, o NewcomersOptions) (*Newcomers, error) {
	accept := func(id []byte) error {
		if _, ok := o.Known(id); ok {
			return fmt.Errorf("node %.80q is one that the model was trained on: only nodes that are new can be predicted "+
				"from a cache", id)
		}
		return nil
	}
	var nodes *graphfile.Rows
	err := withNodes(ctx, nodesFile, func(t csvNodes) error {
		c, notes, err := graphfile.ColumnsFor(o.Width, t)
		if err != nil {
			return err
		}
		nodes, err = graphfile.ReadRows("", t, c, notes, accept)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := &Newcomers{IDs: nodes.Graph.IDs, Features: Features(nodes.Graph.Features).compact()}
	n.Known, n.Linked = make([][]int32, len(n.IDs)), make([][]int32, len(n.IDs))
	// number returns the node that an id stands for, -1 of those to skip.
	number := func(id []byte) (v int32, isNew bool, err error) {
		if v, isNew = nodes.Find(id); isNew {
			return v, true, nil
		}
		v, ok := o.Known(id)
		switch {
		case ok:
			return v, false, nil
		case o.SkipUnknownEdges:
			return -1, false, nil
		}
		return -1, false, fmt.Errorf("the edge names node %.80q, which is neither in %s nor in the model's cache: that has "+
			"the train nodes alone; leave out edges to others, or skip them (skip unknown edges)", id, nodesFile)
	}
	if err := ScanEdges(ctx, edgesFile, func(source, target []byte) error {
		v, vNew, err := number(source)
		if err != nil {
			return err
		}
		u, uNew, err := number(target)
		if err != nil {
			return err
		}
		switch {
		case v < 0 || u < 0:
			n.Skipped++
		case !vNew && !uNew || vNew && uNew && v == u:
			n.Ignored++
		case vNew && uNew:
			n.Linked[v] = append(n.Linked[v], u)
			n.Linked[u] = append(n.Linked[u], v)
		case vNew:
			n.Known[v] = append(n.Known[v], u)
		default:
			n.Known[u] = append(n.Known[u], v)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, rows := range [][][]int32{n.Known, n.Linked} {
		for v := range rows {
			slices.Sort(rows[v])
			rows[v] = slices.Compact(rows[v])
		}
	}
	return n, nil
}

// Apart returns the same newcomers without the edges among them, as if each arrived alone. Those edges count as
// ignored.
func (n *Newcomers) Apart() *Newcomers {
	apart := *n
	apart.Linked = nil
	apart.Ignored += int64(entries(n.Linked) / 2)
	return &apart
}

// entries counts what rows hold.
func entries(rows [][]int32) (total int) {
	for _, row := range rows {
		total += len(row)
	}
	return total
}

// String returns how many newcomers and edges there are, for people.
func (n *Newcomers) String() string {
	return fmt.Sprintf("%d new nodes with %d edges to known ones and %d among themselves",
		len(n.IDs), entries(n.Known), entries(n.Linked)/2)
}
