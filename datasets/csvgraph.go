package datasets

import (
	"context"
	"fmt"
	"slices"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
)

const (
	csvNodesFile = "nodes.csv"
	csvEdgesFile = "edges.csv"
)

func withCSV(ctx context.Context, open opener, file string, use func(t *graphfile.Table) error) error {
	if extension(file) == ".parquet" {
		return &NameError{Name: file, Problem: parquetAdvice}
	}
	f, err := open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := graphfile.NewTable(ctx, f)
	if err != nil {
		return err
	}
	return use(t)
}

func readCSV(ctx context.Context, open opener, source string) (*Graph, error) {
	var nodes *graphfile.Rows
	err := withCSV(ctx, open, csvNodesFile, func(t *graphfile.Table) error {
		labels := graphfile.LabelColumns(ctx)
		if _, err := t.Column(labels...); err != nil {
			return err
		}
		c, notes, err := csvNodes{t}.Columns(labels...)
		if err != nil {
			return err
		}
		nodes, err = graphfile.ReadRows("CSV", csvNodes{t}, c, notes, nil)
		if err == nil && nodes.Graph.Nodes == 0 {
			err = t.Errorf("no nodes: expected a line for each")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	g := nodes.Graph
	err = withCSV(ctx, open, csvEdgesFile, func(t *graphfile.Table) error {
		return readCSVPairs(t, g, func(source, target []byte) error {
			var ends [2]int32
			for i, id := range [2][]byte{source, target} {
				v, ok := nodes.Find(id)
				if !ok {
					return t.Errorf("the edge names node %.80q, which %s does not have: add it there, or remove the edge",
						id, csvNodesFile)
				}
				ends[i] = v
			}
			g.Pairs = append(g.Pairs, csr.Edge{Node: ends[0], Neighbour: ends[1]})
			return t.Take(16) // and 8 more in the graph
		})
	})
	if err != nil {
		return nil, err
	}
	return fromFile(g, "", source)
}

type csvNodes struct{ *graphfile.Table }

func (t csvNodes) Names() []string { return t.Header }

// Keep returns nil: every number takes bytes in the file.
func (t csvNodes) Keep(graphfile.Columns) error { return nil }

func (t csvNodes) Columns(labels ...string) (c graphfile.Columns, notes []string, err error) {
	id, err := t.Column("id")
	if err != nil {
		return c, nil, err
	}
	c, notes = graphfile.NodeColumns(t.Header, id, graphfile.Find(t.Header, labels...), func(column int, _ bool) string {
		if t.Header[column] != "" {
			return ""
		}
		return fmt.Sprintf("column %d has no name", column+1) // as pandas numbers rows
	})
	return c, notes, nil
}

func (t csvNodes) Scan(c graphfile.Columns, each graphfile.Row) error {
	row := make([]float32, len(c.Features))
	field := func(column int) []byte {
		if column < 0 {
			return nil
		}
		return t.Fields[column]
	}
	for t.Next() {
		id := field(c.ID)
		if len(id) == 0 {
			return t.Errorf("the id is empty: every node needs one")
		}
		for i, column := range c.Features {
			var err error
			if row[i], err = t.Feature(t.Fields[column]); err != nil {
				return t.Errorf("column %.80q: %w", t.Header[column], err)
			}
		}
		masks := [3][]byte{field(c.Masks[0]), field(c.Masks[1]), field(c.Masks[2])}
		if err := each(id, field(c.Label), masks, row); err != nil {
			return t.Errorf("%w", err)
		}
	}
	return t.Err()
}

func withNodes(ctx context.Context, path string, use func(t csvNodes) error) error {
	return withCSV(ctx, graphfile.Open, path, func(t *graphfile.Table) error { return use(csvNodes{t}) })
}

// Header returns the column names of a CSV table of nodes; nil if unreadable, which its reader reports.
func Header(ctx context.Context, path string) (names []string) {
	_ = withNodes(ctx, path, func(t csvNodes) error { names = t.Names(); return nil })
	return names
}

// FeaturesOf returns the columns whose names mean features: not ids, classes, masks and the like.
func FeaturesOf(header []string) []string {
	return slices.DeleteFunc(slices.Clone(header), func(name string) bool {
		return graphfile.MeaningOf(name) != graphfile.Feature
	})
}

// ScanNodes calls each for every line of a table like the nodes.csv of [Open]. A missing label is empty; slices are
// overwritten. Errors, each's too, name file and line.
func ScanNodes(ctx context.Context, path string, each func(id, label []byte, features []float32) error) error {
	return withNodes(ctx, path, func(t csvNodes) error {
		c, _, err := t.Columns("label", "class", "y")
		if err != nil {
			return err
		}
		return t.Scan(c, func(id, label []byte, _ [3][]byte, features []float32) error {
			return each(id, label, features)
		})
	})
}

// ScanEdges is [ScanNodes] for edges.csv.
func ScanEdges(ctx context.Context, path string, each func(source, target []byte) error) error {
	return withCSV(ctx, graphfile.Open, path, func(t *graphfile.Table) error {
		return readCSVPairs(t, &graphfile.Graph{}, func(source, target []byte) error {
			if err := each(source, target); err != nil {
				return t.Errorf("%w", err)
			}
			return nil
		})
	})
}

// readCSVPairs calls pair for each line of a table of edges, and notes the other columns in g.
func readCSVPairs(t *graphfile.Table, g *graphfile.Graph, pair func(source, target []byte) error) error {
	source, err := t.Column(graphfile.SourceNames...)
	if err != nil {
		return err
	}
	target, err := t.Column(graphfile.TargetNames...)
	if err != nil {
		return err
	}
	for t.Next() {
		if err := pair(t.Fields[source], t.Fields[target]); err != nil {
			return err
		}
	}
	g.NoteEdgeColumns(t.Header, source, target)
	return t.Err()
}
