package nmgnn

import (
	"fmt"
	"math/rand/v2"

	"nodemask/nmgnn/hyper"
)

// Mask draws the Bernoulli select function δ: the nodes that contribute to others in one epoch (eqs. 5 and 6). The zero
// value masks nothing. Masked nodes are left out of every child set but still compute their own representations. All
// layers share an epoch's draw; outside training nothing is masked.
type Mask struct {
	// KeepRate is the probability of keeping a node, the paper's p; 0 and 1 mask nothing.
	KeepRate float64
	// Rescale divides kept contributions by KeepRate to keep the expectation of sums. Not in the paper.
	Rescale bool
	// Only limits masking to these nodes; nil: all. The paper's "over the nodes in the train set" can mean only the
	// train nodes in the transductive setting. Nodes are numbered as in the training graph: in a view by their place in
	// View.Train.Nodes, as in View.Train.Score, which in the inductive setting is not the whole graph's number.
	Only []int32
}

// Active reports whether any node can be masked.
func (m Mask) Active() bool { return hyper.KeepRate(m.KeepRate).Active() }

// Kept returns the factor of kept nodes that may be masked: 1, or 1/KeepRate with Rescale.
func (m Mask) Kept() float32 {
	if m.Rescale && m.Active() {
		return float32(1 / hyper.KeepRate(m.KeepRate).Probability())
	}
	return 1
}

// Draw fills delta [nodes]: 0 for masked nodes, else 1 (1/KeepRate with Rescale). It reads one random number per node
// that may be masked, so equal generators mask nested sets at different rates.
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

// String returns, for instance, "Mask(keep rate 0.5)".
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
