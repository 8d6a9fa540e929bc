//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused

// What tests may ask that nobody else can: what becomes of a program that was built from other modules, whose types are others.
var (
	RegisterBuilt = register
	CheckXLA      = checkXLA
)
