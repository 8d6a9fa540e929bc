// Package theorem checks the paper's theorem 1 for any model.
package theorem

import (
	"context"
	"fmt"
	"math"

	"nodemask/aggtree"
	"nodemask/datasets"
	"nodemask/internal/ended"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
)

// Result is a check of the paper's theorem 1 at one node: h_v^(k), the root's representation by a k-layer model, is a
// function of its k-aggregation tree T_v^k alone.
type Result struct {
	Root      int32
	Hops      int // k: layers of the model, and hops of the tree
	TreeNodes int
	OnGraph   []float32 // h_v^(k) computed over the graph [classes]
	OnTree    []float32 // and over the tree
	// Difference is the largest of |a-b| / max(1, |a|), for a and b the entries of OnGraph and OnTree.
	Difference float64
}

// Tolerance is the Difference up to which [Result.Holds]: sums of float32 differ by their order.
const Tolerance = 1e-5

// Holds reports whether the two agree up to [Tolerance].
func (t Result) Holds() bool { return t.Difference <= Tolerance }

// Options say which tree [Check] runs the model on.
type Options struct {
	// Mask says which nodes of the graph are masked; nil: none.
	Mask []bool
	// Pruned takes the masked tree, without the masked nodes, instead of the whole tree with the mask on its replicas. The
	// two differ for GAT and GATv2, whose softmax runs over masked neighbours too (section 5: normalise, then mask). For
	// other layers set it: the whole tree does not notice a layer that forgets the mask, there as on the graph.
	Pruned bool
	// Limit is the largest tree to build; 0: [aggtree.DefaultLimit].
	Limit int
}

// Check runs the model on a graph and on the k-aggregation tree of root, as a graph whose edges point to the parent,
// and compares the root's representations. Replicas get the features, and the mask, of their base. They get its degree
// too: GCN reads it, SAGE and SGAT divide by it, and leaves of the tree have lost it.
//
// It returns an [*aggtree.TooLargeError] for a tree above the limit.
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
		// A NaN is a difference too: max keeps it.
		check.Difference = max(check.Difference, math.Abs(float64(a-check.OnTree[i]))/math.Max(1, math.Abs(float64(a))))
	}
	return check, nil
}
