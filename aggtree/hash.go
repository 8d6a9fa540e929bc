package aggtree

import (
	"context"
	"fmt"
	"slices"

	"nodemask/csr"
)

// HashAll returns, for every graph node v, a hash of T_v^hops. Two trees have equal hashes if both hold: they are equal
// up to the order of siblings, and their corresponding tree nodes stand for graph nodes of equal colour. Other trees
// have equal hashes with probability about 2^-64. colours has an entry per graph node; nil gives all nodes one colour.
// A nil mask masks none.
//
// No tree is built. By lemma 1, T_v^k is the root v with its neighbours' trees T_u^(k-1) below it, so each hop is one
// round of colour refinement (Weisfeiler and Leman).
func HashAll(ctx context.Context, g *csr.Graph, hops int, colours []uint64, mask []bool) ([]uint64, error) {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return nil, err
	}
	n := g.NumNodes()
	if colours == nil {
		colours = make([]uint64, n)
	}
	if len(colours) != n {
		return nil, fmt.Errorf("there are %d colours, but the graph has %d nodes: give one colour a node, or nil",
			len(colours), n)
	}
	all, next := make([]uint64, n), make([]uint64, n)
	for v := range all {
		all[v] = hashNode(colours[v], nil)
	}
	scratch := make([]uint64, 0, g.MaxDegree())
	tick := ticker{ctx: ctx}
	for range hops {
		for v := range int32(n) {
			neighbours := g.Neighbours(v)
			if err := tick.tick(len(neighbours)); err != nil {
				return nil, err
			}
			scratch = scratch[:0]
			for _, u := range neighbours {
				if mask == nil || !mask[u] {
					scratch = append(scratch, all[u])
				}
			}
			next[v] = hashNode(colours[v], scratch)
		}
		all, next = next, all
	}
	return all, nil
}

func hashNode(colour uint64, children []uint64) uint64 {
	slices.Sort(children)
	h := mix(colour + 1)
	for _, child := range children {
		h = mix(h ^ mix(child))
	}
	return mix(h ^ uint64(len(children)))
}

// mix is SplitMix64's output function; the added constant keeps 0 from mapping to 0.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// GroupAll groups nodes whose trees T_v^hops are isomorphic, and orders the groups by their smallest nodes. If colours
// stand for features, a GNN with hops layers computes one representation per group (theorem 1), except GCN, because GCN
// reads degrees. The probability that any two of n nodes are grouped wrongly is at most about n²/2^65.
func GroupAll(ctx context.Context, g *csr.Graph, hops int, colours []uint64, mask []bool) ([][]int32, error) {
	all, err := HashAll(ctx, g, hops, colours, mask)
	if err != nil {
		return nil, err
	}
	var groups [][]int32
	numbers := make(map[uint64]int)
	for v, hash := range all {
		number, ok := numbers[hash]
		if !ok {
			number = len(groups)
			numbers[hash] = number
			groups = append(groups, nil)
		}
		groups[number] = append(groups[number], int32(v))
	}
	return groups, nil
}
