package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
)

// GATv2 is [GAT] with the attention of Brody, Alon and Yahav (2022). For each head:
//
//	h'_v = Σ_{u ∈ v∪N_v} δ(u)·α_vu·s_u + b
//	α_vu = softmax over u ∈ v∪N_v of a·LeakyReLU(s_u + t_v)
//	s = W_source·h + b_source, t = W_target·h + b_target
//
// δ(u) is 0 for masked u, else 1.
type GATv2 struct {
	Heads   int     // 0 means 1 head
	Width   int     // outputs of each head
	Dropout float64 // probability of dropping an attention weight in training
	// KeepSelf never masks a node's own term, as in [GAT].
	KeepSelf bool
}

// Forward implements [Layer]: it returns [nodes, Heads·Width].
func (l GATv2) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	heads := max(l.Heads, 1)
	out := heads * l.Width
	g := h.Graph()
	near = near.WithSelf()
	if l.KeepSelf {
		near, mask = near.MaskOthers(mask), nil
	}
	both := h.Times(Concatenate([]*Node{
		GlorotWeights(scope, g, "source_weights", h.Width(), out),
		GlorotWeights(scope, g, "target_weights", h.Width(), out),
	}, -1))
	source := Add(SliceAxis(both, 1, AxisRange(0, out)), ZeroWeights(scope, g, "source_biases", 1, out))
	target := Add(SliceAxis(both, 1, AxisRange(out, 2*out)), ZeroWeights(scope, g, "target_biases", 1, out))
	near.readsAll = true
	scores := near.product.LeakyScores(source, target, GlorotWeights(scope, g, "attention", heads, l.Width), leak,
		near.train)
	return Add(near.Attention(scores, source, mask, l.Dropout), ZeroWeights(scope, g, "biases", 1, out))
}

var _ = named("gatv2", func(p hyper.Parameters, width, heads int) Layer {
	return GATv2{Heads: heads, Width: width / heads, Dropout: p.AttentionDropout, KeepSelf: p.SelfTerm == hyper.SelfKept}
})

func (l GATv2) check() error { return checkAttention(l.Heads, l.Width, l.Dropout) }
