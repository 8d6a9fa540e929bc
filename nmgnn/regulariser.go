package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels"
)

// Regulariser changes what a model trains on, anew in every epoch and, but for [DropGNN], never outside training. The
// ones here compete with node masking, which needs none of this: see [Mask]. How they differ:
//
//   - Node masking silences a node u towards all its neighbours and in all layers at once, for an epoch; u itself is
//     still computed. Nothing is rescaled, and the mask is an input of the layers, not of the model.
//   - [DropEdge] removes edges, so u may be heard by one neighbour and not by another. Degrees and attention follow the
//     edges that are left.
//   - [DropGNN] masks nodes as node masking does, and goes on doing so outside training.
//   - Dropout ([Model].Dropout) removes single entries of every layer's input, and scales up the others.
type Regulariser interface {
	// Apply returns the pass to train on, drawn from p.Random, which is never nil here.
	Apply(p Pass) Pass
	// DropRate returns its rate, a probability below 1. A program compiled for it serves others of the same type, which
	// differ in nothing else.
	DropRate() float64
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

// DropRate returns Rate.
func (d DropEdge) DropRate() float64 { return d.Rate }

// DropGNN masks each node with probability Rate, in training and outside of it, where the class probabilities of
// four masked runs are averaged (after Papp, Martinkus, Faber and Wattenhofer 2021). Theirs averages in
// training too; here an epoch has one mask, as with node masking. A mask that is there already stays.
type DropGNN struct{ Rate float64 }

// dropGNNRuns is how many masked runs [DropGNN] averages outside training.
const dropGNNRuns = 4

// Apply masks nodes.
func (d DropGNN) Apply(p Pass) Pass {
	if d.Rate == 0 {
		return p
	}
	nodes := kernels.Positions(p.Features.Graph(), nil, []int{p.Near.NumNodes(), 1})
	kept := p.Random.Next().Kept(nodes, d.Rate)
	if p.Mask != nil {
		kept = Mul(kept, p.Mask)
	}
	p.Mask = kept
	return p
}

// DropRate returns Rate.
func (d DropGNN) DropRate() float64 { return d.Rate }

// Forward runs a model as it is outside training: what [Model.Forward] returns, each the mean over masked runs, and for
// logits the logarithms of the mean probabilities. The masks are the same whenever it runs at a rate; rates may be nil.
func (d DropGNN) Forward(m Model, p Pass, kernel kernels.Kernel, rates *kernels.Rates) []*Node {
	key := Const(p.Features.Graph(), []uint32{0x9e3779b9, 0x7f4a7c15})
	p.Random = kernels.NewRandom(key, kernel).Reading(rates)
	var mean []*Node
	for range dropGNNRuns {
		run := d.Apply(p)
		run.Random, run.Scope = nil, p.Scope.ResetVisited() // the same weights again
		all := m.Forward(run)
		logits := len(all) - 1
		all[logits] = Softmax(all[logits])
		for i, h := range all {
			h = DivScalar(h, dropGNNRuns)
			if mean == nil || i >= len(mean) {
				mean = append(mean, h)
			} else {
				mean[i] = Add(mean[i], h)
			}
		}
	}
	mean[len(mean)-1] = Log(MaxScalar(mean[len(mean)-1], 1e-30))
	return mean
}
