package aggtree

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
)

var ctx = context.Background()

// undirected builds a graph that is known to be right.
func undirected(t require.TestingT, nodes int, edges ...csr.Edge) *csr.Graph {
	g, _, err := csr.FromEdges(nodes, edges, csr.Options{})
	require.NoError(t, err)
	return g
}

// triangle is the triangle 0-1-2 with node 3 at 2, and node 4 alone.
func triangle(t testing.TB) *csr.Graph {
	return undirected(t, 5, csr.Edge{Node: 0, Neighbour: 1}, csr.Edge{Node: 1, Neighbour: 2}, csr.Edge{Node: 0, Neighbour: 2}, csr.Edge{Node: 2, Neighbour: 3})
}

// anyGraph draws a small graph, directed or not.
func anyGraph(t *rapid.T, most int) *csr.Graph {
	nodes := rapid.IntRange(1, most).Draw(t, "nodes")
	node := rapid.Int32Range(0, int32(nodes-1))
	edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) csr.Edge {
		return csr.Edge{Node: node.Draw(t, "v"), Neighbour: node.Draw(t, "u")}
	}), 0, 2*nodes).Draw(t, "edges")
	g, _, err := csr.FromEdges(nodes, edges, csr.Options{Directed: rapid.Bool().Draw(t, "directed")})
	require.NoError(t, err)
	return g
}

// anyMask draws a mask, or none.
func anyMask(t *rapid.T, g *csr.Graph) []bool {
	if rapid.Bool().Draw(t, "unmasked") {
		return nil
	}
	return rapid.SliceOfN(rapid.Bool(), g.NumNodes(), g.NumNodes()).Draw(t, "mask")
}

func anyNode(t *rapid.T, g *csr.Graph, label string) int32 {
	return rapid.Int32Range(0, int32(g.NumNodes()-1)).Draw(t, label)
}

// maximalWalks lists all walks from a walk's end that have so many hops more or cannot go on, by trying every node of
// the graph at every step: it shares nothing with the package but the question whether there is an edge.
func maximalWalks(g *csr.Graph, walk []int32, hops int, mask []bool) [][]int32 {
	var all [][]int32
	if hops > 0 {
		for u := range int32(g.NumNodes()) {
			if g.HasEdge(walk[len(walk)-1], u) && (mask == nil || !mask[u]) {
				all = append(all, maximalWalks(g, append(slices.Clone(walk), u), hops-1, mask)...)
			}
		}
	}
	if len(all) == 0 {
		return [][]int32{walk}
	}
	return all
}

// prefixes is the set of all beginnings of walks: the smallest tree with these paths has one node for each.
func prefixes(walks [][]int32) map[string]int {
	set := map[string]int{}
	for _, walk := range walks {
		for n := 1; n <= len(walk); n++ {
			set[fmt.Sprint(walk[:n])] = n - 1
		}
	}
	return set
}

// network is a GNN of any number of layers that tells apart all that eq. 1 lets it: f and g are hashes, and g does not
// depend on the order of neighbours. Equal numbers are equal representations.
func network(g *csr.Graph, h []uint64, layers int, mask []bool) [][]uint64 {
	all := [][]uint64{h}
	for range layers {
		next := make([]uint64, len(h))
		for v := range next {
			var sum uint64
			for _, u := range g.Neighbours(int32(v)) {
				if mask == nil || !mask[u] {
					x := h[u] + 0x2545f4914f6cdd1d // a neighbour whose features are 0 counts too
					sum += (x ^ x>>29) * 0x9fb21c651e98df25
				}
			}
			next[v] = (h[v]*0xd6e8feb86659fd93 ^ sum>>7) + sum*0xa0761d6478bd642f
		}
		h = next
		all = append(all, h)
	}
	return all
}

// pick takes the rows of h that nodes stand for.
func pick(h []uint64, bases []int32) []uint64 {
	rows := make([]uint64, len(bases))
	for i, base := range bases {
		rows[i] = h[base]
	}
	return rows
}
