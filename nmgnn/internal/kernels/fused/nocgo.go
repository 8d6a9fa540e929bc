//go:build !(cgo && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package fused

import (
	"errors"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels/fused/triton"
)

var errNoXLA = errors.New("XLA is not part of this build: it needs cgo, on Linux or an Apple processor")

// Register returns an error: XLA is not part of this build.
func Register(compute.Backend, string) error { return errNoXLA }

// Platform returns an error: XLA is not part of this build.
func Platform(compute.Backend) (string, error) { return "", errNoXLA }

// ForGPU returns an error: XLA is not part of this build.
func ForGPU(compute.Backend, func(triton.Kernel, []any) error) error { return errNoXLA }

// KeepMemory does nothing: XLA is not part of this build.
func KeepMemory() {}

// Donate does nothing: XLA is not part of this build.
func Donate(*graph.Node) {}

func takesForeign(*graph.Graph) bool { return false }

func makeForeign(string, string, int32, []compute.Value) error { return errNoXLA }

func parts(Matrix, string, int, []*graph.Node) []*graph.Node { return nil }

func toGPU(_ *graph.Graph, _ string, _ [2]int, inputs []*graph.Node) ([]*graph.Node, func([]*graph.Node) error) {
	return inputs, nil
}
