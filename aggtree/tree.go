package aggtree

import (
	"fmt"
	"slices"

	"nodemask/csr"
)

// Tree is an aggregation tree T_v^k. Its nodes are numbered level by level from the root, which is 0, so the children
// of a node have successive numbers, and so have all its descendants at one depth. Siblings ascend by base. A tree
// takes 12 bytes a node, 4 more if masked, and 4 more if cached. No method changes it, so several goroutines may use it
// at once.
type Tree struct {
	// Graph is what the tree was built from, for drawings of it; of a cached tree, the train graph, which the root is
	// not in.
	Graph *csr.Graph
	// Mask is true for each node of Graph that was masked; nil: none was.
	Mask []bool
	// Hops is k, the depth below which there are no nodes.
	Hops int
	// Base is the node of the graph that each tree node stands for [nodes].
	Base []int32
	// Parent is the parent of each tree node, and -1 for the root [nodes].
	Parent []int32
	// FirstChild says where children begin [nodes+1]: those of i are FirstChild[i] up to, but not including,
	// FirstChild[i+1].
	FirstChild []int32
	// Level says where levels begin [Hops+2]: the nodes at depth d are Level[d] up to, but not including, Level[d+1].
	Level []int32
	// Hidden is the number of neighbours of its base that a mask keeps out of each node's child set [nodes]: 0 for a
	// node at depth Hops, which has no child set. It is nil for a tree built without a mask.
	Hidden []int32
	// RootMasked reports that the root's base is masked, so that it has no replica further down (section 5).
	RootMasked bool
	// Group says in which cached subtree each node of a cached tree lies [nodes]: that of tree node Group[i]+1, a child
	// of the root. It is -1 for the root. It is nil for a tree that is not cached.
	Group []int32
}

// NumNodes returns the number of tree nodes, replicas included.
func (t *Tree) NumNodes() int { return len(t.Base) }

// Children returns the range of node i's children, from first up to, but not including, end. They ascend by base.
func (t *Tree) Children(i int32) (first, end int32) { return t.FirstChild[i], t.FirstChild[i+1] }

// Depth returns the number of hops from the root to node i.
func (t *Tree) Depth(i int32) int {
	above, _ := slices.BinarySearch(t.Level, i+1)
	return above - 1
}

// AtDepth returns the range of nodes at a depth, from first up to, but not including, end: empty for a depth that the
// tree cannot have.
func (t *Tree) AtDepth(depth int) (first, end int32) {
	if depth < 0 || depth > t.Hops {
		return 0, 0
	}
	return t.Level[depth], t.Level[depth+1]
}

// IsLeaf reports whether node i has no children: it lies at depth Hops, or its base has no unmasked neighbours.
func (t *Tree) IsLeaf(i int32) bool { return t.FirstChild[i] == t.FirstChild[i+1] }

// Walk returns the bases on the path from the root to node i, both included: the walk that i stands for.
func (t *Tree) Walk(i int32) []int32 {
	var walk []int32
	for ; i >= 0; i = t.Parent[i] {
		walk = append(walk, t.Base[i])
	}
	slices.Reverse(walk)
	return walk
}

// Descendants returns node i and the nodes below it, at most depth levels further down, as one range [first, end) for
// each level that is not empty. In a cached tree, the descendants of a child u of the root down to depth j are what
// h̃_u^(j) captured: a dotted box in the paper's figure 6, for each j from 1 to Hops-1.
func (t *Tree) Descendants(i int32, depth int) [][2]int32 {
	var levels [][2]int32
	for level := [2]int32{i, i + 1}; level[0] < level[1] && depth >= 0; depth-- {
		levels = append(levels, level)
		level = [2]int32{t.FirstChild[level[0]], t.FirstChild[level[1]]}
	}
	return levels
}

// AsGraph returns the tree as a graph that a GNN can run over: row i lists the children of tree node i, from which it
// aggregates. Give tree node i the features of Base[i]. After as many layers as the tree has hops, row 0 is the root's
// representation (theorem 1; the package's description says why, and for which layers). For a cached tree it is the
// approximation of eq. 4.
func (t *Tree) AsGraph() *csr.Graph {
	n := t.NumNodes()
	g := &csr.Graph{Offsets: make([]int64, n+1), Indices: make([]int32, max(n-1, 0))}
	// All nodes but the root are children, in the order of their parents: node j is entry j-1.
	for i, first := range t.FirstChild {
		g.Offsets[i] = int64(first) - 1
	}
	for j := range g.Indices {
		g.Indices[j] = int32(j) + 1
	}
	return g
}

// String returns the tree in a line: "Tree(node 5, 2 hops: 33 tree nodes)".
func (t *Tree) String() string {
	return fmt.Sprintf("Tree(node %d, %d hops: %d tree nodes)", t.Base[0], t.Hops, t.NumNodes())
}
