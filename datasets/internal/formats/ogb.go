package formats

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
)

const (
	// OGBEdges is the file by which a folder of the Open Graph Benchmark is recognised.
	OGBEdges     = "raw/edge.csv.gz"
	featureFile  = "raw/node-feat.csv.gz"
	labelFile    = "raw/node-label.csv.gz"
	nodesFile    = "raw/num-node-list.csv.gz"
	edgesFile    = "raw/num-edge-list.csv.gz"
	splitFolder  = "split"
	maxUnpacked  = 64 << 20 // unpacked bytes that are allowed whatever the packed size
	maxRatio     = 400      // largest ratio of unpacked to packed size, for files that unpack to over maxUnpacked bytes
	maxNodesList = 1000
)

type ogbFolder struct {
	ctx context.Context
	dir string
}

// OGB reads an Open Graph Benchmark folder for node property prediction.
func OGB(ctx context.Context, dir string) (*graphfile.Graph, error) {
	r := ogbFolder{ctx, dir}
	g := &graphfile.Graph{Format: "Open Graph Benchmark", Both: true}
	nodes, err := r.one(nodesFile)
	if err != nil {
		return nil, err
	}
	listed, err := r.one(edgesFile)
	if err != nil {
		return nil, err
	}
	if nodes < 1 || nodes > graphfile.MaxNodes {
		return nil, fmt.Errorf("%s: %d nodes: expected 1 to %d", r.path(nodesFile), nodes, graphfile.MaxNodes)
	}
	g.Nodes = int(nodes)
	if err := r.edges(g, listed); err != nil {
		return nil, err
	}
	for _, part := range []func(*graphfile.Graph) error{r.features, r.labels, r.split} {
		if err := part(g); err != nil {
			return nil, err
		}
	}
	if g.Labels == nil && g.Features.Width == 0 { // no other file confirms the number of nodes
		if err := graphfile.ClaimError(nodesFile, nodes, listed); err != nil {
			return nil, fmt.Errorf("%s: %w", r.path(nodesFile), err)
		}
	}
	return g, r.others(g)
}

func (r ogbFolder) path(file string) string { return filepath.Join(r.dir, filepath.FromSlash(file)) }

func (r ogbFolder) table(file string) (*graphfile.Table, *graphfile.File, error) {
	path := r.path(file)
	f, err := graphfile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	unpacked, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<18))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: not a gzip file: %w", path, err), f.Close())
	}
	most := &graphfile.TokenReader{R: unpacked, Most: max(maxUnpacked, maxRatio*int(f.Size)), What: "table, unpacked,"}
	return graphfile.NewBareTable(r.ctx, f, most), f, nil
}

func (r ogbFolder) each(file string, columns int, row func(t *graphfile.Table) error) error {
	t, in, err := r.table(file)
	if err != nil {
		return err
	}
	defer in.Close()
	for t.Next() {
		if columns > 0 && len(t.Fields) != columns {
			return t.Errorf("%d columns: expected %d", len(t.Fields), columns)
		}
		if err := row(t); err != nil {
			return err
		}
	}
	return t.Err()
}

func (r ogbFolder) perNode(g *graphfile.Graph, file, holds string, row func(t *graphfile.Table) error) error {
	if _, err := os.Stat(r.path(file)); errors.Is(err, fs.ErrNotExist) {
		g.Notef("no %s: the nodes have no %s", file, holds)
		return nil
	}
	lines := 0
	err := r.each(file, 0, func(t *graphfile.Table) error {
		if lines++; lines > g.Nodes {
			return t.Errorf("more lines than the %d nodes: expected one each", g.Nodes)
		}
		return row(t)
	})
	if err == nil && lines != g.Nodes {
		err = fmt.Errorf("%s: %d lines: expected %d, one a node", r.path(file), lines, g.Nodes)
	}
	return err
}

