package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
)

// leak is the slope of LeakyReLU below zero, in attention.
const leak = 0.2

// GAT is the masked Graph Attention Network layer (eq. 7; eq. 2 without a mask). For each head:
//
//	h'_v = Σ_{u ∈ v∪N_v} δ(u)·α_vu·W·h_u + b
//	α_vu = softmax over u ∈ v∪N_v of LeakyReLU(a_target·W·h_v + a_source·W·h_u)
//
// δ(u) is 0 for masked u, else 1. Masking v also masks v's own term. The softmax includes masked neighbours, so their
// weight is not redistributed. Heads' outputs are concatenated.
type GAT struct {
	Heads   int     // 0 means 1 head
	Width   int     // outputs of each head
	Dropout float64 // probability of dropping an attention weight in training; 0 in the paper if nodes are masked
	// KeepSelf keeps a masked node's own term in its attention sum, a possible interpretation of eq. 6.
	KeepSelf bool
}

// Forward implements [Layer]: it returns [nodes, Heads·Width].
func (l GAT) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	heads := max(l.Heads, 1)
	out := heads * l.Width
	g := h.Graph()
	near = near.WithSelf()
	if l.KeepSelf {
		near, mask = near.MaskOthers(mask), nil
	}
	wh := h.Times(GlorotWeights(scope, g, "weights", h.Width(), out))
	source, target := near.Scores(wh, GlorotWeights(scope, g, "source", heads, l.Width),
		GlorotWeights(scope, g, "target", heads, l.Width))
	return near.PairAttention(source, target, leak, wh, mask, ZeroWeights(scope, g, "biases", 1, out), l.Dropout)
}

var _ = named("gat", func(p hyper.Parameters, width, heads int) Layer {
	return GAT{Heads: heads, Width: width / heads, Dropout: p.AttentionDropout, KeepSelf: p.SelfTerm == hyper.SelfKept}
})

func (l GAT) check() error { return checkAttention(l.Heads, l.Width, l.Dropout) }
