package aggtree

import (
	"context"
	"fmt"
	"slices"

	"nodemask/csr"
)

// HashAll returns a hash of T_v^hops for every node v of the graph. Two trees whose bases have colours get the same hash
// if, and up to chance only if, they are isomorphic: if one turns into the other, colours included, by reordering
// siblings. Two trees that differ collide with a probability of about 2^-64; hashes do not withstand somebody who looks
// for such trees. colours has one entry a node; nil: all alike.
//
// No tree is built: each hop is one round of colour refinement (Weisfeiler and Leman), since by lemma 1 the tree of v is
// v's colour above the trees, one hop less, of its neighbours. It takes hops times the edges, but for sorting each row.
//
// Errors are those of [Count], and one for a wrong number of colours.
func HashAll(ctx context.Context, g *csr.Graph, hops int, colours []uint64, mask []bool) ([]uint64, error) {
	if err := checkArguments(g, hops, mask); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := g.NumNodes()
	if colours == nil {
		colours = make([]uint64, n)
	}
	if len(colours) != n {
		return nil, fmt.Errorf("aggtree: there are %d colours, but the graph has %d nodes: give one colour a node, or nil", len(colours), n)
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

// hashNode hashes a node above its children, whose hashes it sorts: their order says nothing.
func hashNode(colour uint64, children []uint64) uint64 {
	slices.Sort(children)
	h := mix(colour + 1)
	for _, child := range children {
		h = mix(h ^ mix(child))
	}
	return mix(h ^ uint64(len(children)))
}

// mix is the output function of SplitMix64, with a step before so that 0 does not stay 0: one to one, and each bit that
// goes in changes half of those that come out.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Groups divides the nodes of a graph into those that have isomorphic trees.
type Groups struct {
	Of    []int32 // the group of each node: groups are numbered from 0 by their least member
	Count int     // how many groups there are
}

// Members lists the nodes of each group, ascending.
func (g Groups) Members() [][]int32 {
	members := make([][]int32, g.Count)
	for v, group := range g.Of {
		members[group] = append(members[group], int32(v))
	}
	return members
}

// GroupAll groups nodes whose hops-aggregation trees are isomorphic, with nodes coloured by their features: as many
// layers of a GNN compute the same representation for all nodes of a group, whatever its weights (theorem 1), as it
// cannot tell the order of children. That is so for layers as in eq. 1, which know of a neighbour only its
// representation; GCN reads its degree too. Different groups a GNN may or may not tell apart; GIN can (section 2).
// Groups come from hashes, so that two of them are one by mistake with a probability of about n²/2^65. Errors are those
// of [HashAll].
func GroupAll(ctx context.Context, g *csr.Graph, hops int, colours []uint64, mask []bool) (Groups, error) {
	all, err := HashAll(ctx, g, hops, colours, mask)
	if err != nil {
		return Groups{}, err
	}
	groups := Groups{Of: make([]int32, len(all))}
	numbers := make(map[uint64]int32)
	for v, hash := range all {
		number, known := numbers[hash]
		if !known {
			number = int32(groups.Count)
			numbers[hash] = number
			groups.Count++
		}
		groups.Of[v] = number
	}
	return groups, nil
}