func (r ogbFolder) one(file string) (int64, error) {
	var all []int64
	err := r.each(file, 1, func(t *graphfile.Table) error {
		n, err := ogbNumber(t, t.Fields[0], graphfile.MaxNodes*1024)
		if all = append(all, n); len(all) > maxNodesList {
			return t.Errorf("more than %d graphs: expected one", maxNodesList)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(all) != 1 {
		return 0, fmt.Errorf("%s: %d lines: expected one, as there is one graph", r.path(file), len(all))
	}
	return all[0], nil
}

func ogbNumber(t *graphfile.Table, field string, most int64) (int64, error) {
	n, err := strconv.ParseUint(field, 10, 63)
	if err != nil || int64(n) >= most {
		return 0, t.Errorf("found %.40q: expected a whole number from 0 to %d", field, most-1)
	}
	return int64(n), nil
}

func (r ogbFolder) edges(g *graphfile.Graph, listed int64) error {
	nodes, pairs := int64(g.Nodes), []csr.Edge(nil)
	err := r.each(OGBEdges, 2, func(t *graphfile.Table) error {
		var ends [2]int32
		for i := range ends {
			v, err := ogbNumber(t, t.Fields[i], nodes)
			if err != nil {
				return err
			}
			ends[i] = int32(v)
		}
		pairs = append(pairs, csr.Edge{Node: ends[1], Neighbour: ends[0]})
		return t.Take(16)
	})
	if err == nil && int64(len(pairs)) != listed {
		err = fmt.Errorf("%s: %d edges: expected %d, as %s says. Get it again",
			r.path(OGBEdges), len(pairs), listed, edgesFile)
	}
	g.Pairs = graphfile.List(pairs)
	return err
}

func (r ogbFolder) features(g *graphfile.Graph) error {
	f := &g.Features
	var row []float32
	return r.perNode(g, featureFile, "features", func(t *graphfile.Table) error {
		if row == nil {
			row = make([]float32, len(t.Fields))
			*f = graphfile.NewFeatures(len(row))
		}
		for i, field := range t.Fields {
			var err error
			if row[i], err = graphfile.ParseFeature(field); err != nil {
				return t.Errorf("column %d: %w", i+1, err)
			}
		}
		return t.Take(f.Add(row))
	})
}

func (r ogbFolder) labels(g *graphfile.Graph) error {
	var index graphfile.Classes
	err := r.perNode(g, labelFile, "classes", func(t *graphfile.Table) error {
		if len(t.Fields) != 1 {
			return t.Errorf("%d labels a node: expected one class", len(t.Fields))
		}
		label, ok := index.AddNumber(cmp.Or(t.Fields[0], "nan"))
		if !ok {
			return t.Errorf("found the label %.40q: expected a whole number", t.Fields[0])
		}
		g.Labels = append(g.Labels, label)
		return nil
	})
	if g.Labels != nil {
		g.SetLabels(&index, g.Labels)
	}
	return err
}

func (r ogbFolder) split(g *graphfile.Graph) error {
	entries, err := os.ReadDir(r.path(splitFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() })
	if len(entries) == 0 {
		return nil
	}
	name := entries[0].Name()
	if len(entries) > 1 {
		g.Notef("%d splits: %.80q is taken", len(entries), name)
	}
	var sets [3][]int32
	for i, file := range []string{"train.csv.gz", "valid.csv.gz", "test.csv.gz"} {
		err := r.each(splitFolder+"/"+name+"/"+file, 1, func(t *graphfile.Table) error {
			v, err := ogbNumber(t, t.Fields[0], int64(g.Nodes))
			if len(sets[i]) == g.Nodes {
				return t.Errorf("more lines than the %d nodes", g.Nodes)
			}
			sets[i] = append(sets[i], int32(v))
			return err
		})
		if err != nil {
			return err
		}
		slices.Sort(sets[i])
	}
	g.SetSplit(fmt.Sprintf("the split %.80q", name), true, sets)
	return nil
}

func (r ogbFolder) others(g *graphfile.Graph) error {
	entries, err := os.ReadDir(r.path("raw"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := "raw/" + e.Name(); !slices.Contains([]string{OGBEdges, featureFile, labelFile, nodesFile, edgesFile},
			name) {
			g.Notef("%.80q: left out", name)
		}
	}
	return nil
}
