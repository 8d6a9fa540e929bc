// Package aggtree builds, counts, checks and compares aggregation trees: what a k-layer graph neural network (GNN) sees
// of a graph from one node (sections 3 to 5 of the paper).
//
// P_v^k are the walks of k hops from v. T_v^k, the k-aggregation tree of v, is the smallest arborescence rooted at v
// whose paths from root to leaf are exactly P_v^k. The base of a tree node is its graph node. We add: a walk that
// reaches a node without neighbours ends there, above depth k; otherwise theorem 1 would be false.
//
// A masked node (section 5, eq. 6) may be the root but never a child. A mask is one draw of the Bernoulli select
// function, the same in all layers.
//
// # Theorem 1, and a node's previous representation
//
// A layer computes h_v^(j) from h_v^(j-1) and the h_u^(j-1) of the neighbours u. T_v^k needs no branch for h_v^(k-1):
// its tree T_v^(k-1) is T_v^k cut off at depth k-1 (lemma 1). After j layers over the tree ([Tree.AsGraph]), a tree
// node at depth d has its base's representation if j ≤ k-d (by induction).
//
// The layer must follow eq. 1. GCN also reads neighbours' degrees, which a tree's leaves do not have: pass the graph's
// degrees. Masked GAT and SGAT (eqs. 7 and 9) also normalise over masked neighbours: pass the unmasked tree and the
// mask.
package aggtree
