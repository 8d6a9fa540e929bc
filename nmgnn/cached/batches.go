package cached

import (
	"errors"
	"fmt"
	"slices"

	"nodemask/datasets"
)

// largestBatch limits the newcomers per batch, unless more are linked.
const largestBatch = 512

// links returns each newcomer's linked newcomers; known is the number of known nodes.
func links(n *datasets.Newcomers, known int) ([][]int32, error) {
	if n == nil {
		return nil, errors.New("the newcomers are nil: read them with datasets.ReadNewcomers")
	}
	count := len(n.IDs)
	switch {
	case len(n.Known) != count:
		return nil, fmt.Errorf("known nodes of %d newcomers for %d: expected one list a newcomer, which may be empty",
			len(n.Known), count)
	case n.Linked != nil && len(n.Linked) != count:
		return nil, fmt.Errorf("links of %d newcomers for %d: expected one list a newcomer, or none at all",
			len(n.Linked), count)
	case n.Features.Rows != count:
		return nil, fmt.Errorf("%d rows of features for %d newcomers", n.Features.Rows, count)
	}
	if err := n.Features.Check(); err != nil {
		return nil, err
	}
	for v, row := range n.Known {
		if err := ascends(row, known); err != nil {
			return nil, fmt.Errorf("newcomer %d is linked to known node %w", v, err)
		}
	}
	if n.Linked == nil {
		return make([][]int32, count), nil
	}
	for v, row := range n.Linked {
		if err := ascends(row, count); err != nil {
			return nil, fmt.Errorf("newcomer %d is linked to newcomer %w", v, err)
		}
	}
	for v, row := range n.Linked {
		for _, w := range row {
			if w == int32(v) {
				return nil, fmt.Errorf("newcomer %d is linked to itself: expected other newcomers", v)
			}
			if _, back := slices.BinarySearch(n.Linked[w], int32(v)); !back {
				return nil, fmt.Errorf("newcomer %d is linked to newcomer %d, which is not linked to it: expected both", v, w)
			}
		}
	}
	return n.Linked, nil
}

func ascends(nodes []int32, end int) error {
	for i, u := range nodes {
		switch {
		case u < 0 || int(u) >= end:
			return fmt.Errorf("%d: expected 0 to %d", u, end-1)
		case i > 0 && u <= nodes[i-1]:
			return fmt.Errorf("%d after %d: expected them ascending, each once", u, nodes[i-1])
		}
	}
	return nil
}

// batches puts directly or indirectly linked nodes into one batch, of at most [largestBatch] nodes or one larger group.
// Nodes in a batch ascend; unlinked nodes keep their order.
func batches(linked [][]int32) [][]int32 {
	// above is a union-find forest; its roots are the groups' first nodes.
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
	groups := make([][]int32, len(linked)) // by the group's first node
	for v := range int32(len(linked)) {
		groups[first(v)] = append(groups[first(v)], v)
	}
	var all [][]int32
	var batch []int32
	end := func() {
		if len(batch) > 0 {
			slices.Sort(batch) // groups interleave
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
