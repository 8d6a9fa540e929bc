package aggtree

import (
	"context"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
)

var ctx = context.Background()

func built(t require.TestingT, g *csr.Graph, root int32, hops int, mask []bool) *Tree {
	tree, err := Build(ctx, g, root, hops, Options{Mask: mask})
	require.NoError(t, err)
	return tree
}

// maximalWalks lists all walks from a walk's end that have hops more or cannot go on, by trying every node at every
// step: it shares only the edge test with the package.
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

// prefixes returns all beginnings of walks: the smallest tree with these paths has one node for each.
func prefixes(walks [][]int32) map[string]int {
	set := map[string]int{}
	for _, walk := range walks {
		for n := 1; n <= len(walk); n++ {
			set[fmt.Sprint(walk[:n])] = n - 1
		}
	}
	return set
}

// network is a GNN that tells apart all that eq. 1 allows: f and g are hashes, and g ignores the order of neighbours.
// Equal numbers mean equal representations.
func network(g *csr.Graph, h []uint64, layers int, mask []bool) [][]uint64 {
	all := [][]uint64{h}
	for range layers {
		next := make([]uint64, len(h))
		for v := range next {
			var sum uint64
			for _, u := range g.Neighbours(int32(v)) {
				if mask == nil || !mask[u] {
					x := h[u] + 0x2545f4914f6cdd1d // count neighbours with features of 0 too
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

func pick(h []uint64, bases []int32) []uint64 {
	rows := make([]uint64, len(bases))
	for i, base := range bases {
		rows[i] = h[base]
	}
	return rows
}
