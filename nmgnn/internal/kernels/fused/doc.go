// Package fused multiplies with sparse matrices and computes attention, dropout and ELU in loops of its own, written in
// C for XLA on a CPU and in Go for GoMLX's pure-Go backend. A loop visits an entry of a matrix once, and keeps what
// belongs to it in registers, where the backend alone would make a pass over all entries for each operation. In
// WebAssembly, the loops in Go call package lanes. They also take the place of some of GoMLX's own operations on a
// pure-Go backend that asks for it ([Hasten]).
//
// Neither backend lets others add operations. [Register] makes XLA run these all the same, and linking this package
// GoMLX's ([Intercepted]), or they return the reason why a version of them cannot. Then the methods of [Matrix] put
// calls of the kernels into a computation. None of them has a gradient of its own.
package fused
