package datasets

import (
	"context"
	"path/filepath"
	"runtime/debug"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
)

// Reddit's files, as DGL and PyG distribute them (in reddit.zip).
const (
	redditDataFile  = "reddit_data.npz"
	redditGraphFile = "reddit_graph.npz"
)

type redditLayout struct {
	nodes    int64
	directed int64 // distinct directed edges, twice the undirected ones
	features int64
	classes  int
}

// reddit is the graph of Hamilton, Ying and Leskovec (2017): posts of September 2014, joined if one user commented on
// both.
var reddit = redditLayout{nodes: 232_965, directed: 114_615_892, features: 602, classes: 41}

// readReddit checks counts and streams files: peak memory stays below 1.5 times the graph, about 1 GB. Features are
// dense.
func readReddit(ctx context.Context, dir string, want redditLayout) (*Graph, error) {
	g := &Graph{Name: "reddit", Source: dir}
	if err := g.readRedditEdges(ctx, filepath.Join(dir, redditGraphFile), want); err != nil {
		return nil, err
	}
	// Building may have taken twice the graph's size; features need that memory.
	debug.FreeOSMemory()
	file, err := numpy.Open(ctx, filepath.Join(dir, redditDataFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	z := npzReader{file}
	if err := z.Require("Reddit", "feature", "label"); err != nil {
		return nil, err
	}
	l := &graphfile.Graph{Nodes: int(want.nodes)}
	if err := z.labels(l, "label", ""); err != nil {
		return nil, err
	}
	g.Labels, g.Classes = l.Labels, l.Classes
	if len(g.Classes) != want.classes {
		return nil, z.Errorf("label: %d classes: expected %d. This is not Reddit as DGL and PyG distribute it",
			len(g.Classes), want.classes)
	}
	if g.Features, err = z.dense("feature", want.nodes); err != nil {
		return nil, err
	}
	if int64(g.Features.Width) != want.features {
		return nil, z.Errorf("feature: %d columns: expected %d", g.Features.Width, want.features)
	}
	return g, nil
}

func (g *Graph) readRedditEdges(ctx context.Context, path string, want redditLayout) error {
	file, err := numpy.Open(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	z := npzReader{file}
	if err := z.Require("a scipy matrix in coo format", "shape", "row", "col"); err != nil {
		return err
	}
	rows, columns, err := z.shape("shape")
	if err != nil {
		return err
	}
	if rows != want.nodes || columns != want.nodes {
		return z.Errorf("shape [%d, %d]: expected [%d, %d]", rows, columns, want.nodes, want.nodes)
	}
	pairs, err := cooPairs(z, "row", "col", rows)
	if err != nil {
		return err
	}
	if err := g.setUndirected(pairs, int(rows)); err != nil {
		return err
	}
	if found := g.Edges.NumEdges(); found != want.directed {
		return z.Errorf("%d distinct directed edges: expected %d. This is not Reddit as DGL and PyG distribute it",
			found, want.directed)
	}
	return nil
}
