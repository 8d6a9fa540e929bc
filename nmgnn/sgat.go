package nmgnn

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
)

// SGAT is the masked layer of the simplified GAT (eq. 9 of the node-masking paper), which weighs v and its neighbours
// equally. δ(u) is 0 if u is masked, else 1:
//
//	h'_v = Σ_{u ∈ v∪N_v} δ(u)·W·h_u / |v∪N_v| + b
type SGAT struct {
	Width int // outputs per node
	// Dropout is the probability of dropping a weight 1/|v∪N_v| in training. The outputs are divided into Heads parts,
	// and each part drops its own weights, like a head of [GAT]. Heads 0 means 1.
	Dropout float64
	Heads   int
	// KeepSelf means that only neighbours' terms are masked, never a node's own term.
	KeepSelf bool
}

// Forward implements [Layer]: it returns [nodes, Width].
func (l SGAT) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	g := h.Graph()
	near = near.WithSelf()
	if l.KeepSelf {
		near, mask = near.MaskOthers(mask), nil
	}
	wh := h.Times(GlorotWeights(scope, g, "weights", h.Width(), l.Width))
	var mean *Node
	if near.drops(l.Dropout) {
		near.random.Next() // unused, but needed to reproduce recorded results
		alike := ZerosLike(near.Targets(Zeros(g, shapes.Make(wh.DType(), near.NumNodes(), max(l.Heads, 1)))))
		mean = near.Attention(alike, wh, mask, l.Dropout)
	} else {
		mean = near.Mean(wh, mask)
	}
	return Add(mean, ZeroWeights(scope, g, "biases", 1, l.Width))
}

var _ = named("sgat", func(p hyper.Parameters, width, heads int) Layer {
	return SGAT{Heads: heads, Width: width, Dropout: p.AttentionDropout, KeepSelf: p.SelfTerm == hyper.SelfKept}
})

func (l SGAT) check() error { return checkAttention(l.Heads, l.Width, l.Dropout) }
