// Package lanes has loops of package fused, written with vector instructions because Go's compiler emits none. Results
// equal those of the loops in Go bit for bit.
//
// On amd64, the functions of avx2.go call AVX2 assembly. Package fused may not contain assembly, because it uses cgo.
// In WebAssembly, each [Function] is in the module lanes.wasm, which build.sh builds from lanes.c. This module shares
// the program's memory, so calls copy nothing.
package lanes

import (
	"math"
	"unsafe"
)

// A Function is a function of lanes.wasm.
type Function int

// The functions are in the order of the array called names in lanes_js.go.
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

// Word is a field of an argument struct in lanes.c: a 32-bit address or number.
type Word uint32

// Slice returns the address of a slice's first number, or 0 for nil. Keep the slice alive until [Function.Run] returns.
func Slice[T float32 | int32 | uint32](x []T) Word {
	p := unsafe.Pointer(unsafe.SliceData(x))
	escape(p)
	return Word(uintptr(p))
}

// escape makes Go store its argument on the heap, because a stack may move.
var escape = func(unsafe.Pointer) {}

// Int returns a count as a Word.
func Int(n int) Word { return Word(int32(n)) }

// Float returns a number as a Word.
func Float(x float32) Word { return Word(math.Float32bits(x)) }

// Bool returns 1 for true, else 0.
func Bool(is bool) Word {
	if is {
		return 1
	}
	return 0
}
