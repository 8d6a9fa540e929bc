// Package aggtree builds, counts, checks and compares aggregation trees: what a graph neural network (GNN) of k layers
// reads of a graph to compute one node's output (sections 3 to 5 of the paper).
//
// P_v^k are the walks of k hops from v. T_v^k, the k-aggregation tree of v, is the smallest arborescence rooted at v
// whose paths from root to leaf are exactly P_v^k. The base of a tree node is the graph node that it stands for.
//
// Theorem 1 says that a k-layer GNN's output at v depends only on T_v^k. We add one rule, without which the theorem
// would be false: a walk that reaches a node without neighbours ends there, although it has fewer than k hops.
//
// A masked node (section 5, eq. 6) may be the root but never a child. A mask is one draw of the Bernoulli select
// function, the same in all layers.
//
// # Theorem 1, and a node's previous representation
//
// Layer j computes h_v^(j) from h_v^(j-1) and the h_u^(j-1) of the neighbours u. T_v^k needs no extra branch for v's
// own h_v^(k-1), because h_v^(k-1) depends only on T_v^k cut off at depth k-1 (lemma 1). After j layers on the tree
// ([Tree.AsGraph]), a tree node at depth d ≤ k-j has the same representation as its base has in the graph.
//
// The layers must follow eq. 1. GCN also reads neighbours' degrees, which a tree's leaves do not have. So, on a tree,
// give the model the graph's degrees. Masked GAT and SGAT (eqs. 7 and 9) also normalise over masked neighbours. So give
// the model the unmasked tree and the mask.
package aggtree
