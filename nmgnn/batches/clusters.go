package batches

import (
	"math"
	"slices"

	"nodemask/csr"
)

// Of [Clusters].
const (
	spare  = 1.05 // how much larger than the mean a cluster may be
	rounds = 8    // of moving nodes, at most
)

// Clusters divides the nodes of a graph into parts, each node in one, such that few edges join two of them: blocks of a
// breadth-first search, from which nodes move to the part that most of their neighbours are in as long as that has room (label
// propagation with bounded sizes; Meyerhenke, Sanders and Schulz 2014). No part is larger than 5 % above the mean, rounded up, and
// none is empty: there are no more parts than nodes. Nodes of a part ascend. It takes time linear in edges; equal graphs have equal
// clusters.
func Clusters(g *csr.Graph, parts int) [][]int32 {
	n := g.NumNodes()
	parts = min(max(parts, 1), n)
	if parts <= 1 {
		all := make([]int32, n)
		for v := range all {
			all[v] = int32(v)
		}
		return [][]int32{all}
	}
	part := make([]int32, n)
	for i, v := range searched(g) {
		part[v] = int32(int64(i) * int64(parts) / int64(n))
	}
	move(g, part, parts)
	clusters := make([][]int32, parts)
	for v, p := range part {
		clusters[p] = append(clusters[p], int32(v))
	}
	return clusters
}

// searched lists the nodes in the order of a breadth-first search, component by component.
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

// move moves nodes to the parts of their neighbours until few move.
func move(g *csr.Graph, part []int32, parts int) {
	sizes := make([]int, parts)
	for _, p := range part {
		sizes[p]++
	}
	largest := int(math.Ceil(spare * float64(len(part)) / float64(parts)))
	near, seen := make([]int32, parts), []int32(nil) // neighbours of a node in each part, and the parts that have some
	for range rounds {
		moved := 0
		for v := range int32(len(part)) {
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
				if near[p] > near[best] && sizes[p] < largest || near[p] == near[best] && p != own && best != own && p < best && sizes[p] < largest {
					best = p
				}
			}
			for _, p := range seen {
				near[p] = 0
			}
			seen = seen[:0]
			if best != own && sizes[own] > 1 {
				part[v] = best
				sizes[own]--
				sizes[best]++
				moved++
			}
		}
		if moved*1000 < len(part) {
			break
		}
	}
}

// inverse lists which cluster each node is in.
func inverse(clusters [][]int32, nodes int) []int32 {
	part := slices.Repeat([]int32{-1}, nodes)
	for p, of := range clusters {
		for _, v := range of {
			part[v] = int32(p)
		}
	}
	return part
}
