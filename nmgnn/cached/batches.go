package cached

import (
	"fmt"
	"slices"

	"nodemask/datasets"
)

// largestBatch is how many newcomers are computed at once, unless more of them are linked.
const largestBatch = 512

// links returns who each newcomer is linked to, or an error if that names nobody.
func links(n *datasets.Newcomers) ([][]int32, error) {
	if n.Linked == nil {
		return make([][]int32, len(n.IDs)), nil
	}
	if len(n.Linked) != len(n.IDs) {
		return nil, fmt.Errorf("links of %d newcomers for %d: expected one list a newcomer, or none at all",
			len(n.Linked), len(n.IDs))
	}
	for v, row := range n.Linked {
		for _, w := range row {
			if w < 0 || int(w) >= len(n.IDs) {
				return nil, fmt.Errorf("newcomer %d is linked to newcomer %d: expected 0 to %d", v, w, len(n.IDs)-1)
			}
		}
	}
	return n.Linked, nil
}

// batches divides nodes into batches such that those which are linked, directly or through others, are in one. A batch
// holds at most [largestBatch] nodes, or a single group that is larger. The nodes of a batch ascend; batches of nodes
// without links are in the nodes' order.
func batches(linked [][]int32) [][]int32 {
	// above leads to the first node of a node's group, which leads to itself.
	above := make([]int32, len(linked))
	first := func(v int32) int32 {
		for above[v] != v {
			above[v] = above[above[v]]
			v = above[v]
		}
		return v
	}
	for v := range above {
		above[v] = int32(v)
	}
	for v, row := range linked {
		for _, w := range row {
			a, b := first(int32(v)), first(w)
			above[max(a, b)] = min(a, b)
		}
	}
	groups := make([][]int32, len(linked)) // by first node
	for v := range int32(len(linked)) {
		groups[first(v)] = append(groups[first(v)], v)
	}
	var all [][]int32
	var batch []int32
	end := func() {
		if len(batch) > 0 {
			slices.Sort(batch) // groups overlap
			all = append(all, batch)
		}
		batch = nil
	}
	for _, group := range groups {
		if len(batch)+len(group) > largestBatch {
			end()
		}
		batch = append(batch, group...)
	}
	end()
	return all
}
