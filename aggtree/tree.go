package aggtree

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nodemask/csr"
	"nodemask/internal/ended"
)

// Tree is an aggregation tree T_v^k. Nodes are numbered level by level, and the root is node 0. Siblings ascend by
// [Tree.Base].
type Tree struct {
	// Graph is the source graph. If [BuildCached] made the tree, Graph has only the edges to train nodes.
	Graph *csr.Graph
	// Mask is true for each masked node of Graph; nil masks none.
	Mask []bool
	// Hops is the tree's largest possible depth, the paper's k.
	Hops int
	// Base[i] is the graph node that tree node i stands for.
	Base []int32
	// Parent is each node's parent; -1 for the root.
	Parent []int32
	// FirstChild has one entry per tree node and one more: node i's children are FirstChild[i] to FirstChild[i+1]-1.
	FirstChild []int32
	// Level has Hops+2 entries: the nodes at depth d are Level[d] to Level[d+1]-1.
	Level []int32
	// Hidden[i] is the number of masked neighbours of graph node Base[i], or 0 at depth Hops. Hidden is nil without a
	// mask.
	Hidden []int32
	// RootMasked means that the root's graph node is masked (section 5).
	RootMasked bool
	// Cached means that the root arrived after training and the subtrees below it are cached ([BuildCached]).
	Cached bool
}

// NumNodes returns the number of tree nodes.
func (t *Tree) NumNodes() int { return len(t.Base) }

// Children returns the range [first, end) of node i's children.
func (t *Tree) Children(i int32) (first, end int32) { return t.FirstChild[i], t.FirstChild[i+1] }

// Depth returns the number of hops from the root to node i.
func (t *Tree) Depth(i int32) int {
	above, _ := slices.BinarySearch(t.Level, i+1)
	return above - 1
}

// AtDepth returns the range [first, end) of nodes at a depth from 0 to Hops.
func (t *Tree) AtDepth(depth int) (first, end int32) { return t.Level[depth], t.Level[depth+1] }

// IsLeaf reports whether node i has no children.
func (t *Tree) IsLeaf(i int32) bool { return t.FirstChild[i] == t.FirstChild[i+1] }

// Walk returns the graph nodes along the path from the root to tree node i, both included.
func (t *Tree) Walk(i int32) []int32 {
	var walk []int32
	for ; i >= 0; i = t.Parent[i] {
		walk = append(walk, t.Base[i])
	}
	slices.Reverse(walk)
	return walk
}

// Descendants returns node i and its descendants at most depth levels below i: one range [first, end) per non-empty
// level. In a cached tree, a child i of the root stands for graph node u = Base[i]. The cached representation
// h̃_u^(depth) is computed from the returned nodes.
func (t *Tree) Descendants(i int32, depth int) [][2]int32 {
	var levels [][2]int32
	for level := [2]int32{i, i + 1}; level[0] < level[1] && depth >= 0; depth-- {
		levels = append(levels, level)
		level = [2]int32{t.FirstChild[level[0]], t.FirstChild[level[1]]}
	}
	return levels
}

// AsGraph returns the tree as a graph for a GNN: row i lists node i's children. Give node i the features of Base[i].
// After Hops layers, row 0 of the output is the root's representation (theorem 1). For a cached tree, row 0 is the
// approximation by eq. 4.
func (t *Tree) AsGraph() *csr.Graph {
	n := t.NumNodes()
	g := &csr.Graph{Offsets: make([]int64, n+1), Indices: make([]int32, max(n-1, 0))}
	// Nodes are numbered in the order of their parents, so Indices lists nodes 1, 2, 3, …
	for i, first := range t.FirstChild {
		g.Offsets[i] = int64(first) - 1
	}
	for j := range g.Indices {
		g.Indices[j] = int32(j) + 1
	}
	return g
}

// String returns a one-line summary.
func (t *Tree) String() string {
	return fmt.Sprintf("Tree(node %d, %d hops: %d tree nodes)", t.Base[0], t.Hops, t.NumNodes())
}

// MaxHops is the largest number of hops of a tree.
const MaxHops = 1000

func checkRoot(ctx context.Context, g *csr.Graph, root int32, hops int, mask []bool) error {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return err
	}
	if root < 0 || int(root) >= g.NumNodes() {
		return fmt.Errorf("root %d: the graph has %d nodes, numbered from 0", root, g.NumNodes())
	}
	return nil
}

func checkArguments(ctx context.Context, g *csr.Graph, hops int, mask []bool) error {
	switch {
	case g == nil:
		return errors.New("the graph is nil: build one with csr.FromEdges")
	case hops < 0 || hops > MaxHops:
		return fmt.Errorf("%d hops: expected between 0 and %d", hops, MaxHops)
	case mask != nil && len(mask) != g.NumNodes():
		return fmt.Errorf("the mask has %d entries, but the graph has %d nodes: give one entry a node, or nil",
			len(mask), g.NumNodes())
	}
	return ended.Err(ctx)
}

type ticker struct {
	ctx   context.Context
	steps int
}

const stepsPerTick = 1 << 14

func (t *ticker) tick(steps int) error {
	if t.steps += steps + 1; t.steps < stepsPerTick {
		return nil
	}
	t.steps = 0
	return ended.Err(t.ctx)
}
