package datasets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nodemask/csr"
	"nodemask/datasets/internal/csvtable"
	"nodemask/datasets/internal/input"
	"nodemask/datasets/internal/listing"
)

// Files of a graph in CSV.
const (
	csvNodesFile = "nodes.csv"
	csvEdgesFile = "edges.csv"
)

// ReadCSV reads a graph of your own from a folder with two comma-separated files, each with a header line:
//
//	nodes.csv   id,label,anything,…   one line a node; every further column is a feature, a finite number
//	edges.csv   source,target         one line a pair of ids; further columns are left out, which the Notes say
//
// The label may be called class or y. Columns train_mask, val_mask and test_mask are the graph's own split, and a column without a
// name, in which pandas numbers rows, is left out. Files are UTF-8.
//
// Ids and labels may be numbers or text. An empty label is a node without one. Classes are in natural order: by value
// if all labels are numbers, and "class 2" before "class 10". Nodes are in the order of their lines. Edges are undirected;
// repeats and self-loops are dropped and counted in the graph's Report. Features are stored sparse if at most a quarter
// is not zero. Errors name the file and the line.
func ReadCSV(ctx context.Context, dir string) (*Graph, error) {
	g := &Graph{Name: base(dir), Source: dir, Format: "CSV"}
	if err := withCSV(ctx, filepath.Join(dir, csvNodesFile), func(nodes *csvtable.Table) error {
		return withCSV(ctx, filepath.Join(dir, csvEdgesFile), func(edges *csvtable.Table) error {
			return g.readCSV(nodes, edges)
		})
	}); err != nil {
		return nil, err
	}
	return g, nil
}

// withCSV opens a table for use.
func withCSV(ctx context.Context, path string, use func(t *csvtable.Table) error) error {
	f, err := input.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := csvtable.New(ctx, f)
	if err != nil {
		return err
	}
	return use(t)
}

