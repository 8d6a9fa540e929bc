//go:build !(cgo && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package fused

import (
	"errors"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
)

var errNoXLA = errors.New("XLA is not part of this build: it needs cgo, on Linux or an Apple processor")

// Register returns an error: this build lacks XLA.
func Register(compute.Backend, string) error { return errNoXLA }

// Platform returns an error: this build lacks XLA.
func Platform(compute.Backend) (string, error) { return "", errNoXLA }

// KeepMemory does nothing: this build lacks XLA.
func KeepMemory() {}

// Donate does nothing: this build lacks XLA.
func Donate(*graph.Node) {}

func takesForeign(compute.Backend) bool { return false }

func makeForeign(string, compute.Value) error { return errNoXLA }
