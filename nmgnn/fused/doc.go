// Package fused multiplies with sparse matrices and computes attention in loops of its own, written in C for this
// processor's vector instructions, which XLA's CPU programs call as foreign functions. An edge is visited once and what
// belongs to it stays in registers, where XLA alone would make a pass over all edges for each operation.
//
// [Register] has a plugin know the kernels; then methods of [Matrix] put calls of them into a computation. None of them has
// a gradient of its own.
package fused
