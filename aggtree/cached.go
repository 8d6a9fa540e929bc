package aggtree

import (
	"context"
	"fmt"
	"slices"

	"nodemask/csr"
)

// BuildCached returns the aggregation tree of a node v that arrives after training, as predicting from a cache sees it
// (section 4, eq. 4):
//
//	ĥ_v^(k) = f( ĥ_v^(k-1), g({ h̃_u^(k-1) : u ∈ N_v }) )
//
// neighbours are v's neighbours in the train graph; leave out other nodes that arrive, since nothing of them is cached.
// Each neighbour u hangs below the root as T_u^(k-1) of the train graph, the structure that its cached h̃_u^(k-1)
// captured. v was not there then, so it appears as the root only. [Tree.Group] says in which of these subtrees a node
// lies, and [Tree.Descendants] what each cached representation captured.
//
// One tree holds all that eq. 4 reads, also where it descends to ĥ_v^(k-1), which reads h̃_u^(k-2): by lemma 1,
// T_u^(k-2) is T_u^(k-1) cut off one level earlier, and so the tree of ĥ_v^(k-1) is this one cut off one level
// earlier.
//
// The root has the base train.NumNodes(), the first number that the train graph leaves free. A mask has an entry for
// each node of the train graph; predicting masks nothing, so it is normally nil. Errors are those of [Build], and
// others for neighbours outside the train graph or listed twice.
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

// Arrival holds the cached tree of a node that arrives after training, with its graphs. Both graphs number the train
// nodes from 0, in the order in which the caller listed them; the arriving node has the next number.
type Arrival struct {
	// Tree is the tree that [BuildCached] returns. Its bases are nodes of Grown.
	Tree *Tree
	// Train has the train nodes and the edges among them.
	Train *csr.Graph
	// Grown has the arriving node too, with edges to its train neighbours but none back: Tree is its aggregation tree
	// there.
	Grown *csr.Graph
	// Base is the number in the whole graph of each node of Grown.
	Base []int32
	// Mask is [Options.Mask] in the numbers of Grown. It never masks the arriving node. nil: nothing is masked.
	Mask []bool
}

// BuildArrival returns the cached tree of a node of a graph for a model that was trained on other nodes of it, the
// train nodes. [Options.Mask] has an entry for each node of the graph. Errors are those of [Build], and others for
// train nodes that are listed twice, are not in the graph, or include the node itself.
func BuildArrival(ctx context.Context, g *csr.Graph, train []int32, node int32, hops int, o Options) (*Arrival, error) {
	if _, err := walksFrom(ctx, g, node, hops, o.Mask); err != nil {
		return nil, err
	}
	known, place, err := g.Induced(train) // place is -1 for nodes that are not train nodes
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
