// Package cached predicts nodes that arrive after training from cached representations of the train nodes (section 4,
// eq. 4): a new node takes its train neighbours' representations as computed on the train graph, instead of having its
// whole neighbourhood computed again. New nodes that arrive together also see one another, as they are computed layer
// by layer:
//
//	ĥ_v^(k) = f( ĥ_v^(k-1), g({ h̃_u^(k-1) : u ∈ N_v in the train graph } ∪ { ĥ_w^(k-1) : w ∈ N_v that arrives with v }) )
//
// ĥ^(0) and h̃^(0) are the features. Nothing cached is ever computed again: a train node never sees a new one, and
// counts |N_u| of the train graph; a new node counts both kinds of neighbours. So new nodes need their own features,
// their edges, and k rows of numbers for each train neighbour. For a node that arrives alone this is the paper's eq. 4.
// The paper does not say what becomes of edges among nodes that arrive together; to leave them out, as if each came
// alone, is to predict apart.
package cached

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/safetensors"
)

// Cache holds what new nodes take from the train nodes. That of [LoadCache] may be mapped: nothing in it can be
// changed.
type Cache struct {
	IDs      []string               // of the train nodes
	Features datasets.Features      // h̃^(0), as the model reads them
	Hidden   []infer.Representation // h̃^(1)…h̃^(k-1), each [train nodes, width]
	Degrees  []int32                // |N_u| in the train graph

	file *safetensors.File // that these are parts of; nil if they are in memory
	path string            // its name
}

// New returns the cache of a model's hidden representations of the train nodes; features are the train nodes', as the
// model reads them.
func New(g *datasets.Graph, train datasets.Phase, features datasets.Features, hidden []infer.Representation) *Cache {
	nodes := len(train.Nodes)
	c := &Cache{Hidden: hidden, Features: features, Degrees: make([]int32, nodes), IDs: make([]string, nodes)}
	for i, v := range train.Nodes {
		c.Degrees[i] = int32(train.Edges.Degree(int32(i)))
		if c.IDs[i] = fmt.Sprint(v); len(g.NodeIDs) > 0 {
			c.IDs[i] = g.NodeIDs[v]
		}
	}
	return c
}
