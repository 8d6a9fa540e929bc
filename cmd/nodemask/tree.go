package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/aggtree"
	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
)

type treeFlags struct {
	data, dataDir, edges, root, mask, format, output string
	hops, train, limit                               int
	keepRate                                         float64
	seed                                             uint64
	cached, check, count                             bool
}

func newTreeCommand() *cobra.Command {
	var f treeFlags
	c := &cobra.Command{
		Use:   "tree",
		Short: "Draw, count or check the aggregation tree of a node",
		Long: `Draw, count or check the aggregation tree of a node: what a graph neural network of so many layers sees of the graph
from there.

The graph is a data set, whose nodes are called by their numbers, or a file of edges: two ids a line, separated by a
comma, a tab or spaces, with comments after '#' at the start of a line. Large trees are drawn in part, but JSON has all
of them.`,
		Example: `  nodemask tree --data cora --root 5 --hops 2
  nodemask tree --data cora --root 5 --mask 3,17 --format svg -o tree.svg
  nodemask tree --data cora --root 5 --format html -o tree.html
  nodemask tree --data cora --root 5 --cached --train 50 --check
  nodemask tree --edges friends.txt --root ann --count --hops 9`,
		Args: misuseArgs(cobra.NoArgs),
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.data, "data", "", "data set: see 'nodemask data list'")
	flags.StringVar(&f.dataDir, "data-dir", "", "folder of downloaded data sets (default $NODEMASK_DATA, then the user's cache)")
	flags.StringVar(&f.edges, "edges", "", "file of edges, instead of --data")
	flags.StringVar(&f.root, "root", "", "node whose tree it is: its number, or its id with --edges")
	flags.IntVar(&f.hops, "hops", 2, "hops from the root to the leaves: layers of the network")
	flags.StringVar(&f.mask, "mask", "", "nodes to mask, separated by commas")
	flags.Float64Var(&f.keepRate, "keep-rate", 1, "mask nodes at random, each being kept with this probability")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of --keep-rate, and of the networks of --check")
	flags.BoolVar(&f.cached, "cached", false, "the tree as predicting from a cache sees it: the root arrives after training")
	flags.IntVar(&f.train, "train", 50, "percentage of train nodes, for --cached")
	flags.StringVar(&f.format, "format", "text", "text, svg, html (interactive), dot, mermaid or json")
	flags.StringVarP(&f.output, "output", "o", "", "file to write (default: the terminal)")
	flags.BoolVar(&f.check, "check", false, "verify the definition, both lemmas and theorem 1 instead of drawing")
	flags.BoolVar(&f.count, "count", false, "print the nodes at each depth, without building the tree")
	flags.IntVar(&f.limit, "limit", 0, fmt.Sprintf("largest tree to build (default %d)", aggtree.DefaultLimit))
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.misuse(flags.Changed); err != nil {
			return err
		}
		graph, err := f.open(c.Context())
		if err != nil {
			return err
		}
		if err := f.choose(graph); err != nil {
			return err
		}
		write := func(w io.Writer) error { return f.write(c.Context(), w, graph) }
		if f.output == "" {
			return write(c.OutOrStdout())
		}
		return writeFile(f.output, write)
	}
	return c
}

