// Package nmgnn provides masked graph neural network layers on GoMLX, and models made of them.
//
// Equations are numbered as in Mishra, Piktus, Goossen, Silvestri: Node Masking (arXiv 2001.07524). h is [nodes,
// width], N_v is row v of a [csr.Graph], and δ is the Bernoulli select function: 1 for kept nodes, 0 for masked ones,
// drawn once an epoch and shared by all layers ([Pass].Mask).
//
//   - The code of a [Layer] reads like its equation: [GIN] is eq. 8, [GAT] eq. 7, [SGAT] eq. 9.
//   - [Neighbours] computes sums, means, maxima and attention over N_v; an [Input] is a layer's input.
//   - A [Model] stacks layers, dropout and activations; [Build] makes one from hyperparameters.
//   - A [Regulariser] adds to node masking or replaces it.
//   - [Load] puts a graph and its features into variables.
//
// Functions that build computations panic with an error, as GoMLX's do. The subpackages catch such panics and return
// the error.
package nmgnn
