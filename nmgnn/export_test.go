package nmgnn

import . "github.com/gomlx/gomlx/core/graph"

// DropGNNRuns is how many masked runs DropGNN averages, for tests.
const DropGNNRuns = dropGNNRuns

// Relu is what stands behind each hidden layer, for tests.
func Relu(x *Node) *Node { return relu(x) }
