package formats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"nodemask/datasets/internal/graphfile"
)

const maxEdgeLine = 4096 // bytes

// EdgeList reads an undirected graph from lines with two ids separated by a comma, a tab or spaces. Nodes keep their
// order of first appearance. Blank lines and # comments are skipped.
func EdgeList(ctx context.Context, in *graphfile.File) (*graphfile.Graph, error) {
	r := &edgeList{ctx: ctx, seen: map[string]bool{}, b: graphfile.NewBuilder(ctx, in, "edge list", "attribute")}
	lines := bufio.NewScanner(graphfile.Text(in))
	lines.Buffer(make([]byte, 0, maxEdgeLine), maxEdgeLine)
	var err error
	for err == nil && lines.Scan() {
		r.lines++
		err = r.line(strings.TrimPrefix(lines.Text(), "\ufeff"))
	}
	if err == nil && lines.Err() != nil {
		r.lines++
		if err = lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes: expected two ids", maxEdgeLine)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", in.Name, r.lines, err)
	}
	if len(r.seen) == 0 {
		return nil, fmt.Errorf("%s: no edges in %d lines: expected two ids a line", in.Name, r.lines)
	}
	if r.wide > 0 {
		r.b.Notef("%d lines have more than two columns, such as weights: those are left out", r.wide)
	}
	return r.b.Finish()
}

type edgeList struct {
	ctx         context.Context
	seen        map[string]bool
	lines, wide int
	header      bool
	b           *graphfile.Builder
}

func (r *edgeList) line(line string) error {
	if r.lines%4096 == 0 && r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	line = strings.Trim(line, " \t\r")
	if line == "" || line[0] == '#' {
		return nil
	}
	if !utf8.ValidString(line) {
		return errors.New("not UTF-8: save the file as UTF-8")
	}
	fields := splitEdge(line)
	if len(fields) < 2 || fields[0] == "" || fields[1] == "" {
		return fmt.Errorf("found %.80q: expected two ids, separated by a comma, a tab or spaces", line)
	}
	if !r.header && len(r.seen) == 0 && graphfile.Find(fields[:1], graphfile.SourceNames...) == 0 &&
		graphfile.Find(fields[1:2], graphfile.TargetNames...) == 0 {
		r.header = true
		r.b.Notef("line %d, %.80q, names the columns: it is no edge", r.lines, line)
		return nil
	}
	if len(fields) > 2 {
		r.wide++
	}
	for _, id := range fields[:2] {
		if !r.seen[id] {
			r.seen[id] = true
			if err := r.b.Node(id); err != nil {
				return err
			}
		}
	}
	return r.b.Edge(fields[0], fields[1])
}

var commaAtTab = regexp.MustCompile(`,\s*\t|\t\s*,`)

func splitEdge(line string) (fields []string) {
	switch {
	case strings.Contains(line, "\t") && !commaAtTab.MatchString(line):
		fields = strings.Split(line, "\t")
	case strings.Contains(line, ","):
		fields = strings.Split(line, ",")
	default:
		return strings.Fields(line)
	}
	for i, field := range fields {
		fields[i] = strings.TrimSpace(field)
	}
	return fields
}
