package datasets

import (
	"context"
	"fmt"
	"os"
	"slices"
)

// Newcomers are nodes that arrive after a model was trained, with their edges to nodes that it knew.
type Newcomers struct {
	IDs      []string
	Features Features
	// Known[v] lists the known nodes that newcomer v is joined to, ascending, each once.
	Known [][]int32
	// Ignored counts edges that a cache has no use for: those among newcomers, and those among known nodes.
	Ignored int64
}

// ReadNewcomers reads two files laid out like those of [ReadCSV]: nodes with an id and features in the order that the model
// was trained on, of which there must be width, and edges with the ids of their ends. A label column may be there and
// is left out. known finds the node that an id belongs to among those that the model knew.
func ReadNewcomers(ctx context.Context, nodesFile, edgesFile string, width int, known func(id []byte) (int32, bool)) (*Newcomers, error) {
	n, index := &Newcomers{}, map[string]int32{}
	err := withCSVTable(ctx, nodesFile, func(t *csvTable) error { return n.readNodes(t, index, width, known) })
	if err != nil {
		return nil, err
	}
	n.Known = make([][]int32, len(n.IDs))
	if err := withCSVTable(ctx, edgesFile, func(t *csvTable) error { return n.readEdges(t, nodesFile, index, known) }); err != nil {
		return nil, err
	}
	for v := range n.Known {
		slices.Sort(n.Known[v])
		n.Known[v] = slices.Compact(n.Known[v])
	}
	return n, nil
}

func withCSVTable(ctx context.Context, path string, read func(*csvTable) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := newCSVTable(ctx, f, path)
	if err != nil {
		return err
	}
	return read(t)
}

func (n *Newcomers) readNodes(t *csvTable, index map[string]int32, width int, known func([]byte) (int32, bool)) error {
	idColumn, err := t.Column("id")
	if err != nil {
		return err
	}
	labelColumn := slices.Index(t.header, "label") // -1: none
	var columns []int
	for i := range t.header {
		if i != idColumn && i != labelColumn {
			columns = append(columns, i)
		}
	}
	if len(columns) != width {
		return t.errorf("%d columns of features beside the id: expected %d, as the model was trained with", len(columns), width)
	}
	features := newFeatureBuilder(width)
	row := make([]float32, width)
	for t.Next() {
		id := t.fields[idColumn]
		if len(id) == 0 {
			return t.errorf("the id is empty: every node needs one")
		}
		if _, found := known(id); found {
			return t.errorf("node %.80q is one that the model was trained on: only nodes that are new can be predicted from a cache", id)
		}
		if _, found := index[string(id)]; found {
			return t.errorf("the id %.80q is there already: ids must differ", id)
		}
		if len(n.IDs) > maxNodes {
			return t.errorf("more than %d nodes", maxNodes)
		}
		n.IDs = append(n.IDs, string(id))
		index[n.IDs[len(n.IDs)-1]] = int32(len(n.IDs) - 1)
		for at, i := range columns {
			if row[at], err = parseFeature(t.fields[i]); err != nil {
				return t.errorf("column %.80q: %v", t.header[i], err)
			}
		}
		features.Add(row)
	}
	if t.err != nil {
		return t.err
	}
	n.Features = features.Finish()
	return nil
}

func (n *Newcomers) readEdges(t *csvTable, nodesFile string, index map[string]int32, known func([]byte) (int32, bool)) error {
	source, err := t.Column("source", "src", "from")
	if err != nil {
		return err
	}
	target, err := t.Column("target", "dst", "to")
	if err != nil {
		return err
	}
	for t.Next() {
		var isNew [2]bool
		var node [2]int32
		for i, column := range []int{source, target} {
			id := t.fields[column]
			if node[i], isNew[i] = index[string(id)]; isNew[i] {
				continue
			}
			there := false
			if node[i], there = known(id); !there {
				return t.errorf("the edge names node %.80q, which is neither in %s nor among the nodes that the model knew", id, nodesFile)
			}
		}
		switch {
		case isNew[0] == isNew[1]:
			n.Ignored++
		case isNew[0]:
			n.Known[node[0]] = append(n.Known[node[0]], node[1])
		default:
			n.Known[node[1]] = append(n.Known[node[1]], node[0])
		}
	}
	return t.err
}

// String says how many there are.
func (n *Newcomers) String() string {
	edges := 0
	for _, known := range n.Known {
		edges += len(known)
	}
	return fmt.Sprintf("%d new nodes with %d edges to known ones", len(n.IDs), edges)
}
