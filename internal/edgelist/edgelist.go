// Package edgelist reads graphs that are nothing but a list of edges.
package edgelist

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"nodemask/csr"
	"nodemask/internal/memory"
)

const (
	maxLine  = 4096 // bytes
	maxEdges = 10_000_000
)

// Read reads an undirected graph from lines of two ids, separated by a comma, a tab or spaces. It returns the
// graph and the id of each node, in the order of first appearance. Repeats and self-loops are dropped, and blank lines
// and those that begin with # are left out. Errors begin with name, the file's, and give the line.
func Read(ctx context.Context, r io.Reader, name string) (*csr.Graph, []string, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	index := map[string]int32{}
	var ids []string
	var edges []csr.Edge
	at := 0
	budget := memory.NewBudget(math.MaxInt64 / 128) // of a reader of any size
	fail := func(format string, args ...any) (*csr.Graph, []string, error) {
		return nil, nil, fmt.Errorf("%s: line %d: %w", name, at, fmt.Errorf(format, args...))
	}
	for lines.Scan() {
		at++
		if at%4096 == 0 && ctx.Err() != nil {
			return fail("%w", ctx.Err())
		}
		line := lines.Text()
		if at == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line = strings.Trim(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		if !utf8.ValidString(line) {
			return fail("not UTF-8: save the file as UTF-8")
		}
		ends, ok := twoIDs(line)
		if !ok {
			return fail("found %.80q: expected two ids, separated by a comma, a tab or spaces", line)
		}
		if len(edges) == maxEdges {
			return fail("more than %d edges: expected a smaller graph; larger ones can be read from an .npz file",
				maxEdges)
		}
		var pair [2]int32
		known := len(ids)
		for i, id := range ends {
			v, ok := index[id]
			if !ok {
				v = int32(len(ids))
				index[id], ids = v, append(ids, id)
			}
			pair[i] = v
		}
		edges = append(edges, csr.Edge{Node: pair[0], Neighbour: pair[1]})
		if err := budget.Take(16 + 96*int64(len(ids)-known) + int64(len(line))); err != nil {
			return fail("%w", err)
		}
	}
	at++
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fail("longer than %d bytes: expected two ids", maxLine)
	case err != nil:
		return fail("%w", err)
	case len(edges) == 0:
		return nil, nil, fmt.Errorf("%s: no edges in %d lines: expected two ids a line", name, at-1)
	}
	g, _, err := csr.FromEdges(len(ids), edges, csr.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, ids, nil
}

// twoIDs splits a line at a comma with blanks around it, or at blanks alone; ok: there are two ids.
func twoIDs(line string) (ends [2]string, ok bool) {
	const blanks = " \t"
	i := strings.IndexAny(line, blanks+",")
	if i < 0 {
		return ends, false
	}
	rest := strings.TrimLeft(line[i:], blanks)
	if after, isComma := strings.CutPrefix(rest, ","); isComma {
		rest = strings.TrimLeft(after, blanks)
	}
	ends = [2]string{line[:i], rest}
	return ends, i > 0 && rest != "" && !strings.ContainsAny(rest, blanks+",")
}
