// Package aggtree builds, counts, checks and compares aggregation trees: what a k-layer graph neural network (GNN) sees
// of a graph from one node (the paper's sections 3 to 5).
//
// P_v^k are the walks of k hops from v. T_v^k, the k-aggregation tree of v, is the smallest arborescence rooted at v
// whose paths from the root to a leaf are exactly P_v^k. The base of a tree node is the graph node that it stands for.
// Our addition: a walk that reaches a node without neighbours ends there, as a leaf above depth k; without it theorem 1
// would be false.
//
// A masked node (section 5, eq. 6) is in no child set, but may be the root. A mask is one draw of the Bernoulli select
// function, the same in all layers.
//
// # Theorem 1, and a node's own representation
//
// A layer computes h_v^(j) from h_v^(j-1) and from h_u^(j-1) of the u ∈ N_v. T_v^k needs no branch for h_v^(k-1): by
// lemma 1, T_v^(k-1) is T_v^k cut off at depth k-1. After j layers over the tree ([Tree.AsGraph]) a tree node at depth
// d has its base's representation whenever j ≤ k-d: by induction, its children, one level deeper, are right after j-1
// layers.
//
// The layer must follow eq. 1. GCN also reads the neighbours' degrees, which leaves have lost: give it the graph's.
// Masked GAT and SGAT (eqs. 7 and 9) normalise over masked neighbours too: give them the unmasked tree and the mask.
package aggtree
