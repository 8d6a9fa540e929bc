package fused

import (
	"sync"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels/fused/triton"
)

// gpus has the backends that compute on a GPU, or for one, and how they run our kernels.
var gpus sync.Map // compute.Backend → *ours; nil: it runs none

// ours runs a kernel, given the slices of numbers of its inputs and outputs; nil: XLA does.
type ours struct {
	run func(k triton.Kernel, arrays []any) error
}

// oursOn returns how our kernels for GPUs are run where a computation is built for; nil: they are not.
func oursOn(g *Graph) *ours {
	found, _ := gpus.Load(g.Backend())
	how, _ := found.(*ours)
	return how
}

// IsForGPU reports whether a computation is for a GPU that runs our kernels: see [ForGPU].
func IsForGPU(g *Graph) bool { return oursOn(g) != nil }

// OnGPU says that a backend is for a GPU. Unless [ForGPU] says more, it calls none of our kernels.
func OnGPU(b compute.Backend) { gpus.LoadOrStore(b, (*ours)(nil)) }

// IsOnGPU reports whether a backend is for a GPU.
func IsOnGPU(b compute.Backend) bool {
	_, ok := gpus.Load(b)
	return ok
}
