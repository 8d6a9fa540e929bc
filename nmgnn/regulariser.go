package nmgnn

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/hyper"
)

// Regulariser changes what a model trains on, anew in every epoch and never outside training. The ones here compete
// with node masking, which needs none of this: see [Mask]. How they differ:
//
//   - Node masking silences a node u towards all its neighbours and in all layers at once, for an epoch; u itself is
//     still computed. Nothing is rescaled, and the mask is an input of the layers, not of the model.
//   - [DropEdge] removes edges, so u may be heard by one neighbour and not by another. Degrees and attention follow the
//     edges that are left.
//   - [DropNode] removes a node's features altogether, towards itself too, and scales up the features of the others.
//   - Dropout ([Model].Dropout) removes single entries of every layer's input, and scales up the others.
type Regulariser interface {
	// Apply returns the pass to train on, drawn from p.Random, which is never nil here.
	Apply(p Pass) Pass
	// Check returns an error if its rate is not in [0, 1).
	Check() error
}

// DropEdge removes each edge with probability Rate, in both directions and in all layers alike (Rong et al. 2020).
// Entries of v ∪ N_v that are v itself stay. Sums are not rescaled; divisions by a degree use what is left of it.
type DropEdge struct{ Rate float64 }

// Apply removes edges.
func (d DropEdge) Apply(p Pass) Pass {
	if d.Rate > 0 {
		p.Near = p.Near.withoutEdges(p.Random, d.Rate)
	}
	return p
}

// Check returns an error unless Rate is a probability below 1.
func (d DropEdge) Check() error { return hyper.CheckDropRate("DropEdge's rate", d.Rate) }

// DropNode sets all features of a node to zero with probability Rate and divides the others by 1-Rate (Feng et al.
// 2020, GRAND).
type DropNode struct{ Rate float64 }

// Apply removes nodes' features.
func (d DropNode) Apply(p Pass) Pass {
	if d.Rate == 0 {
		return p
	}
	node := Iota(p.Features.Graph(), shapes.Make(dtypes.Uint32, p.Near.NumNodes(), 1), 0)
	p.Features = p.Features.ScaleRows(p.Random.Next().Keep(node, d.Rate))
	return p
}

// Check returns an error unless Rate is a probability below 1.
func (d DropNode) Check() error { return hyper.CheckDropRate("DropNode's rate", d.Rate) }
