// Package testgraph makes graphs for tests of aggregation trees.
package testgraph

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
)

// Undirected returns a graph with these nodes and edges.
func Undirected(t require.TestingT, nodes int, pairs [][2]int32) *csr.Graph {
	edges := make([]csr.Edge, len(pairs))
	for i, p := range pairs {
		edges[i] = csr.Edge{Node: p[0], Neighbour: p[1]}
	}
	g, _, err := csr.FromEdges(nodes, edges, csr.Options{})
	require.NoError(t, err)
	return g
}

// Triangle returns the triangle 0-1-2, with node 3 attached to 2 and node 4 isolated.
func Triangle(t require.TestingT) *csr.Graph {
	return Undirected(t, 5, [][2]int32{{0, 1}, {1, 2}, {0, 2}, {2, 3}})
}

// Complete returns the complete graph.
func Complete(t require.TestingT, nodes int) *csr.Graph {
	var pairs [][2]int32
	for v := range int32(nodes) {
		for u := range v {
			pairs = append(pairs, [2]int32{v, u})
		}
	}
	return Undirected(t, nodes, pairs)
}

// Any returns a random graph, directed or not, of 1 to maxNodes nodes.
func Any(t *rapid.T, maxNodes int) *csr.Graph {
	nodes := rapid.IntRange(1, maxNodes).Draw(t, "nodes")
	node := rapid.Int32Range(0, int32(nodes-1))
	edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) csr.Edge {
		return csr.Edge{Node: node.Draw(t, "v"), Neighbour: node.Draw(t, "u")}
	}), 0, 2*nodes).Draw(t, "edges")
	g, _, err := csr.FromEdges(nodes, edges, csr.Options{Directed: rapid.Bool().Draw(t, "directed")})
	require.NoError(t, err)
	return g
}

// AnyMask returns a random mask of a graph's nodes, or nil.
func AnyMask(t *rapid.T, g *csr.Graph) []bool {
	if rapid.Bool().Draw(t, "unmasked") {
		return nil
	}
	return rapid.SliceOfN(rapid.Bool(), g.NumNodes(), g.NumNodes()).Draw(t, "mask")
}

// AnyNode returns a random node of a graph.
func AnyNode(t *rapid.T, g *csr.Graph, label string) int32 {
	return rapid.Int32Range(0, int32(g.NumNodes()-1)).Draw(t, label)
}
