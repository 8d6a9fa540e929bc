package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels"
)

// Random draws inside a computation; a key gives the same draws on every backend. nil, as outside training, draws
// nothing.
type Random struct{ draws *kernels.Random }

// Random returns a generator for one run. key [2] uint32 must differ in each run.
func (d *Loaded) Random(key *Node) *Random { return newRandom(key) }

func newRandom(key *Node) *Random {
	return &Random{kernels.NewRandom(key, kernels.PlanFor(key.Graph().Backend(), 0).Kernel)}
}

func (r *Random) generator() *kernels.Random {
	if r == nil {
		return nil
	}
	return r.draws
}

// Dropout zeroes each entry of x (any shape) with probability rate and divides the others by 1-rate; a nil generator
// returns x.
func (r *Random) Dropout(x *Node, rate float64) *Node { return r.generator().Dropout(x, rate) }

// Kept returns 1 for each row with probability 1-rate, else 0: [rows, 1]. The generator must not be nil.
func (r *Random) Kept(rows int, rate float64) *Node {
	next := r.draws.Next()
	return next.Kept(kernels.Positions(next.Graph(), nil, []int{rows, 1}), rate)
}
