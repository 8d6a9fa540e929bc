package nmgnn

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
)

// GIN is the masked Graph Isomorphism Network layer (eq. 8; eq. 3 without a mask):
//
//	h'_v = MLP( (1+ε)·h_v + Σ_{u ∈ N_v} δ(u)·h_u )
//
// δ(u) is 0 for masked u, else 1. v's own term is never masked, and nothing is rescaled.
type GIN struct {
	Width   []int   // widths of the MLP's linear layers, with ReLUs between them
	Epsilon float64 // 0 gives the paper's GIN-0
	// LearnEpsilon trains ε, which starts at Epsilon (GIN-ε).
	LearnEpsilon bool
	// Norm adds batch normalisation after each linear layer but the last, before the ReLU.
	Norm bool
}

// Forward implements [Layer]: it returns [nodes, Width[last]].
func (l GIN) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	// Since W·Σh = Σ(W·h), h is multiplied by W first. Sums have Width[0] columns, and make no sparse features dense.
	w, b := linearWeights(scope.In("linear0"), h.Graph(), h.Width(), l.Width[0])
	z := h.Times(w)
	switch {
	case l.LearnEpsilon:
		root := Mul(z, AddScalar(ZeroWeights(scope, h.Graph(), "epsilon", 1, 1), 1+l.Epsilon))
		z = Add(Add(root, near.Sum(z, mask)), b)
	case l.Epsilon != 0:
		z = Add(Add(MulScalar(z, 1+l.Epsilon), near.Sum(z, mask)), b)
	default:
		z = near.rooted(z, b, mask)
	}
	for i, width := range l.Width[1:] {
		if l.Norm {
			z = batchNorm(scope.In("norm%d", i), near, z)
		}
		w, b := linearWeights(scope.In("linear%d", i+1), h.Graph(), l.Width[i], width)
		z = Add(Dense(relu(z)).Times(w), b)
	}
	return z
}

var _ = named("gin", func(p hyper.Parameters, width, _ int) Layer {
	mlp := slices.Repeat([]int{p.Hidden}, p.MLPLayers)
	mlp[len(mlp)-1] = width
	return GIN{Width: mlp, Epsilon: p.Epsilon, LearnEpsilon: p.LearnEpsilon, Norm: p.Norm != ""}
})

func (l GIN) check() error { return checkWidths(l.Width...) }
