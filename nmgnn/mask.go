package nmgnn

import (
	"fmt"
	"math/rand/v2"

	"nodemask/nmgnn/hyper"
)

// Mask draws the Bernoulli select function δ: which nodes contribute to others in one epoch (eqs. 5 and 6). The zero
// value keeps all nodes, so that node masking is inactive.
//
// A masked node is left out of every child set, but still computes a representation of its own. The draw is made once
// an epoch and shared by all layers; outside training there is none. What is kept is not scaled up, unless Rescale
// asks for it.
type Mask struct {
	// KeepRate is the probability that a node is kept, the paper's p; the zero value and 1 mask nothing.
	KeepRate float64
	// Rescale divides by KeepRate what is kept, so that sums over neighbours keep their expectation. Not in the paper.
	Rescale bool
	// Only limits masking to these nodes; others are always kept. nil: all nodes. The paper says "over the nodes in the
	// train set", which in the transductive setting can be read as Only the train nodes. Nodes are numbered as the graph
	// that is trained on: in a view, by their place in View.Train.Nodes, as View.Train.Score has them. In the inductive
	// setting these are not the whole graph's numbers.
	Only []int32
}

// Active reports whether any node can be masked.
func (m Mask) Active() bool { return hyper.KeepRate(m.KeepRate).Active() }

// Kept returns what a node is multiplied by that may be masked and is kept: 1, or 1/KeepRate with Rescale.
func (m Mask) Kept() float32 {
	if m.Rescale && m.Active() {
		return float32(1 / hyper.KeepRate(m.KeepRate).Probability())
	}
	return 1
}

// Draw fills delta [nodes] with one draw: 1 for kept (or 1/KeepRate, with Rescale) and 0 for masked. It reads as many
// random numbers as nodes that may be masked, whatever the rate: equal generators mask nested sets at different rates.
func (m Mask) Draw(r *rand.Rand, delta []float32) {
	keep, kept := hyper.KeepRate(m.KeepRate).Probability(), m.Kept()
	draw := func() float32 {
		if u := r.Float64(); u >= keep {
			return 0
		}
		return kept
	}
	if m.Only == nil {
		for v := range delta {
			delta[v] = draw()
		}
		return
	}
	for v := range delta {
		delta[v] = 1
	}
	for _, v := range m.Only {
		delta[v] = draw()
	}
}

// String returns the mask in a few words: "Mask(keep rate 0.5)".
func (m Mask) String() string {
	text := fmt.Sprintf("Mask(keep rate %v", hyper.KeepRate(m.KeepRate).Probability())
	if m.Rescale {
		text += ", rescaled"
	}
	if m.Only != nil {
		text += fmt.Sprintf(", of %d nodes", len(m.Only))
	}
	return text + ")"
}