func (g *Graph) readCSV(nodeTable, edgeTable *csvtable.Table) error {
	label, err := nodeTable.Column("label", "class", "y")
	if err != nil {
		return err
	}
	nodes, err := newCSVNodes(nodeTable, label)
	if err != nil {
		return err
	}
	if err := nodes.read(func([]byte) error { return nil }); err != nil {
		return err
	}
	if len(nodes.ids) == 0 {
		return nodeTable.Errorf("no nodes: expected a line for each")
	}
	g.Notes = nodes.notes
	nodes.Finish(g)

	var pairs []csr.Edge
	number := func(id []byte) (int32, error) {
		v, found := nodes.Find(id)
		if !found {
			return 0, edgeTable.Errorf("the edge names node %.80q, which %s does not have: add it there, or remove the edge", id, csvNodesFile)
		}
		return v, nil
	}
	err = readCSVPairs(edgeTable, func(source, target []byte) error {
		v, err := number(source)
		if err != nil {
			return err
		}
		u, err := number(target)
		pairs = append(pairs, csr.Edge{Node: v, Neighbour: u})
		if err == nil {
			err = edgeTable.Take(16) // and 8 more in the graph
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := g.SetPairs(len(g.Labels), pairs); err != nil {
		return fmt.Errorf("%s: %w", edgeTable.Name, err)
	}
	g.noteColumns(edgeTable.Header, "source", "src", "from", "target", "dst", "to")
	// The arrays behind the rows still have room for the repeats: give that back.
	if cap(g.Edges.Indices) > 0 && g.Report.Duplicates > g.Report.Edges/4 {
		g.Edges.Indices = slices.Clone(g.Edges.Indices)
	}
	return nil
}

// csvNodes reads a table of nodes: an id, features, and a label if there is a column for it.
type csvNodes struct {
	*NodeRows
	table                 *csvtable.Table
	idColumn, labelColumn int    // labelColumn is -1 if there is none
	maskColumns           [3]int // of the own split's sets; -1 if there is none
	featureColumns        []int  // all others that have a name
	notes                 []string
}

// newCSVNodes finds the columns beside the one of the labels, which is -1 if there is none.
func newCSVNodes(t *csvtable.Table, label int) (*csvNodes, error) {
	id, err := t.Column("id")
	if err != nil {
		return nil, err
	}
	n := &csvNodes{table: t, idColumn: id, labelColumn: label, maskColumns: [3]int{-1, -1, -1}}
	for i, name := range t.Header {
		switch set := listing.MaskSet(name); {
		case i == n.idColumn || i == n.labelColumn:
		case set >= 0:
			n.maskColumns[set] = i
		case name == "": // pandas numbers rows so
			n.notes = append(n.notes, fmt.Sprintf("column %d has no name: left out", i+1))
		default:
			n.featureColumns = append(n.featureColumns, i)
		}
	}
	masks := n.maskColumns
	n.NodeRows = NewNodeRows(len(n.featureColumns), label >= 0, [3]bool{masks[0] >= 0, masks[1] >= 0, masks[2] >= 0})
	return n, nil
}

// read reads all nodes. An id for which accept returns an error ends it.
func (n *csvNodes) read(accept func(id []byte) error) error {
	t := n.table
	return n.scan(func(id, label []byte, row []float32) error {
		if err := accept(id); err != nil {
			return err
		}
		var masks [3][]byte
		for set, column := range n.maskColumns {
			if column >= 0 {
				masks[set] = t.Fields[column]
			}
		}
		bytes, err := n.Add(id, label, masks, row)
		if err != nil {
			return err
		}
		return t.Take(bytes)
	})
}

// scan calls each for every line; its slices are overwritten by the next.
func (n *csvNodes) scan(each func(id, label []byte, features []float32) error) error {
	t := n.table
	row := make([]float32, len(n.featureColumns))
	for t.Next() {
		id := t.Fields[n.idColumn]
		if len(id) == 0 {
			return t.Errorf("the id is empty: every node needs one")
		}
		var label []byte
		if n.labelColumn >= 0 {
			label = t.Fields[n.labelColumn]
		}
		for i, column := range n.featureColumns {
			var err error
			if row[i], err = parseFeature(t.Fields[column]); err != nil {
				return t.Errorf("column %.80q: %w", t.Header[column], err)
			}
		}
		if err := each(id, label, row); err != nil {
			return t.Errorf("%w", err)
		}
	}
	return t.Err()
}

// ScanNodes reads a table of nodes laid out like nodes.csv of [ReadCSV], and calls each for every line: for readers that keep no
// graph, or one of many files of a graph. A label may be missing, and is then empty. The slices are overwritten by the next line.
// Errors, those of each too, name the file and the line.
func ScanNodes(ctx context.Context, path string, each func(id, label []byte, features []float32) error) error {
	return withCSV(ctx, path, func(t *csvtable.Table) error {
		n, err := newCSVNodes(t, t.Find("label"))
		if err != nil {
			return err
		}
		return n.scan(each)
	})
}

// ScanEdges is [ScanNodes] for edges.csv.
func ScanEdges(ctx context.Context, path string, each func(source, target []byte) error) error {
	return withCSV(ctx, path, func(t *csvtable.Table) error {
		return readCSVPairs(t, func(source, target []byte) error {
			if err := each(source, target); err != nil {
				return t.Errorf("%w", err)
			}
			return nil
		})
	})
}

// noteColumns notes the columns of edges that are none of the names, such as weights.
func (g *Graph) noteColumns(header []string, names ...string) {
	var l listing.Graph
	for _, name := range header {
		if name != "" && !slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
			l.Notef("column %.80q of edges: left out", name)
		}
	}
	g.Notes = append(g.Notes, l.AllNotes()...)
}

// countReverses counts the edges that pairs list in both directions, which are no repeats to a reader of the report.
func (g *Graph) countReverses(pairs []csr.Edge) {
	if g.Report.Duplicates == 0 {
		return
	}
	listed := make([]bool, len(g.Edges.Indices))
	for _, p := range pairs {
		if p.Node != p.Neighbour {
			at, _ := slices.BinarySearch(g.Edges.Neighbours(p.Node), p.Neighbour)
			listed[g.Edges.Offsets[p.Node]+int64(at)] = true
		}
	}
	g.Reverses = -g.Report.Edges
	for _, is := range listed {
		if is {
			g.Reverses++
		}
	}
}

// SetPairs sets the edges to undirected pairs, each listed in either direction or both.
func (g *Graph) SetPairs(nodes int, pairs []csr.Edge) (err error) {
	if g.Edges, g.Report, err = csr.FromEdges(nodes, pairs, csr.Options{}); err == nil {
		g.countReverses(pairs)
	}
	return err
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

// readCSVPairs calls pair for each line of a table of edges, until that returns an error.
func readCSVPairs(t *csvtable.Table, pair func(source, target []byte) error) error {
	source, err := t.Column("source", "src", "from")
	if err != nil {
		return err
	}
	target, err := t.Column("target", "dst", "to")
	if err != nil {
		return err
	}
	for t.Next() {
		if err := pair(t.Fields[source], t.Fields[target]); err != nil {
			return err
		}
	}
	return t.Err()
}
