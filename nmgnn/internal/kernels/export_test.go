package kernels

import "github.com/gomlx/gomlx/core/graph"

// IsLean reports whether [Lean] holds for a computation.
func IsLean(g *graph.Graph) bool {
	is, _ := lean(g)
	return is
}

// InBlocks returns d with another block size.
func InBlocks(d Dropped, numbers int) Dropped {
	d.block = numbers
	return d
}