// misuse checks what can be checked without the graph.
func (f treeFlags) misuse(changed func(string) bool) error {
	switch {
	case changed("data") == changed("edges"):
		return misusef("--data and --edges: expected one of them, for instance --data cora")
	case !changed("root"):
		return misusef("--root is missing: expected a node")
	case f.hops < 0 || f.hops > mostHops:
		return misusef("--hops %d: expected 0 to %d", f.hops, mostHops)
	case changed("mask") && changed("keep-rate"):
		return misusef("--mask and --keep-rate: expected one of them")
	case changed("seed") && !changed("keep-rate") && !f.check:
		return misusef("--seed: it is that of --keep-rate and --check, and both are missing")
	case !(f.keepRate > 0 && f.keepRate <= 1):
		return misusef("--keep-rate %v: expected a probability above 0 and up to 1, where 1 keeps every node", f.keepRate)
	case f.cached && changed("edges"):
		return misusef("--cached: it needs the labels of a data set, to split it as for training: use --data")
	case f.cached && f.count:
		return misusef("--cached and --count: expected one of them")
	case f.train < 1 || f.train > 99:
		return misusef("--train %d: expected a percentage from 1 to 99", f.train)
	case changed("train") && !f.cached:
		return misusef("--train: it is for --cached, which is missing")
	case f.check && f.count:
		return misusef("--check and --count: expected one of them")
	case (f.check || f.count) && changed("format"):
		return misusef("--format: --check and --count write text only")
	case f.limit < 0:
		return misusef("--limit %d: expected a number of tree nodes, or 0 for %d", f.limit, aggtree.DefaultLimit)
	case changed("output") && f.output == "":
		return misusef("--output is empty: expected a file")
	case f.cached && f.format == formatHTML:
		return misusef("--cached and --format html: an interactive drawing shows trees of the graph itself: use --format svg")
	case f.hops > aggtree.MaxHTMLHops && f.format == formatHTML:
		return misusef("--hops %d: expected at most %d with --format html", f.hops, aggtree.MaxHTMLHops)
	case f.format != formatHTML && !slices.Contains(aggtree.Formats(), aggtree.Format(f.format)):
		return misusef("--format %s: expected one of %v", f.format, append(aggtree.Formats(), formatHTML))
	}
	return nil
}

// formatHTML is the interactive drawing, which is one of a graph and not of a tree.
const formatHTML = "html"

// mostHops is more than any network has layers.
const mostHops = 1000

// treeGraph is a graph, and what is asked of it.
type treeGraph struct {
	edges *csr.Graph
	data  *datasets.Graph // nil for a file of edges
	names []string        // nil: numbers
	root  int32
	mask  []bool // nil: nothing masked
}

func (f treeFlags) open(ctx context.Context) (*treeGraph, error) {
	if f.edges != "" {
		file, err := os.Open(f.edges)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		edges, names, err := datasets.ReadEdgeList(ctx, file, f.edges)
		if err != nil {
			return nil, err
		}
		return &treeGraph{edges: edges, names: names}, nil
	}
	data, err := datasets.Open(ctx, f.data, datasets.OpenOptions{Dir: f.dataDir})
	if err != nil {
		var unknown *datasets.NameError
		if errors.As(err, &unknown) {
			return nil, misuse{err}
		}
		return nil, err
	}
	return &treeGraph{edges: data.Edges, data: data}, nil
}

// choose finds the root and the masked nodes.
func (f treeFlags) choose(g *treeGraph) error {
	number := map[string]int32{}
	for v, name := range g.names {
		number[name] = int32(v)
	}
	find := func(flag, id string) (int32, error) {
		if g.names != nil {
			v, found := number[id]
			if !found {
				return 0, misusef("--%s %s: no edge of %s names this node", flag, id, f.edges)
			}
			return v, nil
		}
		v, err := strconv.ParseInt(id, 10, 32)
		if err != nil || v < 0 || int(v) >= g.edges.NumNodes() {
			return 0, misusef("--%s %s: expected a node of %s, 0 to %d", flag, id, f.data, g.edges.NumNodes()-1)
		}
		return int32(v), nil
	}
	var err error
	if g.root, err = find("root", f.root); err != nil {
		return err
	}
	switch {
	case f.mask != "":
		g.mask = make([]bool, g.edges.NumNodes())
		for id := range strings.SplitSeq(f.mask, ",") {
			v, err := find("mask", strings.TrimSpace(id))
			if err != nil {
				return err
			}
			g.mask[v] = true
		}
	case f.keepRate < 1:
		delta := make([]float32, g.edges.NumNodes())
		nmgnn.Mask{KeepRate: f.keepRate}.Draw(rand.New(rand.NewPCG(f.seed, 0)), delta)
		g.mask = make([]bool, len(delta))
		for v := range delta {
			g.mask[v] = delta[v] == 0
		}
	}
	return nil
}

