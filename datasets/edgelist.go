package datasets

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"nodemask/csr"
	"nodemask/internal/ended"
	"nodemask/internal/memory"
)

const (
	maxEdgeLine    = 4096 // bytes
	maxListedEdges = 10_000_000
)

// readEdges reads an undirected graph from lines with two ids separated by a comma, a tab or spaces. ids are in order
// of first appearance; notes tell of dropped repeats and self-loops. It skips blank lines and # comments. Errors begin
// with name and give the line.
func readEdges(ctx context.Context, r io.Reader, name string) (g *csr.Graph, ids, notes []string, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, maxEdgeLine), maxEdgeLine)
	index := map[string]int32{}
	columns := 0
	var edges []csr.Edge
	at := 0
	budget := memory.NewBudget(math.MaxInt64 / 128) // for a reader of any size
	fail := func(format string, args ...any) (*csr.Graph, []string, []string, error) {
		return nil, nil, nil, fmt.Errorf("%s: line %d: %w", name, at, fmt.Errorf(format, args...))
	}
	for lines.Scan() {
		at++
		if at%4096 == 0 && ctx.Err() != nil {
			return fail("%w", ended.Err(ctx))
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
		ends, further, ok := twoIDs(line)
		if ok && len(edges) == 0 && len(notes) == 0 && isHeader(ends) {
			notes = append(notes, fmt.Sprintf("line %d, %.80q, names the columns: it is no edge", at, line))
			continue
		}
		if further > 0 {
			columns++
		}
		if !ok {
			return fail("found %.80q: expected two ids, separated by a comma, a tab or spaces", line)
		}
		if len(edges) == maxListedEdges {
			return fail("more than %d edges: expected a smaller graph; larger ones can be read from an .npz file",
				maxListedEdges)
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
		return fail("longer than %d bytes: expected two ids", maxEdgeLine)
	case err != nil:
		return fail("%w", err)
	case len(edges) == 0:
		return nil, nil, nil, fmt.Errorf("%s: no edges in %d lines: expected two ids a line", name, at-1)
	}
	g, _, err = csr.FromEdges(len(ids), edges, csr.Options{})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if columns > 0 {
		notes = append(notes, fmt.Sprintf("%d lines have more than two columns, such as weights: those are left out", columns))
	}
	return g, ids, notes, nil
}

// twoIDs splits a line at tabs, else commas, else blanks, so ids between tabs or commas may contain blanks. further
// counts ignored columns.
func twoIDs(line string) (ends [2]string, further int, ok bool) {
	var fields []string
	switch {
	case strings.Contains(line, "\t") && !commaAtTab.MatchString(line):
		fields = strings.Split(line, "\t")
	case strings.Contains(line, ","):
		fields = strings.Split(line, ",")
	default:
		fields = strings.Fields(line)
	}
	if len(fields) < 2 {
		return ends, 0, false
	}
	ends = [2]string{strings.TrimSpace(fields[0]), strings.TrimSpace(fields[1])}
	return ends, len(fields) - 2, ends[0] != "" && ends[1] != ""
}

var commaAtTab = regexp.MustCompile(`,\s*\t|\t\s*,`)

func isHeader(ends [2]string) bool {
	for i, names := range [2][]string{{"source", "src", "from"}, {"target", "dst", "to"}} {
		if !slices.Contains(names, strings.ToLower(ends[i])) {
			return false
		}
	}
	return true
}
