package train

import (
	"math"

	"nodemask/csr"
)

const (
	spare  = 1.05 // largest size of a cluster, relative to the mean
	rounds = 8    // largest number of rounds in which nodes move
)

// partition divides the nodes into parts with few edges between them. First each node is a group, and nodes move to the
// group that holds most of their neighbours and is not full (size-constrained label propagation; Meyerhenke, Sanders
// and Schulz 2014). Then the list of nodes, by group in breadth-first order, is cut into parts, between which nodes
// move by the same rule. Node numbers ascend in a part. No part is empty or larger than 1.05 times the mean size,
// rounded up. Time is linear in edges; the result is deterministic.
func partition(g *csr.Graph, parts int) [][]int32 {
	n := g.NumNodes()
	parts = min(max(parts, 1), n)
	if parts <= 1 {
		all := make([]int32, n)
		for v := range all {
			all[v] = int32(v)
		}
		return [][]int32{all}
	}
	part, order := make([]int32, n), searched(g)
	for v := range part {
		part[v] = int32(v)
	}
	move(g, order, part, n, (n+parts-1)/parts, 0)
	for i, v := range together(order, part) {
		part[v] = int32(int64(i) * int64(parts) / int64(n))
	}
	move(g, order, part, parts, int(math.Ceil(spare*float64(n)/float64(parts))), 1)
	clusters := make([][]int32, parts)
	for v, p := range part {
		clusters[p] = append(clusters[p], int32(v))
	}
	return clusters
}

func searched(g *csr.Graph) []int32 {
	n := g.NumNodes()
	order, found := make([]int32, 0, n), make([]bool, n)
	for start := range int32(n) {
		if found[start] {
			continue
		}
		found[start] = true
		order = append(order, start)
		for next := len(order) - 1; next < len(order); next++ {
			for _, u := range g.Neighbours(order[next]) {
				if !found[u] {
					found[u] = true
					order = append(order, u)
				}
			}
		}
	}
	return order
}

// together regroups a list of nodes so that nodes of the same part are adjacent. Parts come in the order in which their
// first nodes stand in the list.
func together(nodes, part []int32) []int32 {
	next := make([]int32, len(part))
	for _, p := range part {
		next[p]++
	}
	all, end, begun := make([]int32, len(nodes)), int32(0), make([]bool, len(part))
	for _, v := range nodes {
		p := part[v]
		if !begun[p] {
			begun[p] = true
			next[p], end = end, end+next[p]
		}
		all[next[p]] = v
		next[p]++
	}
	return all
}

// move moves each node to the part that holds most of its neighbours, in rounds, until few nodes move. Sizes of parts
// stay between least and largest.
func move(g *csr.Graph, order, part []int32, parts, largest, least int) {
	sizes := make([]int, parts)
	for _, p := range part {
		sizes[p]++
	}
	near, seen := make([]int32, parts), []int32(nil)
	for range rounds {
		moved := 0
		for _, v := range order {
			for _, u := range g.Neighbours(v) {
				p := part[u]
				if near[p] == 0 {
					seen = append(seen, p)
				}
				near[p]++
			}
			own := part[v]
			best := own
			for _, p := range seen {
				if near[p] > near[best] && sizes[p] < largest || near[p] == near[best] && p != own && best != own && p < best &&
					sizes[p] < largest {
					best = p
				}
			}
			for _, p := range seen {
				near[p] = 0
			}
			seen = seen[:0]
			if best != own && sizes[own] > least {
				part[v] = best
				sizes[own]--
				sizes[best]++
				moved++
			}
		}
		if moved*100 < len(part) {
			break
		}
	}
}
