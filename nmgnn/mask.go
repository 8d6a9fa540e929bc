package nmgnn

import (
	"fmt"
	"math/rand/v2"
)

// Mask draws the Bernoulli select function δ: which nodes contribute to others in one epoch (eqs. 5 and 6). The zero
// value keeps all nodes, so that node masking is inactive.
//
// A masked node is left out of every child set, but still computes a representation of its own. The draw is made once an
// epoch and shared by all layers; outside training there is none. What is kept is not scaled up, unless Rescale asks for it.
type Mask struct {
	// KeepRate is the probability that a node is kept, in (0, 1]: the paper's "node masking rate" p. 0 means 1, inactive.
	// Dropout rates elsewhere are the probability of the opposite.
	KeepRate float64
	// Rescale divides by KeepRate what is kept, so that sums over neighbours keep their expectation. Not in the paper.
	Rescale bool
	// Only limits masking to these nodes; others are always kept. nil: all nodes. The paper says "over the nodes in the
	// train set", which in the transductive setting can be read as Only the train nodes.
	Only []int32
}

// Active says whether the mask can mask anything.
func (m Mask) Active() bool { return m.KeepRate != 0 && m.KeepRate != 1 }

// Check returns an error unless KeepRate is a probability above 0.
func (m Mask) Check() error {
	if !(m.KeepRate >= 0 && m.KeepRate <= 1) {
		return fmt.Errorf("nmgnn: keep rate %v: expected a probability above 0 and up to 1, where 1 keeps every node", m.KeepRate)
	}
	return nil
}

// Draw fills delta [nodes] with one draw: 1 for kept (or 1/KeepRate, with Rescale) and 0 for masked. It reads as many
// random numbers as nodes that may be masked, whatever the rate: equal generators mask nested sets at different rates.
func (m Mask) Draw(r *rand.Rand, delta []float32) {
	kept := float32(1)
	if m.Rescale && m.Active() {
		kept = float32(1 / m.KeepRate)
	}
	draw := func() float32 {
		if u := r.Float64(); m.Active() && u >= m.KeepRate {
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
