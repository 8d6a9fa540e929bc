package aggtree

import (
	"context"
	"fmt"
	"slices"

	"nodemask/csr"
)

// BuildCached returns the aggregation tree of a node v that arrives after training and is predicted from a cache
// (section 4, eq. 4):
//
//	ĥ_v^(k) = f( ĥ_v^(k-1), g({ h̃_u^(k-1) : u ∈ N_v }) )
//
// neighbours are v's in the train graph. Each u hangs below the root as T_u^(k-1) of the train graph, summarised by the
// cached h̃_u^(k-1), so v appears only as the root. Cut off one level earlier, this is the tree of ĥ_v^(k-1) (lemma 1).
//
// The root's base is train.NumNodes(). A mask has an entry per train graph node.
func BuildCached(ctx context.Context, train *csr.Graph, neighbours []int32, hops int, o Options) (*Tree, error) {
	if err := checkArguments(ctx, train, hops, o.Mask); err != nil {
		return nil, err
	}
	first := slices.Sorted(slices.Values(neighbours))
	for i, u := range first {
		if u < 0 || int(u) >= train.NumNodes() {
			return nil, fmt.Errorf("train neighbour %d: the train graph has %d nodes, numbered from 0: leave out "+
				"neighbours that are not train nodes", u, train.NumNodes())
		}
		if i > 0 && first[i-1] == u {
			return nil, fmt.Errorf("train neighbour %d is listed twice: list each once", u)
		}
	}
	w := walks{graph: train, root: int32(train.NumNodes()), first: first, mask: o.Mask}
	t, err := w.build(ctx, hops, o)
	if err != nil {
		return nil, err
	}
	t.Group = make([]int32, t.NumNodes())
	t.Group[0] = -1
	for i := 1; i < len(t.Group); i++ {
		if parent := t.Parent[i]; parent == 0 {
			t.Group[i] = int32(i) - 1
		} else {
			t.Group[i] = t.Group[parent]
		}
	}
	return t, nil
}

// Arrival is an arriving node's cached tree with its graphs. Train nodes are numbered in the caller's order, the
// arriving node after them.
type Arrival struct {
	// Tree's bases are nodes of Grown.
	Tree  *Tree
	Train *csr.Graph
	// Grown is the train graph plus the arriving node, with edges to its train neighbours but none back.
	Grown *csr.Graph
	// Base maps each node of Grown to its number in the whole graph.
	Base []int32
	// Mask is [Options.Mask] in Grown's numbers; the arriving node is never masked.
	Mask []bool
}

// BuildArrival returns a graph node's cached tree for a model trained on the train nodes. [Options.Mask] has an entry
// per graph node.
func BuildArrival(ctx context.Context, g *csr.Graph, train []int32, node int32, hops int, o Options) (*Arrival, error) {
	if _, err := walksFrom(ctx, g, node, hops, o.Mask); err != nil {
		return nil, err
	}
	known, place, err := g.Induced(train) // place is -1 for all but train nodes
	if err != nil {
		return nil, fmt.Errorf("train nodes: %w", err)
	}
	if place[node] >= 0 {
		return nil, fmt.Errorf("node %d is a train node: expected one that arrives later", node)
	}
	var neighbours []int32
	for _, u := range g.Neighbours(node) {
		if place[u] >= 0 {
			neighbours = append(neighbours, place[u])
		}
	}
	slices.Sort(neighbours)
	a := &Arrival{Train: known, Base: append(slices.Clone(train), node)}
	if o.Mask != nil {
		a.Mask = make([]bool, len(a.Base))
		for i, v := range train {
			a.Mask[i] = o.Mask[v]
		}
		o.Mask = a.Mask[:len(train)]
	}
	if a.Tree, err = BuildCached(ctx, known, neighbours, hops, o); err != nil {
		return nil, err
	}
	offsets := append(slices.Clone(known.Offsets), known.NumEdges()+int64(len(neighbours)))
	if a.Grown, err = csr.New(offsets, append(slices.Clone(known.Indices), neighbours...)); err != nil {
		return nil, fmt.Errorf("the grown graph: %w", err)
	}
	return a, nil
}
