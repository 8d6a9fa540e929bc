// Package aggtree builds, counts, checks and compares aggregation trees: what a k-layer graph neural network (GNN) sees
// of a graph from one node (the paper's sections 3 to 5).
//
// # Definition
//
// P_v^k are the walks of k hops from v. T_v^k, the k-aggregation tree of v, is the smallest arborescence rooted at v
// whose paths from the root to a leaf are exactly P_v^k. Walks may repeat nodes, so the tree holds replicas. The base
// of a tree node is the graph node that it stands for.
//
// Our addition: a walk that reaches a node without neighbours ends there, as a leaf above depth k. That node still
// contributes its features; without it theorem 1 would be false. In an undirected graph only an isolated root ends
// walks; in a directed or masked graph any node may.
//
// # Masked trees
//
// A masked node (section 5, eq. 6) is in no child set, but may be the root. Masks are slices with an entry per graph
// node, true for masked; nil: none. A mask is one draw of the Bernoulli select function, the same in all layers.
//
// # Theorem 1, and a node's own representation
//
// A layer computes h_v^(j) from h_v^(j-1) and from h_u^(j-1) of the u ∈ N_v. T_v^k needs no branch for h_v^(k-1): by
// lemma 1, T_v^(k-1) is T_v^k cut off at depth k-1. Run k layers over the tree, with edges to the parent
// ([Tree.AsGraph]). After j layers a tree node at depth d has its base's representation whenever j ≤ k-d: by induction,
// its children, one level deeper, are complete and right after j-1 layers. The root, d = 0, is right after all k.
// Representations with j > k-d are wrong, since leaves lack their neighbours, but no right one is computed from them.
//
// The layer must follow eq. 1: its weights come from v and the neighbours that it aggregates. GCN also reads the
// neighbours' degrees, which leaves have lost: give it the graph's. Masked GAT and SGAT (eqs. 7 and 9) normalise over
// masked neighbours too: give them the unmasked tree and the mask.
//
// # Cached trees
//
// See [BuildCached] for nodes that arrive after training (section 4, eq. 4).
//
// # Drawing
//
// Package draw writes text and SVG and draws the paper's figures 1 to 7; package explorer writes interactive pages.
package aggtree
