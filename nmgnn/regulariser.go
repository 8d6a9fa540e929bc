package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels"
)

// Regulariser changes the [Pass] of each training epoch. Node masking ([Pass].Mask) silences a node towards all
// neighbours in all layers for an epoch, without rescaling. The alternatives:
//
//   - [DropEdge] removes edges: a node may still reach some neighbours. Degrees and attention use the remaining edges.
//   - [DropGNN] masks nodes outside training too.
//   - Dropout ([Model].Dropout) drops entries of every layer's input and scales up the others.
type Regulariser interface {
	// Apply returns the changed pass. It draws from p.Random, which is not nil.
	Apply(p Pass) Pass
	// DropRate returns the drop probability, in [0, 1). Regularisers that differ only in this probability share a
	// compiled program.
	DropRate() float64
}

// DropEdge removes each edge with probability Rate, in both directions and in all layers at once (Rong et al. 2020).
// Self-loops stay. Sums are not rescaled.
type DropEdge struct{ Rate float64 }

// Apply returns the pass without the dropped edges.
func (d DropEdge) Apply(p Pass) Pass {
	if d.Rate > 0 {
		if p.Features != nil {
			// Without Complete, DropEdge would change how XLA fuses the validation loss of attention models, and so the
			// last digit of this loss.
			kernels.Complete(p.Features.Graph())
		}
		p.Near = p.Near.withoutEdges(p.Random, d.Rate)
	}
	return p
}

// DropRate returns Rate.
func (d DropEdge) DropRate() float64 { return d.Rate }

// DropGNN masks each node with probability Rate. Outside training it masks too, and averages class probabilities over
// four masked runs (after Papp, Martinkus, Faber and Wattenhofer 2021, who average in training too). An existing mask
// still applies.
type DropGNN struct{ Rate float64 }

const dropGNNRuns = 4

// Apply returns the pass with masked nodes.
func (d DropGNN) Apply(p Pass) Pass {
	if d.Rate == 0 {
		return p
	}
	kept := p.Random.Kept(p.Near.NumNodes(), d.Rate)
	if p.Mask != nil {
		kept = Mul(kept, p.Mask)
	}
	p.Mask = kept
	return p
}

// DropRate returns Rate.
func (d DropGNN) DropRate() float64 { return d.Rate }

// Forward returns means of [Model.Forward] over four masked runs, for use outside training. The logits are logarithms
// of mean class probabilities. Each call draws the same masks for the same rate.
func (d DropGNN) Forward(m Model, p Pass) []*Node {
	p.Random = newRandom(Const(p.Features.Graph(), []uint32{0x9e3779b9, 0x7f4a7c15}))
	var mean []*Node
	for range dropGNNRuns {
		run := d.Apply(p)
		run.Random, run.Scope = nil, p.Scope.ResetVisited() // all runs share the weights
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
