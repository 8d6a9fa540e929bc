//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused

// What tests may ask that nobody else can: what becomes of types that are others, and which version is in use.
var (
	CheckXLA  = checkTypes
	VersionOf = versionOf
)
