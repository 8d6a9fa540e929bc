// Package fused multiplies with sparse matrices and computes attention, dropout and ELU, each in one loop over entries:
// in C for XLA on a CPU, in Go for GoMLX's pure-Go backend, through package lanes in WebAssembly. [Hasten] also
// replaces some of GoMLX's pure-Go operations.
//
// Neither backend accepts foreign operations. [Register] adds them to XLA; linking this package adds them to GoMLX.
// [Register] and [Intercepted] return an error for unsupported versions. The methods of [Matrix] call the kernels,
// without gradients.
package fused
