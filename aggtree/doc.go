// Package aggtree builds, counts, checks and compares aggregation trees: what a k-layer graph neural network (GNN) sees
// of a graph from one node (the paper's sections 3 to 5). Where the paper reasons about such trees, this package
// computes.
//
// # Definition
//
// The paper: P_v^k are the walks of k hops that start at v; T_v^k, the k-aggregation tree of v, is the smallest
// arborescence rooted at v whose paths from the root to a leaf are exactly P_v^k. A walk may repeat nodes, so the tree
// holds replicas. The base of a tree node is the node of the graph that it stands for.
//
// We add one thing. A walk that reaches a node without neighbours ends there, before k hops, and its last node stays in
// the tree as a leaf above depth k. That node still contributes its own features, so theorem 1 would be false without
// it. In an undirected graph only an isolated root is such a node; in a directed or a masked graph any node may be.
// Where no walk ends early, the two definitions agree.
//
// # Masked trees
//
// A masked node (section 5, eq. 6) is in no child set, but may be the root. All functions take the mask as a slice with
// an entry for each node of the graph, true for a masked node, or nil if none is masked. It is one draw of the
// Bernoulli select function, the same in all layers.
//
// # Theorem 1, and a node's own representation
//
// A layer computes h_v^(j) from h_v^(j-1) and from h_u^(j-1) of the u ∈ N_v. T_v^k has no branch for h_v^(k-1), and
// needs none: by lemma 1, T_v^(k-1) is T_v^k cut off at depth k-1. Let k layers run over the tree, with edges that
// point to the parent ([Tree.AsGraph]). After j layers a tree node at depth d has the representation that its base has
// in the graph whenever j ≤ k-d: by induction, since its children, one level deeper, are right after j-1 layers, and
// it has all of them. The root, d = 0, is right after all k. Representations with j > k-d are wrong, since leaves lack
// their neighbours, but no right one is computed from them.
//
// The layer must be as eq. 1 says: its weights come from v and the neighbours that it aggregates. GCN's weights also
// come from the degrees of the neighbours, which leaves of the tree have lost, and masked GAT and SGAT (eqs. 7 and 9)
// normalise over masked neighbours too. Give the first the degrees of the graph, and the others the unmasked tree and
// the mask.
//
// # Cached trees
//
// See [BuildCached] for the trees of nodes that arrive after training (section 4, eq. 4).
//
// # Drawing
//
// Package draw writes trees as text or SVG and draws the paper's figures 1 to 7; package explorer
// writes pages on which readers play with the trees of a graph.
package aggtree
