package csr

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/graph"
)

// FromGonum returns a gonum graph with nodes numbered by ascending id: node v has ids[v]. If directed, v aggregates
// from u along an edge from u to v.
func FromGonum(g graph.Graph) (edges *Graph, ids []int64, err error) {
	for nodes := g.Nodes(); nodes.Next(); {
		ids = append(ids, nodes.Node().ID())
	}
	if len(ids) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("%d nodes: expected at most %d", len(ids), math.MaxInt32)
	}
	slices.Sort(ids)
	var list []Edge
	for u, id := range ids {
		for to := g.From(id); to.Next(); {
			v, ok := slices.BinarySearch(ids, to.Node().ID())
			if !ok {
				return nil, nil, fmt.Errorf("an edge from %d leads to %d, which is not a node of the graph", id, to.Node().ID())
			}
			list = append(list, Edge{Node: int32(v), Neighbour: int32(u)})
		}
	}
	edges, _, err = FromEdges(len(ids), list, Options{Directed: true})
	return edges, ids, err
}
