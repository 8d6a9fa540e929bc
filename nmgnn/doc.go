// Package nmgnn provides masked graph neural networks on GoMLX: layers, models, training and metrics.
//
// Equations are numbered as in Mishra, Piktus, Goossen, Silvestri: Node Masking (arXiv 2001.07524). h is [nodes, width],
// N_v is row v of a [csr.Graph], and δ is the Bernoulli select function: a vector with one entry a node, 1 for kept and
// 0 for masked, drawn once an epoch and shared by all layers ([Mask]).
//
// The pieces, from the inside out:
//
//   - a [Layer] reads like its equation: [GIN] is eq. 8;
//   - a [Model] stacks layers, with dropout and an activation between them;
//   - [Neighbours] computes Σ_{u∈N_v}, by whichever [Kernel] is fastest for the backend, often that of package fused;
//     layers never know which;
//   - a [Trainer] compiles a model for one [datasets.View] once, and trains it as often as wanted, each time giving a [Trial];
//   - [OpenBackend] finds what computes: XLA on a GPU or CPU, or pure Go.
//
// Functions that build computations panic with an error, as GoMLX's do; those that run something return errors.
package nmgnn
