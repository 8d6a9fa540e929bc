// Package fused multiplies with sparse matrices and computes attention, dropout and ELU, each in one loop over entries,
// called a kernel. Kernels are in C for XLA on a CPU and in Go for GoMLX's pure-Go backend; WebAssembly uses package
// lanes. [Hasten] also replaces some of GoMLX's pure-Go operations.
//
// [Register] adds the kernels to XLA; importing this package adds them to the pure-Go backend. [Register] and
// [Intercepted] return an error for versions of go-xla and GoMLX that were not tried. The methods of [Matrix] call
// kernels, without gradients.
package fused
