//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package fused

// For external tests: checks of other types, and the version in use.
var (
	CheckXLA  = checkTypes
	VersionOf = versionOf
)
