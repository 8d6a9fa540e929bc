package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
)

// GCN is the masked layer of Kipf and Welling (2017). d_v = |v∪N_v| counts masked nodes too:
//
//	h'_v = Σ_{u ∈ v∪N_v} δ(u)·W·h_u / √(d_u·d_v) + b
//
// δ(u) is 0 for masked u, else 1. Masking v also masks v's own term.
type GCN struct {
	Width int // outputs per node
}

// Forward implements [Layer]: it returns [nodes, Width].
func (l GCN) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	g := h.Graph()
	near = near.WithSelf()
	scale := Rsqrt(near.Degree(g))
	wh := Mul(h.Times(GlorotWeights(scope, g, "weights", h.Width(), l.Width)), scale)
	return Add(Mul(near.Sum(wh, mask), scale), ZeroWeights(scope, g, "biases", 1, l.Width))
}

var _ = named("gcn", func(_ hyper.Parameters, width, _ int) Layer { return GCN{Width: width} })

func (l GCN) check() error { return checkWidths(l.Width) }
