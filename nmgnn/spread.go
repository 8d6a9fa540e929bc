package nmgnn

import . "github.com/gomlx/gomlx/core/graph"

// Min returns the minimum of h_u over u ∈ N_v with δ(u) = 1, per column; 0 if there are none: h [nodes, width] →
// [nodes, width].
func (n Neighbours) Min(h, mask *Node) *Node { return Neg(n.Max(Neg(h), mask)) }

// Std returns the standard deviation of h_u over u ∈ N_v, per column, as in PNA: √(max(mean h² − (mean h)², 0) + 10⁻⁵),
// h [nodes, width] → [nodes, width]. Masked neighbours count as 0 in both means.
func (n Neighbours) Std(h, mask *Node) *Node {
	mean := n.Mean(h, mask)
	variance := Sub(n.Mean(Square(h), mask), Square(mean))
	return Sqrt(AddScalar(Max(variance, ZerosLike(variance)), 1e-5))
}
