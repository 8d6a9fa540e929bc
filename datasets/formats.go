package datasets

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nodemask/csr"
	"nodemask/datasets/internal/formats"
	"nodemask/datasets/internal/graphfile"
	"nodemask/internal/memory"
)

var single = map[string]func(ctx context.Context, in *graphfile.File) (*graphfile.Graph, error){
	".npz":     func(ctx context.Context, in *graphfile.File) (*graphfile.Graph, error) { return formats.NPZ(ctx, in) },
	".graphml": formats.GraphML, ".json": formats.NodeLink, ".pt": formats.Torch, ".pth": formats.Torch,
	".txt": formats.EdgeList, ".tsv": formats.EdgeList, ".csv": formats.EdgeList, ".edges": formats.EdgeList,
	".edgelist": formats.EdgeList,
}

func stem(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }

type opener func(file string) (*graphfile.File, error)

func folder(dir string) opener {
	return func(file string) (*graphfile.File, error) { return graphfile.Open(filepath.Join(dir, file)) }
}

func extension(name string) string { return strings.ToLower(filepath.Ext(name)) }

const layouts = "an .npz, .graphml, .json or .pt file, a folder with " + csvNodesFile + " and " + csvEdgesFile +
	", or a folder with " + formats.OGBEdges

func openPath(ctx context.Context, path string) (*Graph, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(filepath.Ext(path), ".parquet") || info.IsDir() && isParquet(path) {
		return nil, &NameError{Name: path, Problem: parquetAdvice}
	}
	if !info.IsDir() {
		if single[extension(path)] == nil || extension(path) == ".csv" {
			return nil, &NameError{Name: path, Problem: "not a graph: expected " + layouts}
		}
		f, err := graphfile.Open(path)
		if err != nil {
			return nil, err
		}
		return readSingle(ctx, f)
	}
	has := func(file string) bool {
		_, err := os.Stat(filepath.Join(path, filepath.FromSlash(file)))
		return err == nil
	}
	problem := "no graph in this folder: expected " + layouts
	switch nodes, edges := has(csvNodesFile), has(csvEdgesFile); {
	case nodes && edges:
		return readCSV(ctx, folder(path), path)
	case has(formats.OGBEdges) && graphfile.ChoiceOf(ctx).Label != "":
		problem = "nothing can be chosen in a folder of the Open Graph Benchmark"
	case has(formats.OGBEdges):
		l, err := formats.OGB(ctx, path)
		if err != nil {
			return nil, err
		}
		return fromFile(l, "", path)
	case nodes:
		problem = "the folder has no " + csvEdgesFile + ": expected " + csvNodesFile + " and " + csvEdgesFile
	case edges:
		problem = "the folder has no " + csvNodesFile + ": expected " + csvNodesFile + " and " + csvEdgesFile
	}
	return nil, &NameError{Name: path, Problem: problem}
}

const parquetAdvice = "Parquet is not read: write CSV in Python, import pandas as pd; for n in (\"nodes\", \"edges\"): " +
	"pd.read_parquet(n + \".parquet\").to_csv(n + \".csv\", index=False)"

func isParquet(dir string) bool {
	_, packed := os.Stat(filepath.Join(dir, "nodes.parquet"))
	_, plain := os.Stat(filepath.Join(dir, csvNodesFile))
	return packed == nil && plain != nil
}

func base(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return filepath.Base(path)
}

func readSingle(ctx context.Context, f *graphfile.File) (*Graph, error) {
	l, err := single[extension(f.Name)](ctx, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return fromFile(l, stem(f.Name), f.Name)
}

func fromFile(l *graphfile.Graph, name, source string) (*Graph, error) {
	if name == "" {
		name = base(source)
	}
	g := &Graph{Name: name, Source: source, Format: l.Format, NodeIDs: l.IDs, Labels: l.Labels, Classes: l.Classes,
		Directed: l.Directed, Features: Features{Rows: l.Nodes}}
	if err := g.setEdges(l); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	l.Pairs = nil
	if g.Labels == nil {
		g.Labels = slices.Repeat([]int32{Unlabelled}, l.Nodes)
	}
	g.nameFeatures(l.FeatureNames)
	if l.Features.Width > 0 {
		l.Features.Rows = l.Nodes
		g.Features = Features(l.Features).compact()
	}
	for _, sets := range l.Splits {
		g.OwnSplits = append(g.OwnSplits, newOwnSplit(sets[0], sets[1], sets[2]))
		g.OwnSplit = g.OwnSplits[0]
	}
	g.Notes = l.AllNotes()
	return g, nil
}

func (g *Graph) nameFeatures(names []string) {
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names) {
		g.FeatureNames = names
	}
}

func (g *Graph) setEdges(l *graphfile.Graph) (err error) {
	if l.Both || l.Directed {
		return g.setBothWays(l)
	}
	if g.Edges, g.Report, err = csr.FromSeq(l.Nodes, l.Pairs, csr.Options{}); err != nil || g.Report.Duplicates == 0 {
		return err
	}
	g.countReverses(l.Pairs)
	if g.Report.Duplicates > g.Report.Edges/4 {
		g.Edges.Indices = slices.Clone(g.Edges.Indices)
	}
	return nil
}

// setBothWays sets g's edges from l in both directions, and sets Directed if l lists some edge one way only. Most files
// list both directions, so reverse edges are added only if some are missing. This takes half the memory of always
// adding reverse edges.
func (g *Graph) setBothWays(l *graphfile.Graph) error {
	// A node takes less than 32 bytes: three offsets of 8 bytes and a label of 4.
	if err := memory.Fits(32 * int64(l.Nodes)); err != nil {
		return err
	}
	edges, report, err := csr.FromSeq(l.Nodes, l.Pairs, csr.Options{Directed: true})
	if err != nil {
		return err
	}
	if !edges.IsSymmetric() {
		g.Directed = true
		if edges, _, err = csr.FromSeq(l.Nodes, edges.All(), csr.Options{}); err != nil {
			return err
		}
	}
	// An edge listed both ways counts as one edge and one duplicate.
	g.Reverses = report.Edges - edges.NumEdges()/2
	report.Edges = edges.NumEdges() / 2
	report.Duplicates = report.Listed - report.SelfLoops - report.Edges
	g.Edges, g.Report = edges, report
	return nil
}

func (g *Graph) countReverses(pairs iter.Seq2[int32, int32]) {
	listed := make([]bool, len(g.Edges.Indices))
	for v, u := range pairs {
		if v != u {
			at, _ := slices.BinarySearch(g.Edges.Neighbours(v), u)
			listed[g.Edges.Offsets[v]+int64(at)] = true
		}
	}
	g.Reverses = -g.Report.Edges
	for _, is := range listed {
		if is {
			g.Reverses++
		}
	}
}

func (f Features) compact() Features {
	most := graphfile.SparseLimit * float64(f.Rows) * float64(f.Width)
	return f.Stored(float64(f.NonZeros()) <= most && f.Width > 0)
}

// Remarks returns sentences about how the graph was read.
func (g *Graph) Remarks() []string {
	var remarks []string
	if r := g.Report; g.Format != "" && r.SelfLoops+r.Duplicates > g.Reverses {
		remarks = append(remarks, fmt.Sprintf("%d self-loops and %d repeated edges are dropped",
			r.SelfLoops, r.Duplicates-g.Reverses))
	}
	if g.Directed {
		remarks = append(remarks,
			"its edges have a direction, or not all are listed in both: each is taken both ways, as the models need")
	}
	remarks = append(remarks, g.Notes...)
	return remarks
}
