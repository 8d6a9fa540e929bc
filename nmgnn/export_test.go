package nmgnn

import . "github.com/gomlx/gomlx/core/graph"

// DropGNNRuns exports dropGNNRuns.
const DropGNNRuns = dropGNNRuns

// Relu exports relu.
func Relu(x *Node) *Node { return relu(x) }
