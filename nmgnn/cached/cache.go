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

	"nodemask/csr"
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
	c := &Cache{Hidden: hidden, Features: features, Degrees: make([]int32, len(train.Nodes)), IDs: make([]string,
		len(train.Nodes))}
	for i, v := range train.Nodes {
		c.Degrees[i] = int32(train.Edges.Degree(int32(i)))
		c.IDs[i] = nodeID(g, v)
	}
	return c
}

// nodeID is a node's own name, or its number.
func nodeID(g *datasets.Graph, v int32) string {
	if len(g.NodeIDs) > 0 {
		return g.NodeIDs[v]
	}
	return fmt.Sprint(v)
}

// Edges returns the test graph as the cache sees it: a train node has its neighbours of the train graph; any other node
// has those among the train nodes and, together, those that arrive with it. Running a model over it uses the cache for
// all new nodes at once: train nodes get their h̃, since none of them sees a new node.
func Edges(view *datasets.View, together bool) (*csr.Graph, error) {
	isNew := arrivals(view)
	local := make([]int32, len(isNew))
	for v := range local {
		local[v] = int32(v)
	}
	edges, _, err := view.Test.Edges.InducedWhere(local, func(v, u int32) bool {
		return !isNew[u] || together &&
			isNew[v]
	})
	return edges, err
}

// arrivals marks the nodes of the test graph that the train graph lacks.
func arrivals(view *datasets.View) []bool {
	train := make(map[int32]bool, len(view.Train.Nodes))
	for _, v := range view.Train.Nodes {
		train[v] = true
	}
	isNew := make([]bool, len(view.Test.Nodes))
	for i, v := range view.Test.Nodes {
		isNew[i] = !train[v]
	}
	return isNew
}

// NodeCounts counts the different nodes that predicting the test nodes needs.
type NodeCounts struct {
	// All is the number of nodes of the test graph: what the paper counts without caching.
	All int `json:"all"`
	// Reached counts the test nodes and all nodes within as many hops of them as the model has layers: what predicting
	// them without a cache really reads.
	Reached int `json:"reached"`
	// Cached counts the nodes outside the train graph, validation nodes too, and the train nodes next to one of them: what
	// predicting all of them from the cache reads.
	Cached int `json:"cached"`
}

// CountNodes returns the counts for a model with a number of layers.
func CountNodes(view *datasets.View, layers int) NodeCounts {
	edges := view.Test.Edges
	reached := make([]bool, edges.NumNodes())
	frontier := view.Test.Score
	for _, v := range frontier {
		reached[v] = true
	}
	c := NodeCounts{All: edges.NumNodes(), Reached: len(frontier)}
	for range layers {
		var found []int32
		for _, v := range frontier {
			for _, u := range edges.Neighbours(v) {
				if !reached[u] {
					reached[u] = true
					found = append(found, u)
				}
			}
		}
		c.Reached += len(found)
		frontier = found
	}
	read := make([]bool, edges.NumNodes())
	for v, isNew := range arrivals(view) {
		if !isNew {
			continue
		}
		read[v] = true
		for _, u := range edges.Neighbours(int32(v)) {
			read[u] = true
		}
	}
	for _, is := range read {
		if is {
			c.Cached++
		}
	}
	return c
}
