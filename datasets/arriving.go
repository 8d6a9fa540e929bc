package datasets

import "nodemask/csr"

// CachedEdges returns the test graph with only the edges that prediction from cached representations uses: edges from
// train nodes and, if together is true, edges between new nodes. Nodes that are not train nodes are new. A model run
// over this graph predicts new nodes as package cached does.
func (view *View) CachedEdges(together bool) (*csr.Graph, error) {
	isNew := view.arrived()
	local := make([]int32, len(isNew))
	for v := range local {
		local[v] = int32(v)
	}
	edges, _, err := view.Test.Edges.InducedWhere(local, func(v, u int32) bool {
		return !isNew[u] || together && isNew[v]
	})
	return edges, err
}

func (view *View) arrived() []bool {
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

// CountRead returns three counts of nodes of the test graph. all counts every node. reached counts the nodes that a
// model with the given number of layers reads: nodes at most that many hops from a test node. cached counts the nodes
// that prediction from a cache reads: the nodes that are not train nodes, and the neighbours of these nodes.
func (view *View) CountRead(layers int) (all, reached, cached int) {
	edges := view.Test.Edges
	all = edges.NumNodes()
	seen, read := make([]bool, all), make([]bool, all)
	first := func(marks []bool, v int32, count *int) bool {
		if marks[v] {
			return false
		}
		marks[v] = true
		*count++
		return true
	}
	frontier := view.Test.Score
	for _, v := range frontier {
		first(seen, v, &reached)
	}
	for range layers {
		var found []int32
		for _, v := range frontier {
			for _, u := range edges.Neighbours(v) {
				if first(seen, u, &reached) {
					found = append(found, u)
				}
			}
		}
		frontier = found
	}
	for v, isNew := range view.arrived() {
		if !isNew {
			continue
		}
		first(read, int32(v), &cached)
		for _, u := range edges.Neighbours(int32(v)) {
			first(read, u, &cached)
		}
	}
	return all, reached, cached
}
