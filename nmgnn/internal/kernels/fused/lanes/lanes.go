// Package lanes computes with WebAssembly's vector instructions, which Go does not use. A program compiled to
// WebAssembly hands a small second module (lanes.wasm, made of lanes.c by build.sh) its own memory, so that nothing is
// copied: a call takes the addresses of slices. Results are those of the Go loops in package fused, to the last bit.
package lanes

import (
	"math"
	"unsafe"
)

// A Function is one of those in lanes.c.
type Function int

// The functions of the module, in the order of names.
const (
	Times Function = iota
	Total
	Agreement
	Attend
	AttendBackward
	Drop
	ELU
	Score
	ScoreBackward
	Sums
	Differences
	Products
	Quotients
	Maxima
	Signs
	Roots
	ColumnSums
	Transpose
	Dot
	functions
)

// Word is a field of what lanes.c calls a function's args: an address or a number.
type Word uint32

// Slice is the address of a slice's first number; 0 for no slice. Somebody must hold the slice until the call returns.
func Slice[T float32 | int32 | uint32](x []T) Word {
	p := unsafe.Pointer(unsafe.SliceData(x))
	escape(p)
	return Word(uintptr(p))
}

// escape keeps what a pointer points to off the stack, which moves when it grows: the compiler does not know what is in
// a variable.
var escape = func(unsafe.Pointer) {}

// Int is a count.
func Int(n int) Word { return Word(int32(n)) }

// Float is a number.
func Float(x float32) Word { return Word(math.Float32bits(x)) }

// Bool is 1 for true.
func Bool(is bool) Word {
	if is {
		return 1
	}
	return 0
}
