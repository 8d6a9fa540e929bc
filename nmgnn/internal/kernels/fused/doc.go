// Package fused has kernels. Each kernel is a single loop that multiplies with a sparse matrix, or computes attention,
// dropout or ELU. Kernels are in C for XLA on a CPU and in Go for GoMLX's pure-Go backend. Kernels in Go use vector
// instructions from package lanes: most in WebAssembly, some on amd64. [Hasten] replaces some of GoMLX's own pure-Go
// operations.
//
// [Register] adds the kernels to XLA; importing this package adds them to the pure-Go backend. [Register] and
// [Intercepted] return an error for versions of go-xla and GoMLX that were not tried. The methods of [Matrix] call
// kernels and define no gradients.
package fused