func (f treeFlags) write(ctx context.Context, w io.Writer, g *treeGraph) error {
	if f.count {
		return f.writeCount(ctx, w, g)
	}
	o := aggtree.DrawOptions{Names: g.names, Graph: g.edges, Mask: g.mask, Ghosts: true, BaseGraph: true, ID: "tree-" + f.root}
	if g.data != nil && len(g.data.Labels) == g.edges.NumNodes() {
		o.Classes, o.Colours = g.data.Classes, make([]int, len(g.data.Labels))
		for v, label := range g.data.Labels {
			o.Colours[v] = int(label)
		}
	}
	if f.format == formatHTML {
		h := aggtree.HTMLOptions{Names: o.Names, Colours: o.Colours, Classes: o.Classes, Mask: o.Mask, Seed: f.seed}
		if f.keepRate < 1 {
			h.KeepRate = f.keepRate
		}
		return aggtree.WritePage(w, g.edges, g.root, f.hops, h)
	}
	graph, mask, root := g.edges, g.mask, g.root
	var tree *aggtree.Tree
	var err error
	if f.cached {
		tree, graph, mask, root, err = f.buildCached(ctx, g, &o)
	} else {
		tree, err = aggtree.Build(ctx, graph, root, f.hops, aggtree.Options{Limit: f.limit, Mask: mask})
	}
	var tooLarge *aggtree.TooLargeError
	if errors.As(err, &tooLarge) {
		return fmt.Errorf("the %d-aggregation tree of node %s has %s nodes, but the limit is %d: ask for fewer --hops, mask nodes, or raise --limit", f.hops, f.root, atLeast(tooLarge.Counts.Total), tooLarge.Limit)
	}
	if err != nil {
		return err
	}
	if f.check {
		return f.writeCheck(ctx, w, g, tree, graph, mask, root)
	}
	return aggtree.Write(w, tree, aggtree.Format(f.format), o)
}

// buildCached builds the tree of a node that arrives after training, and returns the graph that it is a tree of: the
// train graph with the root as a further node, which points to its train neighbours, but to which none points.
func (f treeFlags) buildCached(ctx context.Context, g *treeGraph, o *aggtree.DrawOptions) (tree *aggtree.Tree, grown *csr.Graph, mask []bool, root int32, err error) {
	split, err := datasets.Stratified(g.data, datasets.SplitOptions{TrainPercent: f.train, Seed: 1})
	if err != nil {
		return nil, nil, nil, 0, err
	}
	if _, is := slices.BinarySearch(split.Train, g.root); is {
		return nil, nil, nil, 0, misusef("--root %d: it is a train node at --train %d, which the model knew: expected a node that arrives later, for instance %d", g.root, f.train, split.Test[0])
	}
	train, index, err := g.edges.Induced(split.Train)
	if err != nil {
		return nil, nil, nil, 0, err
	}
	// index has the place of each node among the train nodes, -1 for others.
	var neighbours []int32
	for _, u := range g.edges.Neighbours(g.root) {
		if index[u] >= 0 {
			neighbours = append(neighbours, index[u])
		}
	}
	root = int32(train.NumNodes())
	bases := append(slices.Clone(split.Train), g.root)
	o.Names = make([]string, len(bases))
	colours := make([]int, len(bases))
	for i, v := range bases {
		o.Names[i], colours[i] = strconv.Itoa(int(v)), o.Colours[v]
	}
	o.Colours = colours
	if g.mask != nil {
		mask = make([]bool, len(bases))
		for i, v := range bases {
			mask[i] = g.mask[v]
		}
		o.Mask = mask[:root]
		tree, err = aggtree.BuildCached(ctx, train, neighbours, f.hops, aggtree.Options{Limit: f.limit, Mask: mask[:root]})
	} else {
		tree, err = aggtree.BuildCached(ctx, train, neighbours, f.hops, aggtree.Options{Limit: f.limit})
	}
	if err != nil {
		return nil, nil, nil, 0, err
	}
	o.Graph = train
	offsets := append(slices.Clone(train.Offsets), train.NumEdges()+int64(len(neighbours)))
	targets := append(slices.Clone(train.Indices), neighbours...)
	slices.Sort(targets[train.NumEdges():])
	grown, err = csr.New(offsets, targets)
	return tree, grown, mask, root, err
}

