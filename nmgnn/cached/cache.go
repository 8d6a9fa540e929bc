// Package cached predicts nodes that arrive after training from cached representations of the train nodes (section 4, eq. 4):
// such a node takes its train neighbours' representations as computed on the train graph, instead of having its whole
// neighbourhood computed again:
//
//	ĥ_v^(k) = f( ĥ_v^(k-1), g({ h̃_u^(k-1) : u ∈ N_v, u in the train graph }) )
//
// Edges among nodes that arrive together are left out: their other ends have nothing cached. So a new node needs nothing
// but its own features, its edges to train nodes, and k rows of numbers for each neighbour.
package cached

import (
	"fmt"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/infer"
)

// Cache holds what new nodes take from the train nodes.
type Cache struct {
	IDs      []string               // of the train nodes
	Features datasets.Features      // h̃^(0), as the model reads them
	Hidden   []infer.Representation // h̃^(1)…h̃^(k-1), each [train nodes, width]
	Degrees  []int32                // |N_u| in the train graph
}

// New returns the cache of a model's hidden representations of the train nodes; features are the train nodes', as the model
// reads them.
func New(g *datasets.Graph, train datasets.Phase, features datasets.Features, hidden []infer.Representation) *Cache {
	c := &Cache{Hidden: hidden, Features: features, Degrees: make([]int32, len(train.Nodes)), IDs: make([]string, len(train.Nodes))}
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

// Edges returns the test graph as the cache sees it: a train node has its neighbours of the train graph, any other node
// those among the train nodes. Running a model over it uses the cache for all new nodes at once: train nodes get their
// h̃, since none of them sees a new node.
func Edges(view *datasets.View) (*csr.Graph, error) {
	known := make([]bool, view.Test.Edges.NumNodes())
	local := make([]int32, len(known))
	at := map[int32]int32{}
	for i, v := range view.Test.Nodes {
		at[v] = int32(i)
		local[i] = int32(i)
	}
	for _, v := range view.Train.Nodes {
		known[at[v]] = true
	}
	edges, _, err := view.Test.Edges.InducedWhere(local, func(_, u int32) bool { return known[u] })
	return edges, err
}

// NodeCounts counts the different nodes that predicting the test nodes needs.
type NodeCounts struct {
	// All is the number of nodes of the test graph: what the paper counts without caching.
	All int `json:"all"`
	// Reached counts the test nodes and all nodes within as many hops of them as the model has layers: what predicting
	// them without a cache really reads.
	Reached int `json:"reached"`
	// Cached counts the nodes outside the train graph, and the train nodes next to a test node: what predicting from the
	// cache reads.
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
	c := NodeCounts{All: edges.NumNodes(), Reached: len(frontier), Cached: edges.NumNodes() - len(view.Train.Nodes)}
	train := map[int32]bool{}
	for _, v := range view.Train.Nodes {
		train[v] = true
	}
	next := map[int32]bool{}
	for _, v := range view.Test.Score {
		for _, u := range edges.Neighbours(v) {
			if id := view.Test.Nodes[u]; train[id] && !next[u] {
				next[u] = true
				c.Cached++
			}
		}
	}
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
	return c
}
