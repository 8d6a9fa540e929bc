package csr

import (
	"math/rand/v2"
	"testing"
)

// A million nodes, ten million pairs in random order.
func BenchmarkTenMillionEdges(b *testing.B) {
	const nodes, pairs = 1_000_000, 10_000_000
	r := rand.New(rand.NewPCG(1, 2))
	edges := make([]Edge, pairs)
	for i := range edges {
		edges[i] = Edge{r.Int32N(nodes), r.Int32N(nodes)}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := FromEdges(nodes, edges, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
