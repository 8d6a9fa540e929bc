package datasets

import "nodemask/csr"

// CachedEdges returns the test graph as the cache sees it: train nodes have their neighbours in the train graph, others
// theirs among train nodes and, if together, among new nodes. Running a model over it equals cached prediction of all
// new nodes (section 4; equation in package cached): train nodes see no new node.
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

// arrived marks the test graph's nodes that the train graph lacks.
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

// CountRead returns how many nodes are read to predict the test nodes: all, in the test graph; reached, within layers
// hops of a test node; and cached, outside the train graph or adjacent to such a node.
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
