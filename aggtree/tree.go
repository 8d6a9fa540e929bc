package aggtree

import (
	"slices"

	"nodemask/csr"
)

// Tree is an aggregation tree T_v^k. Nodes are numbered level by level from the root, which is 0, so children have
// successive numbers, and so have all descendants of one node at one depth. Siblings ascend by base. It takes 12 bytes a
// node, 4 more if masked, and 4 more if cached. A Tree is read-only once built, and so is safe for concurrent use.
type Tree struct {
	// Hops is k: no node lies deeper.
	Hops int
	// Base is the node of the graph that each tree node stands for.
	Base []int32
	// Parent is -1 for the root.
	Parent []int32
	// FirstChild has one entry more than there are nodes: the children of i are FirstChild[i] up to, but not including,
	// FirstChild[i+1].
	FirstChild []int32
	// Level has Hops+2 entries: the nodes at depth d are Level[d] up to, but not including, Level[d+1].
	Level []int32
	// Hidden is how many neighbours of its base a mask keeps out of each node's child set: 0 for a node at depth Hops, which
	// has no child set. It is nil for a tree built without a mask.
	Hidden []int32
	// RootMasked says that the root's base is masked, so that it has no replica further down (section 5).
	RootMasked bool
	// Group says for each node of a cached tree in which cached subtree it lies: that of the root's child number Group[i],
	// from 0, which is tree node Group[i]+1; -1 for the root. It is nil for a tree that is not cached.
	Group []int32
}

// NumNodes is the number of tree nodes, replicas included.
func (t *Tree) NumNodes() int { return len(t.Base) }

// Children are the nodes from first up to, but not including, end, in ascending order of their bases.
func (t *Tree) Children(i int32) (first, end int32) { return t.FirstChild[i], t.FirstChild[i+1] }

// Depth is the number of hops from the root to node i.
func (t *Tree) Depth(i int32) int {
	above, _ := slices.BinarySearch(t.Level, i+1)
	return above - 1
}

// AtDepth are the nodes at a depth: from first up to, but not including, end. There are none at a depth that the tree
// cannot have.
func (t *Tree) AtDepth(depth int) (first, end int32) {
	if depth < 0 || depth > t.Hops {
		return 0, 0
	}
	return t.Level[depth], t.Level[depth+1]
}

// IsLeaf says whether node i has no children: it lies at depth Hops, or its base has no unmasked neighbours.
func (t *Tree) IsLeaf(i int32) bool { return t.FirstChild[i] == t.FirstChild[i+1] }

// Walk is the bases on the path from the root to node i, both included: the walk that i stands for.
func (t *Tree) Walk(i int32) []int32 {
	var walk []int32
	for ; i >= 0; i = t.Parent[i] {
		walk = append(walk, t.Base[i])
	}
	slices.Reverse(walk)
	return walk
}

// Descendants are node i and what lies below it, at most depth levels further down, as one range of nodes [first, end) a
// level; empty levels are left out. In a cached tree, the descendants of a child u of the root down to depth j are what
// h̃_u^(j) captured: a dotted box in the paper's figure, for each j from 1 to Hops-1.
func (t *Tree) Descendants(i int32, depth int) [][2]int32 {
	var levels [][2]int32
	for level := [2]int32{i, i + 1}; level[0] < level[1] && depth >= 0; depth-- {
		levels = append(levels, level)
		level = [2]int32{t.FirstChild[level[0]], t.FirstChild[level[1]]}
	}
	return levels
}

// AsGraph is the tree as a graph that a GNN can run over: row i lists the children of tree node i, from which it
// aggregates, so edges point to the parent. The features of tree node i are those of Base[i]. After as many layers as the
// tree has hops, row 0 is the root's representation (theorem 1; the package's description says why, and for which layers).
// For a cached tree it is the approximation of eq. 4.
func (t *Tree) AsGraph() *csr.Graph {
	n := t.NumNodes()
	g := &csr.Graph{Offsets: make([]int64, n+1), Indices: make([]int32, max(n-1, 0))}
	// Nodes but the root are all somebody's child, in the order of their parents: node j is target number j-1.
	for i, first := range t.FirstChild {
		g.Offsets[i] = int64(first) - 1
	}
	for j := range g.Indices {
		g.Indices[j] = int32(j) + 1
	}
	return g
}
