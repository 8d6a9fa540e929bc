package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"nodemask/csr"
)

// What a file of edges may hold at most.
const (
	longestLine = 4096
	mostEdges   = 10_000_000
)

var edgeSeparator = regexp.MustCompile(`[ \t]*,[ \t]*|[ \t]+`)

// readEdges reads an undirected graph from lines of two ids. Nodes are numbered in the order in which they come first.
func readEdges(r io.Reader, file string) (*csr.Graph, []string, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, longestLine), longestLine)
	number, names, edges := map[string]int32{}, []string(nil), []csr.Edge(nil)
	at := 0
	for lines.Scan() {
		at++
		line := lines.Text()
		if at == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line = strings.Trim(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		if !utf8.ValidString(line) {
			return nil, nil, fmt.Errorf("%s: line %d is not UTF-8: save the file as UTF-8", file, at)
		}
		ids := edgeSeparator.Split(line, -1)
		if len(ids) != 2 || ids[0] == "" || ids[1] == "" {
			return nil, nil, fmt.Errorf("%s: line %d: %d ids in %.80q: expected two, separated by a comma, a tab or spaces", file, at, len(slices.DeleteFunc(ids, func(id string) bool { return id == "" })), line)
		}
		if len(edges) == mostEdges {
			return nil, nil, fmt.Errorf("%s: line %d: more than %d edges: expected a smaller graph, or an .npz file as --data", file, at, mostEdges)
		}
		var ends [2]int32
		for i, id := range ids {
			v, found := number[id]
			if !found {
				v = int32(len(names))
				number[id], names = v, append(names, id)
			}
			ends[i] = v
		}
		edges = append(edges, csr.Edge{Node: ends[0], Neighbour: ends[1]})
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, nil, fmt.Errorf("%s: line %d is longer than %d bytes: expected two ids", file, at+1, longestLine)
	} else if err != nil {
		return nil, nil, fmt.Errorf("%s: line %d: %w", file, at+1, err)
	}
	if len(edges) == 0 {
		return nil, nil, fmt.Errorf("%s: no edges in %d lines: expected two ids a line", file, at)
	}
	g, _, err := csr.FromEdges(len(names), edges, csr.Options{})
	return g, names, err
}
