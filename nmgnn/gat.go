package nmgnn

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"
)

// leak is the slope of the LeakyReLU in attention scores, below zero.
const leak = 0.2

// GAT is the masked layer of the Graph Attention Network (eq. 7; eq. 2 without a mask). For each head:
//
//	h'_v = Σ_{u ∈ v∪N_v} δ(u)·α_vu·W·h_u + b
//	α_vu = softmax over u ∈ v∪N_v of LeakyReLU(a_target·W·h_v + a_source·W·h_u)
//
// The softmax sees masked neighbours: what they leave out is not given to the others. v itself is one of the u, so it is
// masked too. The heads' results are concatenated.
type GAT struct {
	Heads   int     // 0: 1
	Width   int     // outputs of each head
	Dropout float64 // of α, in training: the probability of being dropped. The paper has none with node masking.
}

// Forward maps h [nodes, in] to [nodes, Heads·Width]; mask is [nodes, 1], or nil for inactive.
func (l GAT) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	heads := max(l.Heads, 1)
	out := heads * l.Width
	g := h.Graph()
	near = near.WithSelf()
	wh := h.Times(GlorotWeights(scope, g, "weights", h.Width(), out))
	source, target := near.Scores(wh, GlorotWeights(scope, g, "source", heads, l.Width), GlorotWeights(scope, g, "target", heads, l.Width))
	return Add(near.PairAttention(source, target, leak, Masked(wh, mask), l.Dropout), ZeroWeights(scope, g, "biases", 1, out))
}

// scoreHeads is a·x for each head's share of the columns: x [rows, heads·width], a [heads, width] → [rows, heads].
func scoreHeads(x, a *Node) *Node {
	heads, width := a.Shape().Dimensions[0], a.Shape().Dimensions[1]
	return ReduceSum(Mul(Reshape(x, x.Shape().Dimensions[0], heads, width), Reshape(a, 1, heads, width)), 2)
}

// SGAT is the masked layer of the simplified GAT (eq. 9), in which all of v and its neighbours weigh alike:
//
//	h'_v = Σ_{u ∈ v∪N_v} δ(u)·W·h_u / |v∪N_v| + b
type SGAT struct {
	Width int // outputs
	// Dropout is of the weights 1/|v∪N_v|, in training: the probability of being dropped. The paper has none with node
	// masking. Each of Heads shares of the outputs drops weights of its own, as GAT's heads do; 0: 1.
	Dropout float64
	Heads   int
}

// Forward maps h [nodes, in] to [nodes, Width]; mask is [nodes, 1], or nil for inactive.
func (l SGAT) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	g := h.Graph()
	wh := Masked(h.Times(GlorotWeights(scope, g, "weights", h.Width(), l.Width)), mask)
	near = near.WithSelf()
	mean := near.Mean(wh)
	even := ZerosLike(near.Targets(Zeros(g, shapes.Make(wh.DType(), near.NumNodes(), max(l.Heads, 1)))))
	if near.EntryDropout(even, l.Dropout) != even {
		mean = near.Attention(even, wh, l.Dropout) // scores that are all alike
	}
	return Add(mean, ZeroWeights(scope, g, "biases", 1, l.Width))
}

// GATv2 is GAT with the attention of Brody, Alon and Yahav (2022), masked likewise. For each head:
//
//	h'_v = Σ_{u ∈ v∪N_v} δ(u)·α_vu·s_u + b
//	α_vu = softmax over u ∈ v∪N_v of a·LeakyReLU(s_u + t_v), with s = W_source·h + b_source, t = W_target·h + b_target
type GATv2 struct {
	Heads   int     // 0: 1
	Width   int     // outputs of each head
	Dropout float64 // of α, in training
}

// Forward maps h [nodes, in] to [nodes, Heads·Width]; mask is [nodes, 1], or nil for inactive.
func (l GATv2) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	heads := max(l.Heads, 1)
	out := heads * l.Width
	g := h.Graph()
	near = near.WithSelf()
	// One product with both matrices side by side reads the features once.
	both := h.Times(Concatenate([]*Node{
		GlorotWeights(scope, g, "source_weights", h.Width(), out), GlorotWeights(scope, g, "target_weights", h.Width(), out)}, 1))
	source := Add(SliceAxis(both, 1, AxisRange(0, out)), ZeroWeights(scope, g, "source_biases", 1, out))
	target := Add(SliceAxis(both, 1, AxisRange(out, 2*out)), ZeroWeights(scope, g, "target_biases", 1, out))
	pairs := activation.LeakyReluWith(Add(near.Sources(source), near.Targets(target)), leak)
	scores := scoreHeads(pairs, GlorotWeights(scope, g, "attention", heads, l.Width))
	return Add(near.Attention(scores, Masked(source, mask), l.Dropout), ZeroWeights(scope, g, "biases", 1, out))
}
