package datasets

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets/internal/graphfile"
)

// Newcomers are nodes that arrive together after training, with their edges.
type Newcomers struct {
	IDs      []string
	Features Features
	// Known[v] lists newcomer v's neighbours among the train nodes, ascending and distinct.
	Known [][]int32
	// Linked[v] lists newcomer v's neighbours among newcomers, ascending and distinct; nil after [Newcomers.Apart].
	Linked [][]int32
	// Ignored counts self-loops, edges between train nodes and edges removed by [Newcomers.Apart].
	Ignored int64
	// Skipped counts edges skipped because of [NewcomersOptions.SkipUnknownEdges].
	Skipped int64
}

// NewcomersOptions configures [ReadNewcomers].
type NewcomersOptions struct {
	Width int // features per node
	// Known returns the train node with this id; false if there is none.
	Known func(id string) (int32, bool)
	// SkipUnknownEdges skips edges to nodes that are neither newcomers nor train nodes. If false, such edges are
	// errors.
	SkipUnknownEdges bool
}

// ReadNewcomers reads files like the nodes.csv and edges.csv of [Open]. Feature columns must be in the same order as in
// the model's training data. Labels are ignored.
func ReadNewcomers(ctx context.Context, nodesFile, edgesFile string, o NewcomersOptions) (*Newcomers, error) {
	accept := func(id string) error {
		if _, ok := o.Known(id); ok {
			return fmt.Errorf("node %.80q is one that the model was trained on: only nodes that are new can be predicted "+
				"from a cache", id)
		}
		return nil
	}
	var nodes *graphfile.Graph
	var numbers map[string]int32
	err := withCSV(ctx, graphfile.Open, nodesFile, func(t *graphfile.Table) error {
		c, err := t.Columns(graphfile.LabelColumns(ctx)...)
		if err != nil {
			return err
		}
		if found := len(c.Features); found != o.Width {
			left := strings.Join(append([]string{""}, c.Notes...), "; ")
			return t.Errorf("%d columns of features beside the id: expected %d, as the model was trained with%s", found,
				o.Width, left)
		}
		nodes, numbers, err = t.ReadNodes(c, accept)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := &Newcomers{IDs: nodes.IDs, Features: Features(nodes.Features).compact()}
	n.Known, n.Linked = make([][]int32, len(n.IDs)), make([][]int32, len(n.IDs))
	number := func(id string) (v int32, isNew bool, err error) {
		if v, isNew = numbers[id]; isNew {
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
	if err := ScanEdges(ctx, edgesFile, func(source, target string) error {
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

// Apart returns the newcomers without the edges among them, as if each arrived alone.
func (n *Newcomers) Apart() *Newcomers {
	apart := *n
	apart.Linked = nil
	apart.Ignored += int64(entries(n.Linked) / 2)
	return &apart
}

func entries(rows [][]int32) (total int) {
	for _, row := range rows {
		total += len(row)
	}
	return total
}

// String returns the numbers of newcomers and edges.
func (n *Newcomers) String() string {
	return fmt.Sprintf("%d new nodes with %d edges to known ones and %d among themselves",
		len(n.IDs), entries(n.Known), entries(n.Linked)/2)
}
