package nmgnn

import . "github.com/gomlx/gomlx/core/graph"

// Min maps h [nodes, width] to [nodes, width]: row v has the least h_u of the u ∈ N_v with δ(u) = 1, column by column;
// zeros where there are none.
func (n Neighbours) Min(h, mask *Node) *Node { return Neg(n.Max(Neg(h), mask)) }

// Std maps h [nodes, width] to [nodes, width]: the standard deviation of the h_u of u ∈ N_v, column by column, as PNA
// has it: √(max(mean h² − (mean h)², 0) + 10⁻⁵). To both means of [Neighbours.Mean] a masked neighbour adds nothing.
func (n Neighbours) Std(h, mask *Node) *Node {
	mean := n.Mean(h, mask)
	variance := Sub(n.Mean(Square(h), mask), Square(mean))
	return Sqrt(AddScalar(Max(variance, ZerosLike(variance)), 1e-5))
}
