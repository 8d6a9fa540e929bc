package cached

import (
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
)

// largestBatch limits how many newcomers share a batch. A batch is larger only if it is one group of linked newcomers.
const largestBatch = 512

// links returns each newcomer's neighbours among the newcomers; known is the number of cached nodes.
func links(n *datasets.Newcomers, known int) ([][]int32, error) {
	if n == nil {
		return nil, errors.New("the newcomers are nil: read them with datasets.ReadNewcomers")
	}
	linked, count := n.Linked, len(n.IDs)
	if linked == nil {
		linked = make([][]int32, count)
	}
	if len(n.Known) != count || len(linked) != count || n.Features.Rows != count {
		return nil, fmt.Errorf("%d newcomers with known nodes of %d, links of %d and features of %d: expected as many of each",
			count, len(n.Known), len(linked), n.Features.Rows)
	}
	outside := func(nodes []int32, end int) bool {
		return len(nodes) > 0 && (slices.Min(nodes) < 0 || int(slices.Max(nodes)) >= end)
	}
	for v := range count {
		if outside(n.Known[v], known) || outside(linked[v], count) {
			return nil, fmt.Errorf("newcomer %d is linked to known nodes %v and newcomers %v: expected some of %d and %d", v,
				n.Known[v], linked[v], known, count)
		}
	}
	return linked, n.Features.Check()
}

// batches divides new nodes into batches, each in ascending order. A connected component of new nodes is never split
// between batches.
func batches(linked [][]int32) [][]int32 {
	// The slice parents is a union-find forest. A group's root is its first node.
	parents := make([]int32, len(linked))
	first := func(v int32) int32 {
		for parents[v] != v {
			parents[v] = parents[parents[v]]
			v = parents[v]
		}
		return v
	}
	for v := range parents {
		parents[v] = int32(v)
	}
	for v, row := range linked {
		for _, w := range row {
			a, b := first(int32(v)), first(w)
			parents[max(a, b)] = min(a, b)
		}
	}
	groups := make([][]int32, len(linked))
	for v := range int32(len(linked)) {
		groups[first(v)] = append(groups[first(v)], v)
	}
	var all [][]int32
	var batch []int32
	end := func() {
		if len(batch) > 0 {
			slices.Sort(batch)
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
