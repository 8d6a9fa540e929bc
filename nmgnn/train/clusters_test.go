package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/internal/gnntest"
)

func TestClustersPartitionNodesEvenly(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(r, "nodes")
		var edges []csr.Edge
		for range rapid.IntRange(0, 80).Draw(r, "edges") {
			edges = append(edges, csr.Edge{Node: int32(rapid.IntRange(0, n-1).Draw(r, "v")),
				Neighbour: int32(rapid.IntRange(0, n-1).Draw(r, "u"))})
		}
		g, _, err := csr.FromEdges(n, edges, csr.Options{})
		require.NoError(r, err)
		parts := rapid.IntRange(0, 50).Draw(r, "parts")
		clusters := partition(g, parts)
		require.Len(r, clusters, min(max(parts, 1), n))
		var all []int32
		for _, c := range clusters {
			require.NotEmpty(r, c)
			require.LessOrEqual(r, len(c), int(math.Ceil(1.05*float64(n)/float64(len(clusters)))))
			require.True(r, slices.IsSorted(c))
			all = append(all, c...)
		}
		slices.Sort(all)
		require.Len(r, all, n)
		require.Len(r, slices.Compact(all), n)
	})
}

func share(g *csr.Graph, clusters [][]int32) float64 {
	part, cut := inverse(clusters, g.NumNodes()), 0
	for v, u := range g.All() {
		if part[v] != part[u] {
			cut++
		}
	}
	return float64(cut) / float64(max(g.NumEdges(), 1))
}

func TestClustersFollowCommunities(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 4000, Classes: 40, MeanDegree: 10, Homophily: 0.9,
		Seed: 1})
	require.NoError(t, err)
	for _, x := range []struct {
		of    string
		graph *csr.Graph
		most  float64 // relative to random parts
	}{{"SBM", g.Edges, 0.2}, {"Cora", gnntest.Cora(t).Edges, 0.25}} {
		clusters := partition(x.graph, 8)
		n := x.graph.NumNodes()
		order := rand.New(rand.NewPCG(1, 2)).Perm(n)
		random := make([][]int32, 8)
		for i, v := range order {
			random[i%8] = append(random[i%8], int32(v))
		}
		got, by := share(x.graph, clusters), share(x.graph, random)
		t.Logf("%s: %.3f of the edges are cut, %.3f by random parts", x.of, got, by)
		require.Less(t, got, x.most*by)
		require.Equal(t, clusters, partition(x.graph, 8), "equal graphs have equal clusters")
	}
}
