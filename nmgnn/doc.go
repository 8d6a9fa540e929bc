// Package nmgnn provides masked graph neural network layers on GoMLX, and models of them.
//
// Equations are numbered as in Mishra, Piktus, Goossen, Silvestri: Node Masking (arXiv 2001.07524). h is [nodes,
// width], N_v is row v of a [csr.Graph], and δ is the Bernoulli select function: a vector with one entry a node, 1 for
// kept and 0 for masked, drawn once an epoch and shared by all layers ([Mask]).
//
//   - A [Layer] reads like its equation: [GIN] is eq. 8, [GAT] eq. 7, [SGAT] eq. 9.
//   - [Neighbours] computes Σ_{u∈N_v}, means, maxima and attention; an [Input] is what a layer reads. Neither says
//     how sums are
//     computed: that is up to package kernels.
//   - A [Model] stacks layers, with dropout and an activation between them; [Build] makes one from hyperparameters.
//   - A [Regulariser] can stand beside node masking or in its place.
//   - [Load] puts a graph and its features where a computation finds them.
//
// Below this package: backend opens what computes, train trains, infer runs a model over any graph, cached predicts
// nodes that arrive later, theorem checks theorem 1, explain says why a model predicts what it does.
//
// Functions that build computations panic with an error, as GoMLX's do; the entry points of the packages below turn
// that into an error.
package nmgnn
