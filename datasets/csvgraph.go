package datasets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"nodemask/csr"
)

// Files of a graph in CSV.
const (
	csvNodesFile = "nodes.csv"
	csvEdgesFile = "edges.csv"
)

// ReadCSV reads a graph of your own from a folder with two comma-separated files, each with a header line:
//
//	nodes.csv   id,label,anything,…   one line a node; every further column is a feature, a finite number
//	edges.csv   source,target         one line a pair of ids; further columns are ignored
//
// Ids and labels may be numbers or text. An empty label is a node without one. Classes are in natural order: by value
// if all labels are numbers, and "class 2" before "class 10". Node v is line v+2 of nodes.csv. Edges are undirected;
// repeats and self-loops are dropped and counted in the graph's Report. Features are stored sparse if at most a quarter
// is not zero. Errors name the file and the line.
func ReadCSV(ctx context.Context, dir string) (*Graph, error) {
	nodes, err := os.Open(filepath.Join(dir, csvNodesFile))
	if err != nil {
		return nil, err
	}
	defer nodes.Close()
	edges, err := os.Open(filepath.Join(dir, csvEdgesFile))
	if err != nil {
		return nil, err
	}
	defer edges.Close()
	nodeTable, err := newCSVTable(ctx, nodes, csvNodesFile)
	if err != nil {
		return nil, err
	}
	edgeTable, err := newCSVTable(ctx, edges, csvEdgesFile)
	if err != nil {
		return nil, err
	}
	g, err := readCSV(nodeTable, edgeTable)
	if err != nil {
		return nil, err
	}
	g.Source = dir
	if absolute, err := filepath.Abs(dir); err == nil {
		g.Name = filepath.Base(absolute)
	}
	return g, nil
}

func readCSV(nodes, edges *csvTable) (*Graph, error) {
	g := &Graph{}
	index, err := g.readCSVNodes(nodes)
	if err != nil {
		return nil, err
	}
	pairs, err := readCSVEdges(edges, index)
	if err != nil {
		return nil, err
	}
	if g.Edges, g.Report, err = csr.FromEdges(len(g.Labels), pairs, csr.Options{}); err != nil {
		return nil, fmt.Errorf("%s: %w", edges.name, err)
	}
	// The arrays behind the rows still have room for the repeats: give that back.
	if cap(g.Edges.Indices) > 0 && g.Report.Duplicates > g.Report.Edges/4 {
		g.Edges.Indices = slices.Clone(g.Edges.Indices)
	}
	return g, nil
}

func (g *Graph) readCSVNodes(t *csvTable) (map[string]int32, error) {
	idColumn, err := t.Column("id")
	if err != nil {
		return nil, err
	}
	labelColumn, err := t.Column("label")
	if err != nil {
		return nil, err
	}
	width := len(t.header) - 2
	features := newFeatureBuilder(width)
	row := make([]float32, width)
	index := map[string]int32{}
	var classes classIndex
	for t.Next() {
		id := t.fields[idColumn]
		if len(id) == 0 {
			return nil, t.errorf("the id is empty: every node needs one")
		}
		if v, found := index[string(id)]; found {
			return nil, t.errorf("the id %.80q is there already (node %d, counted from 0): ids must differ", id, v)
		}
		v := len(g.NodeIDs)
		if v > maxNodes {
			return nil, t.errorf("more than %d nodes", maxNodes)
		}
		g.NodeIDs = append(g.NodeIDs, string(id))
		index[g.NodeIDs[v]] = int32(v)
		g.Labels = append(g.Labels, classes.Add(t.fields[labelColumn]))
		at := 0
		for i, field := range t.fields {
			if i == idColumn || i == labelColumn {
				continue
			}
			if row[at], err = parseFeature(field); err != nil {
				return nil, t.errorf("column %.80q: %v", t.header[i], err)
			}
			at++
		}
		features.Add(row)
	}
	if t.err != nil {
		return nil, t.err
	}
	if len(g.NodeIDs) == 0 {
		return nil, t.errorf("no nodes: expected a line for each")
	}
	g.Features = features.Finish()
	g.Classes = classes.Finish(g.Labels)
	return index, nil
}

// parseFeature reads a finite number. Converting a short []byte to string for strconv allocates nothing.
func parseFeature(field []byte) (float32, error) {
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

func readCSVEdges(t *csvTable, index map[string]int32) ([]csr.Edge, error) {
	source, err := t.Column("source", "src", "from")
	if err != nil {
		return nil, err
	}
	target, err := t.Column("target", "dst", "to")
	if err != nil {
		return nil, err
	}
	var pairs []csr.Edge
	for t.Next() {
		u, found := index[string(t.fields[source])]
		if !found {
			return nil, t.noSuchNode(t.fields[source])
		}
		v, found := index[string(t.fields[target])]
		if !found {
			return nil, t.noSuchNode(t.fields[target])
		}
		pairs = append(pairs, csr.Edge{Node: u, Neighbour: v})
	}
	return pairs, t.err
}

func (t *csvTable) noSuchNode(id []byte) error {
	return t.errorf("the edge names node %.80q, which %s does not have: add it there, or remove the edge", id, csvNodesFile)
}
