// Package fused has kernels: single loops over entries that multiply with sparse matrices or compute attention,
// dropout or ELU. Kernels are in C for XLA on a CPU and in Go for GoMLX's pure-Go backend. Most kernels in Go use
// vector instructions from package lanes in WebAssembly, and some on amd64. [Hasten] also replaces some of GoMLX's
// pure-Go operations.
//
// [Register] adds the kernels to XLA; importing this package adds them to the pure-Go backend. [Register] and
// [Intercepted] return an error for versions of go-xla and GoMLX that were not tried. The methods of [Matrix] call
// kernels and define no gradients.
package fused