func (f treeFlags) writeCount(ctx context.Context, w io.Writer, g *treeGraph) error {
	counts, err := aggtree.Count(ctx, g.edges, g.root, f.hops, g.mask)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	say := func(what string, n uint64) { fmt.Fprintf(out, "%-8s %s\n", what, atLeast(n)) }
	for depth, n := range counts.Depth {
		say(fmt.Sprintf("depth %d", depth), n)
	}
	say("in all", counts.Total)
	return out.Flush()
}

// atLeast is a number of tree nodes, which may be more than can be counted.
func atLeast(n uint64) string {
	if n == math.MaxUint64 {
		return fmt.Sprintf("at least %d", n)
	}
	return strconv.FormatUint(n, 10)
}

func (f treeFlags) writeCheck(ctx context.Context, w io.Writer, g *treeGraph, tree *aggtree.Tree, graph *csr.Graph, mask []bool, root int32) error {
	candidate := tree.Arborescence()
	if err := aggtree.Check(ctx, graph, root, f.hops, candidate, mask); err != nil {
		return err
	}
	for lemma, verify := range []func(context.Context, *csr.Graph, int, aggtree.Arborescence, []bool) (*aggtree.Counterexample, error){aggtree.Lemma1, aggtree.Lemma2} {
		counterexample, err := verify(ctx, graph, f.hops, candidate, mask)
		if err != nil {
			return err
		}
		if counterexample != nil {
			return fmt.Errorf("lemma %d: %v", lemma+1, counterexample)
		}
	}
	if _, err := fmt.Fprintf(w, "the %d-aggregation tree of node %s is right: %d nodes; its paths are the graph's walks, and lemmas 1 and 2 hold\n", f.hops, f.root, tree.NumNodes()); err != nil {
		return err
	}
	if f.cached || f.hops == 0 { // theorem 1 speaks of neither
		return nil
	}
	return f.checkTheorem(ctx, w, g)
}

// checkTheorem runs untrained networks on the tree and on the graph.
func (f treeFlags) checkTheorem(ctx context.Context, w io.Writer, g *treeGraph) error {
	backend, err := nmgnn.OpenBackend("go") // one run each: not worth compiling for another
	if err != nil {
		return err
	}
	data := g.data
	if data == nil || data.Features.Width == 0 {
		data = &datasets.Graph{Name: f.edges, Edges: g.edges, Features: randomFeatures(g.edges.NumNodes(), 16, f.seed)}
	}
	worst := 0.0
	for _, name := range nmgnn.Models() {
		s, err := nmgnn.Preset(nmgnn.PresetFor(name))
		if err != nil {
			return err
		}
		s.Model, s.Layers = name, f.hops
		m, err := nmgnn.Untrained(backend, s.Build(2), data.Features.Width, f.seed)
		if err != nil {
			return err
		}
		check, err := nmgnn.CheckTheorem1(ctx, backend, m, data, g.root, nmgnn.TheoremOptions{Mask: g.mask, Limit: f.limit})
		if err != nil {
			return err
		}
		if !check.Holds() {
			return fmt.Errorf("theorem 1: %s with %d layers gives node %s %v on the graph and %v on its tree: they differ by %.2g, more than %g", name, f.hops, f.root, check.OnGraph, check.OnTree, check.Difference, nmgnn.Tolerance)
		}
		worst = max(worst, check.Difference)
	}
	_, err = fmt.Fprintf(w, "theorem 1 holds: untrained networks of %d layers (%s) give node %s the same on its tree as on the graph, within %g\n", f.hops, strings.Join(nmgnn.Models(), ", "), f.root, max(1e-7, math.Pow(10, math.Ceil(math.Log10(worst)))))
	return err
}

// randomFeatures are for graphs that have none.
func randomFeatures(nodes, width int, seed uint64) datasets.Features {
	r := rand.New(rand.NewPCG(seed, 0))
	x := datasets.Features{Rows: nodes, Width: width, Dense: make([]float32, nodes*width)}
	for i := range x.Dense {
		x.Dense[i] = r.Float32()
	}
	return x
}
