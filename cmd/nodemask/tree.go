package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/aggtree/explorer"
	"nodemask/datasets"
	"nodemask/internal/svg"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/theorem"
)

type treeFlags struct {
	data, dataDir, root, mask, output string
	hops, train, limit                int
	keepRate                          float64
	seed                              uint64
	cached, check, count              bool
}

func newTreeCommand() *cobra.Command {
	var f treeFlags
	c := &cobra.Command{
		Use:   "tree",
		Short: "Draw, count or check the aggregation tree of a node",
		Long: `Draw, count or check the aggregation tree of a node: what a graph neural network of so many layers sees of
the graph from there.

Nodes are called by their ids or else by their numbers from 0. A text that is the id of one node and the number of
another is taken as the id, and a note says so. A graph may be a file of edges alone: .txt or .edgelist, two ids a line,
separated by a comma, a tab or spaces. Large trees are drawn in part.`,
		Example: `  nodemask tree --data cora --root 5 --hops 2
  nodemask tree --data cora --root 5 --mask 3,17 -o tree.svg
  nodemask tree --data cora --root 5 -o tree.html
  nodemask tree --data cora --root 5 --cached --train 50 --check
  nodemask tree --data friends.txt --root ann --count --hops 9`,
	}
	flags := c.Flags()
	addData(flags, &f.data, &f.dataDir)
	flags.StringVar(&f.root, "root", "", "node whose tree it is: its id, or else its number, from 0")
	flags.IntVar(&f.hops, "hops", 2, "hops from the root to the leaves: layers of the network")
	flags.StringVar(&f.mask, "mask", "", "nodes to mask, separated by commas")
	flags.Float64Var(&f.keepRate, "keep-rate", 1, "mask nodes at random, each being kept with this probability")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of --keep-rate, and of the networks of --check")
	flags.BoolVar(&f.cached, "cached", false, "the tree as predicting from a cache sees it: the root arrives after "+
		"training")
	flags.IntVar(&f.train, "train", 50, "percentage of train nodes, for --cached")
	addOutput(flags, &f.output, "", "file to write: a picture (.svg), an interactive page (.html) or text (.txt; default: the "+
		"terminal)")
	flags.BoolVar(&f.check, "check", false, "verify the definition, both lemmas and theorem 1 instead of drawing")
	flags.BoolVar(&f.count, "count", false, "print the nodes at each depth, without building the tree")
	c.MarkFlagsMutuallyExclusive("mask", "keep-rate")
	c.MarkFlagsMutuallyExclusive("cached", "count")
	c.MarkFlagsMutuallyExclusive("check", "count")
	flags.IntVar(&f.limit, "limit", 0, fmt.Sprintf("largest tree to build (default %d)", aggtree.DefaultLimit))
	_ = c.MarkFlagRequired("root")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := f.misuse(flags.Changed); err != nil {
			return err
		}
		data, err := openGraph(c.Context(), c.ErrOrStderr(), f.data, f.dataDir)
		if err != nil {
			return err
		}
		graph := &treeGraph{Graph: data}
		if err := f.choose(c.ErrOrStderr(), graph); err != nil {
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

func (f treeFlags) ending() string { return strings.ToLower(filepath.Ext(f.output)) }

func (f treeFlags) misuse(changed func(string) bool) error {
	if _, err := hyper.NewKeepRate(f.keepRate); err != nil {
		return misusef("--keep-rate: %w", err)
	}
	if f.ending() != "" {
		if err := checkEnding(f.output, ".txt", ".svg", ".html"); err != nil {
			return err
		}
	}
	switch {
	case changed("output") && f.output == "":
		return misusef("--output is empty: expected a file")
	case (f.check || f.count) && f.ending() != "" && f.ending() != ".txt":
		return misusef("--output %s: --check and --count write text only: expected a name that ends in .txt", f.output)
	case f.cached && f.ending() == ".html":
		return misusef("--cached and --output %s: an interactive drawing shows trees of the graph itself: expected .svg", f.output)
	case f.hops > explorer.MaxHops && f.ending() == ".html":
		return misusef("--hops %d: expected at most %d in a page", f.hops, explorer.MaxHops)
	}
	return nil
}

type treeGraph struct {
	*datasets.Graph
	names []string // nil: nodes are shown as numbers
	root  int32
	mask  []bool
}

func (f treeFlags) choose(notes io.Writer, g *treeGraph) error {
	find := func(flag, id string) (int32, error) { return nodeOf(notes, "--"+flag, id, f.data, g.Graph) }
	var err error
	if g.root, err = find("root", f.root); err != nil {
		return err
	}
	if g.NodeIDs != nil && g.NodeIDs[g.root] == f.root {
		g.names = g.NodeIDs
	}
	switch {
	case f.mask != "":
		g.mask = make([]bool, g.Edges.NumNodes())
		for id := range strings.SplitSeq(f.mask, ",") {
			v, err := find("mask", strings.TrimSpace(id))
			if err != nil {
				return err
			}
			g.mask[v] = true
		}
	case f.keepRate < 1:
		g.mask = hyper.KeepRate(f.keepRate).Draw(rand.New(rand.NewPCG(f.seed, 0)), g.Edges.NumNodes(), nil)
	}
	return nil
}

func nodeOf(notes io.Writer, flag, id, data string, g *datasets.Graph) (int32, error) {
	node, other := g.FindNode(id)
	if node < 0 {
		return 0, misusef("%s %s: expected a node of %s, 0 to %d, or an id of its file", flag, id, data,
			g.Edges.NumNodes()-1)
	}
	if other >= 0 {
		fmt.Fprintln(notes, svg.Plain(fmt.Sprintf("%s %s: this is the id of node number %d, which is taken; the node with "+
			"number %d has the id %s: write %s %[5]s for it", flag, id, node, other, g.NodeIDs[other], flag)))
	}
	return node, nil
}

func (f treeFlags) write(ctx context.Context, w io.Writer, g *treeGraph) error {
	if f.count {
		return f.writeCount(ctx, w, g)
	}
	o := draw.Options{Names: g.names, Labels: g.Labels, Classes: g.Classes, ID: "tree-" + f.root}
	if f.ending() == ".html" {
		h := explorer.Options{Names: o.Names, Labels: o.Labels, Classes: o.Classes, Mask: g.mask, KeepRate: f.keepRate,
			Seed: f.seed}
		if f.keepRate == 1 {
			h.KeepRate = 0.5 // so that epochs on the interactive page mask nodes
		}
		return explorer.WritePage(w, g.Edges, g.root, f.hops, h)
	}
	tree, err := f.build(ctx, g)
	if err != nil {
		return err
	}
	if f.check {
		return f.writeCheck(ctx, w, g, tree)
	}
	if f.ending() == ".svg" {
		return draw.WriteSVG(w, tree, o)
	}
	return draw.WriteText(w, tree, o)
}

func (f treeFlags) build(ctx context.Context, g *treeGraph) (*aggtree.Tree, error) {
	o := aggtree.Options{Limit: f.limit, Mask: g.mask}
	if !f.cached {
		return aggtree.Build(ctx, g.Edges, g.root, f.hops, o)
	}
	split, err := datasets.Stratified(g.Graph, datasets.SplitOptions{TrainPercent: f.train, Seed: 1})
	if err != nil {
		return nil, err
	}
	if _, ok := slices.BinarySearch(split.Train, g.root); ok {
		later := strconv.Itoa(int(split.Test[0]))
		if v, _ := g.FindNode(later); g.names != nil || v != split.Test[0] {
			later = g.NodeIDs[split.Test[0]]
		}
		return nil, misusef("--root %s: it is a train node at --train %d, which the model knew: "+
			"expected a node that arrives later, for instance %s", f.root, f.train, later)
	}
	return aggtree.BuildCached(ctx, g.Edges, split.Train, g.root, f.hops, o)
}

func (f treeFlags) writeCount(ctx context.Context, w io.Writer, g *treeGraph) error {
	counts, err := aggtree.Count(ctx, g.Edges, g.root, f.hops, g.mask)
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

func atLeast(n uint64) string {
	if n == math.MaxUint64 {
		return fmt.Sprintf("at least %d", n)
	}
	return strconv.FormatUint(n, 10)
}

func (f treeFlags) writeCheck(ctx context.Context, w io.Writer, g *treeGraph, tree *aggtree.Tree) error {
	statements, err := aggtree.Verify(ctx, tree.Graph, g.root, f.hops, tree.Arborescence(), g.mask)
	if err != nil {
		return err
	}
	for _, s := range statements {
		if !s.Holds() {
			return fmt.Errorf("%s does not hold: %w", s.Name, s.Counterexample)
		}
	}
	if err := say(w, "the %d-aggregation tree of node %s is right: %d nodes; its paths are the graph's walks, "+
		"and lemmas 1 and 2 hold", f.hops, f.root, tree.NumNodes()); err != nil {
		return err
	}
	if f.cached || f.hops == 0 { // theorem 1 covers neither cached trees nor 0 hops
		return nil
	}
	return f.checkTheorem(ctx, w, g)
}

func (f treeFlags) checkTheorem(ctx context.Context, w io.Writer, g *treeGraph) error {
	worst := 0.0
	o := theorem.Options{Mask: g.mask, Limit: f.limit}
	err := theorem.CheckModels(ctx, g.Graph, g.root, f.hops, f.seed, o, func(name string, check theorem.Result) error {
		if !check.Holds() {
			return fmt.Errorf("theorem 1: %s with %d layers gives node %s %v on the graph and %v on its tree: "+
				"they differ by %.2g", name, f.hops, f.root, check.OnGraph, check.OnTree, check.Difference)
		}
		worst = max(worst, check.Difference)
		return nil
	})
	if err != nil {
		return err
	}
	return say(w, "theorem 1 holds: untrained networks of %d layers (%s) give node %s the same on its tree as on the "+
		"graph, within %g", f.hops, strings.Join(hyper.Models(), ", "), f.root,
		max(1e-7, math.Pow(10, math.Ceil(math.Log10(worst)))))
}
