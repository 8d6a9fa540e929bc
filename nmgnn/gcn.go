package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// GCN is the layer of Kipf and Welling (2017) with node masking. With d_v = |v∪N_v|, masked or not:
//
//	h'_v = Σ_{u ∈ v∪N_v} δ(u)·W·h_u / √(d_u·d_v) + b
//
// As in GAT, v is one of the u, and masked too.
type GCN struct {
	Width int // outputs
}

// Forward maps h [nodes, in] to [nodes, Width]; mask is [nodes, 1], or nil for inactive.
func (l GCN) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	g := h.Graph()
	near = near.WithSelf()
	scale := Rsqrt(near.Degree(g))
	wh := Mul(h.Times(GlorotWeights(scope, g, "weights", h.Width(), l.Width)), scale)
	return Add(Mul(near.Sum(Masked(wh, mask)), scale), ZeroWeights(scope, g, "biases", 1, l.Width))
}

// SAGE is the mean aggregator of GraphSAGE (Hamilton, Ying, Leskovec 2017) with node masking:
//
//	h'_v = W_root·h_v + W·Σ_{u ∈ N_v} δ(u)·h_u / |N_v| + b
//
// |N_v| counts masked neighbours too, so nothing is rescaled. The root's own term is never masked. The mean over no
// neighbours is zero.
type SAGE struct {
	Width int // outputs
}

// Forward maps h [nodes, in] to [nodes, Width]; mask is [nodes, 1], or nil for inactive.
func (l SAGE) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	g := h.Graph()
	in := h.Width()
	// One product with both matrices side by side reads the features once.
	both := h.Times(Concatenate([]*Node{
		Weights(scope, g, "weights", in, in, l.Width), Weights(scope, g, "root_weights", in, in, l.Width)}, 1))
	neighbours := Masked(SliceAxis(both, 1, AxisRange(0, l.Width)), mask)
	root := SliceAxis(both, 1, AxisRange(l.Width, 2*l.Width))
	return Add(Add(root, near.Mean(neighbours)), Weights(scope, g, "biases", in, 1, l.Width))
}
