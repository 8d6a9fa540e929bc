package main

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"nodemask/csr"
	"nodemask/datasets/internal/packed"
)

// readCora reads LINQS's cora.content and cora.cites: nodes in the order of cora.content, classes in the order of
// their names.
func readCora(_ context.Context, files fs.FS) (*packed.Graph, error) {
	const nodes, width = 2708, 1433
	content, err := fs.ReadFile(files, "cora.content")
	if err != nil {
		return nil, err
	}
	g := &packed.Graph{Name: "cora", Width: width, Offsets: []int64{0}}
	index := map[string]int32{}
	var classes []string // of each node
	for n, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		fields := strings.Fields(line)
		if len(fields) != width+2 {
			return nil, fmt.Errorf("cora.content: line %d: %d fields: expected %d", n+1, len(fields), width+2)
		}
		index[fields[0]] = int32(n)
		g.NodeIDs = append(g.NodeIDs, fields[0])
		classes = append(classes, fields[width+1])
		for c, word := range fields[1 : width+1] {
			switch word {
			case "0":
			case "1":
				g.Columns = append(g.Columns, int32(c))
				g.Counts = append(g.Counts, 1)
			default:
				return nil, fmt.Errorf("cora.content: line %d: word %d is %q: expected 0 or 1", n+1, c, word)
			}
		}
		g.Offsets = append(g.Offsets, int64(len(g.Columns)))
		g.Lengths = append(g.Lengths, 1)
	}
	if len(g.NodeIDs) != nodes || len(index) != nodes {
		return nil, fmt.Errorf("cora.content: %d papers with %d different names: expected %d", len(g.NodeIDs), len(index), nodes)
	}
	for range width {
		g.Weights = append(g.Weights, 1)
	}
	g.Classes = slices.Compact(slices.Sorted(slices.Values(classes)))
	for _, class := range classes {
		c, _ := slices.BinarySearch(g.Classes, class)
		g.Labels = append(g.Labels, int32(c))
	}

	cites, err := fs.ReadFile(files, "cora.cites")
	if err != nil {
		return nil, err
	}
	var edges []csr.Edge
	for n, line := range strings.Split(strings.TrimSpace(string(cites)), "\n") {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("cora.cites: line %d: %d fields: expected 2", n+1, len(fields))
		}
		cited, ok := index[fields[0]]
		citing, ok2 := index[fields[1]]
		if !ok || !ok2 {
			return nil, fmt.Errorf("cora.cites: line %d: a paper that is not in cora.content", n+1)
		}
		edges = append(edges, csr.Edge{Node: cited, Neighbour: citing})
	}
	g.Edges, g.Report, err = csr.FromEdges(nodes, edges, csr.Options{})
	return g, err
}
