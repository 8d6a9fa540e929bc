package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/nmgnn/hyper"
)

// SAGE is the masked mean aggregator of GraphSAGE (Hamilton, Ying, Leskovec 2017):
//
//	h'_v = W_root·h_v + W·Σ_{u ∈ N_v} δ(u)·h_u / |N_v| + b
//
// δ(u) is 0 for masked u, else 1. |N_v| counts masked neighbours, too: masking does not rescale the mean. v's own
// term W_root·h_v is never masked.
type SAGE struct {
	Width int // outputs per node
}

// Forward implements [Layer]: it returns [nodes, Width].
func (l SAGE) Forward(scope *model.Scope, near Neighbours, h Input, mask *Node) *Node {
	g := h.Graph()
	in := h.Width()
	both := h.Times(Concatenate([]*Node{
		Weights(scope, g, "weights", in, in, l.Width), Weights(scope, g, "root_weights", in, in, l.Width)}, -1))
	neighbours := SliceAxis(both, 1, AxisRange(0, l.Width))
	root := SliceAxis(both, 1, AxisRange(l.Width, 2*l.Width))
	return Add(Add(root, near.Mean(neighbours, mask)), Weights(scope, g, "biases", in, 1, l.Width))
}

var _ = named("sage", func(_ hyper.Parameters, width, _ int) Layer { return SAGE{Width: width} })

func (l SAGE) check() error { return checkWidths(l.Width) }
