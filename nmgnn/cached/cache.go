// Package cached predicts new nodes from cached representations of the train nodes (section 4, eq. 4): a new node reads
// its train neighbours' representations on the train graph. New nodes that arrive together also see one another:
//
//	ĥ_v^(k) = f( ĥ_v^(k-1), g({ h̃_u^(k-1) : u ∈ N_v in the train graph }
//		∪ { ĥ_w^(k-1) : w ∈ N_v that arrives with v }) )
//
// ĥ^(0) and h̃^(0) are the features. Train nodes never see new ones, and |N_u| is that of the train graph; a new node
// counts both kinds of neighbours. For a single arrival this is eq. 4. The paper does not discuss edges among new
// nodes; predicting apart omits them.
package cached

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/safetensors"
)

// Cache holds the train nodes' data that new nodes read. Do not modify one from [LoadCache]: it may be memory-mapped.
type Cache struct {
	IDs      []string               // of the train nodes
	Features datasets.Features      // h̃^(0), normalized if the model requires it
	Hidden   []infer.Representation // h̃^(1)…h̃^(k-1), each [train nodes, width]
	Degrees  []int32                // |N_u| in the train graph

	file *safetensors.File // mapped file; nil: in memory
	path string            // file's name
}

// New returns the cache of the train nodes' hidden representations and their features, as the model reads them.
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
