package datasets

import (
	"context"
	"fmt"

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
	var g *graphfile.Graph
	var numbers map[string]int32
	err := withCSV(ctx, open, csvNodesFile, func(t *graphfile.Table) error {
		labels := graphfile.LabelColumns(ctx)
		if _, err := t.Column(labels...); err != nil {
			return fmt.Errorf("%w; PATH:label=NAME takes another column as the class", err)
		}
		c, err := t.Columns(labels...)
		if err != nil {
			return err
		}
		g, numbers, err = t.ReadNodes(c, nil)
		if err == nil && g.Nodes == 0 {
			err = t.Errorf("no nodes: expected a line for each")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var pairs []csr.Edge
	err = withCSV(ctx, open, csvEdgesFile, func(t *graphfile.Table) error {
		return readCSVPairs(t, g, func(source, target string) error {
			var ends [2]int32
			for i, id := range [2]string{source, target} {
				v, ok := numbers[id]
				if !ok {
					return t.Errorf("the edge names node %.80q, which %s does not have: add it there, or remove the edge",
						id, csvNodesFile)
				}
				ends[i] = v
			}
			pairs = append(pairs, csr.Edge{Node: ends[0], Neighbour: ends[1]})
			return t.Take(16)
		})
	})
	if err != nil {
		return nil, err
	}
	g.Pairs = graphfile.List(pairs)
	return fromFile(g, "", source)
}

// FeatureColumns returns the names of the feature columns of a file like nodes.csv (see [Open]). On an error, which
// [Open] would report, it returns nil.
func FeatureColumns(ctx context.Context, path string) (names []string) {
	_ = withCSV(ctx, graphfile.Open, path, func(t *graphfile.Table) error {
		c, err := t.Columns(graphfile.LabelColumns(ctx)...)
		names = c.Names
		return err
	})
	return names
}

// ScanNodes calls visit for every line of a file like nodes.csv (see [Open]). A missing label is "". The next line
// overwrites features, so visit must copy what it keeps. Errors, including those of visit, name file and line.
func ScanNodes(ctx context.Context, path string, visit func(id, label string, features []float32) error) error {
	return withCSV(ctx, graphfile.Open, path, func(t *graphfile.Table) error {
		c, err := t.Columns(graphfile.LabelColumns(ctx)...)
		if err != nil {
			return err
		}
		return t.ScanNodes(c, func(id, label string, _ [3]string, features []float32) error {
			return visit(id, label, features)
		})
	})
}

// ScanEdges calls visit for every line of a file like edges.csv. Errors, including visit's, name file and line.
func ScanEdges(ctx context.Context, path string, visit func(source, target string) error) error {
	return withCSV(ctx, graphfile.Open, path, func(t *graphfile.Table) error {
		return readCSVPairs(t, &graphfile.Graph{}, func(source, target string) error {
			if err := visit(source, target); err != nil {
				return t.Errorf("%w", err)
			}
			return nil
		})
	})
}

func readCSVPairs(t *graphfile.Table, g *graphfile.Graph, pair func(source, target string) error) error {
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
