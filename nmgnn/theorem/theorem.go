// Package theorem checks, for any model, theorem 1 of the node-masking paper (arXiv 2001.07524): what a k-layer model
// computes for a node depends only on the node's k-aggregation tree.
package theorem

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"nodemask/aggtree"
	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/internal/memory"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
)

// Result is the outcome of a check of theorem 1 at one node v: whether h_v^(k) of a k-layer model is the same on the
// graph and on the k-aggregation tree T_v^k (package aggtree).
type Result struct {
	Root      int32
	Hops      int // k: number of model layers and of tree hops
	TreeNodes int
	OnGraph   []float32 // h_v^(k) computed on the graph: [classes]
	OnTree    []float32 // h_v^(k) computed on the tree
	// Difference is the largest |a-b| / max(1, |a|) over entries a of OnGraph and b of OnTree.
	Difference float64
}

// tolerance allows for rounding: float32 sums over the tree are in another order than those over the graph.
const tolerance = 1e-5

// Holds reports whether graph and tree gave the same h_v^(k) within 1e-5.
func (t Result) Holds() bool { return t.Difference <= tolerance }

// Options select the tree that [Check] runs the model on.
type Options struct {
	// Mask marks masked nodes of the graph; nil: none.
	Mask []bool
	// Pruned removes masked nodes from the tree instead of masking them. Set it for all layers but GAT and GATv2, whose
	// softmax includes masked neighbours: section 5 of the paper normalises, then masks. Without Pruned, a layer that
	// wrongly ignores the mask passes the check.
	Pruned bool
	// Limit is the largest number of tree nodes; 0 means [aggtree.DefaultLimit].
	Limit int
}

// Check compares the root's representations on the graph and on the root's k-aggregation tree, whose edges point to the
// parent, and returns both. Tree nodes get their graph node's features, mask and degree. GCN, SAGE and SGAT use this
// degree, because a leaf's neighbours are not in the tree.
//
// If the tree exceeds the limit, Check returns an [*aggtree.TooLargeError].
func Check(ctx context.Context, b *backend.Backend, m infer.Model, g *datasets.Graph, root int32, o Options) (Result,
	error) {
	check := Result{Root: root, Hops: len(m.Layers)}
	build := aggtree.Options{Limit: o.Limit}
	if o.Pruned {
		build.Mask = o.Mask
	}
	tree, err := aggtree.Build(ctx, g.Edges, root, check.Hops, build)
	if err != nil {
		return check, err
	}
	check.TreeNodes = tree.NumNodes()
	replicas := infer.Options{Degrees: make([]int32, tree.NumNodes())}
	for i, base := range tree.Base {
		replicas.Degrees[i] = int32(g.Edges.Degree(base))
	}
	if o.Mask != nil {
		replicas.Mask = make([]bool, tree.NumNodes())
		for i, base := range tree.Base {
			replicas.Mask[i] = o.Mask[base]
		}
	}
	onTree, err := m.Represent(b, tree.AsGraph(), g.Features.Select(tree.Base), replicas)
	if err != nil {
		return check, fmt.Errorf("on the tree: %w", err)
	}
	if err := ended.Err(ctx); err != nil {
		return check, err
	}
	onGraph, err := m.Represent(b, g.Edges, g.Features, infer.Options{Mask: o.Mask})
	if err != nil {
		return check, fmt.Errorf("on the graph: %w", err)
	}
	check.OnGraph, check.OnTree = onGraph[len(onGraph)-1].Row(int(root)), onTree[len(onTree)-1].Row(0)
	for i, a := range check.OnGraph {
		// max returns NaN if an entry is NaN.
		check.Difference = max(check.Difference, math.Abs(float64(a-check.OnTree[i]))/math.Max(1, math.Abs(float64(a))))
	}
	return check, nil
}

// CheckModels checks theorem 1 at a root for each of the project's models: an untrained network with as many layers as
// hops, on the pure-Go backend. Graphs without features get random features. With 0 hops nothing is checked. Too
// little memory is an error.
func CheckModels(ctx context.Context, g *datasets.Graph, root int32, hops int, seed uint64, o Options,
	report func(model string, r Result) error) error {
	if hops == 0 {
		return nil
	}
	if g.Features.Width == 0 {
		g = &datasets.Graph{Name: g.Name, Edges: g.Edges, Features: randomFeatures(g.Edges.NumNodes(), 16, seed)}
	}
	left, _ := memory.Get()
	if err := checkFits(ctx, g, root, hops, left); err != nil {
		return err
	}
	b, err := backend.Open("go") // one run each: compiling does not pay
	if err != nil {
		return err
	}
	for _, name := range hyper.Models() {
		p, err := hyper.For(name)
		if err != nil {
			return err
		}
		p.Layers = hops
		m, err := infer.Untrained(b, nmgnn.Build(p, 2), g.Features.Width, seed)
		if err != nil {
			return err
		}
		r, err := Check(ctx, b, m, g, root, o)
		if err != nil {
			return fmt.Errorf("theorem 1 for %s: %w", hyper.Title(name), err)
		}
		if err := report(name, r); err != nil {
			return err
		}
	}
	return nil
}

func checkFits(ctx context.Context, g *datasets.Graph, root int32, hops int, left memory.Left) error {
	counts, err := aggtree.Count(ctx, g.Edges, root, hops, nil)
	if err != nil {
		return err
	}
	p, err := hyper.For(hyper.Models()[0])
	if err != nil {
		return err
	}
	// This rough estimate counts eight copies of each hidden layer's output.
	nodes := float64(g.Edges.NumNodes()) + float64(counts.Total)
	need := nodes * 4 * float64(2*g.Features.Width+8*(hops-1)*p.Hidden)
	if need > float64(left.Bytes) {
		tree := strconv.FormatUint(counts.Total, 10)
		if counts.Total == math.MaxUint64 {
			tree = "at least " + tree
		}
		return fmt.Errorf("theorem 1 takes about %s of memory on %d nodes and a tree of %s, and %v: "+
			"ask for fewer hops or a smaller graph", memory.About(need), g.Edges.NumNodes(), tree, left)
	}
	return nil
}

func randomFeatures(nodes, width int, seed uint64) datasets.Features {
	r := rand.New(rand.NewPCG(seed, 0))
	x := datasets.Features{Rows: nodes, Width: width, Dense: make([]float32, nodes*width)}
	for i := range x.Dense {
		x.Dense[i] = r.Float32()
	}
	return x
}
