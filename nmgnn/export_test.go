package nmgnn

import (
	. "github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/internal/kernels"
)

// DropGNNRuns exports dropGNNRuns.
const DropGNNRuns = dropGNNRuns

// NewRandom exports newRandom.
func NewRandom(key *Node) *Random { return newRandom(key) }

// Draws returns a generator's streams.
func Draws(r *Random) *kernels.Random { return r.draws }

// Relu exports relu.
func Relu(x *Node) *Node { return relu(x) }
