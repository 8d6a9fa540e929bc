package aggtree

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nodemask/csr"
)

// DefaultLimit is the default limit on tree nodes.
const DefaultLimit = 1_000_000

// Options configure how trees are built.
type Options struct {
	// Limit is the largest number of tree nodes; 0 means [DefaultLimit].
	Limit int
	// Mask is true for each masked graph node [nodes] (section 5); nil masks none.
	Mask []bool
}

func (o Options) limit() (int, error) {
	switch {
	case o.Limit == 0:
		return DefaultLimit, nil
	case o.Limit < 0 || o.Limit > math.MaxInt32-1:
		return 0, fmt.Errorf("a limit of %d tree nodes: expected between 1 and %d, or 0 for %d", o.Limit,
			math.MaxInt32-1, DefaultLimit)
	}
	return o.Limit, nil
}

// TooLargeError reports a tree above the limit.
type TooLargeError struct {
	Root   int32
	Hops   int
	Counts Counts
	Limit  int
}

// Error returns the limit and how to stay below it.
func (e *TooLargeError) Error() string {
	least := ""
	if e.Counts.Saturated() {
		least = "at least "
	}
	return fmt.Sprintf("the %d-aggregation tree of node %d has %s%d nodes, but the limit is %d: ask for fewer "+
		"hops, mask nodes, or raise Options.Limit",
		e.Hops, e.Root, least, e.Counts.Total, e.Limit)
}

// Build returns T_root^hops (section 3.1) in time and memory proportional to its size, or a [*TooLargeError] before
// allocating too much.
func Build(ctx context.Context, g *csr.Graph, root int32, hops int, o Options) (*Tree, error) {
	w, err := walksFrom(ctx, g, root, hops, o.Mask)
	if err != nil {
		return nil, err
	}
	return w.build(ctx, hops, o)
}

func (w walks) build(ctx context.Context, hops int, o Options) (*Tree, error) {
	limit, err := o.limit()
	if err != nil {
		return nil, err
	}
	counts, err := w.count(ctx, hops)
	if err != nil {
		return nil, err
	}
	if counts.Total > uint64(limit) {
		return nil, &TooLargeError{Root: w.root, Hops: hops, Counts: counts, Limit: limit}
	}
	n := int32(counts.Total)
	t := &Tree{Graph: w.graph, Mask: w.mask, Hops: hops, Base: make([]int32, n), Parent: make([]int32, n),
		FirstChild: make([]int32, n+1), Level: make([]int32, hops+2)}
	if w.mask != nil {
		t.Hidden = make([]int32, n)
		t.RootMasked = int(w.root) < len(w.mask) && w.mask[w.root]
	}
	for d, count := range counts.Depth {
		t.Level[d+1] = t.Level[d] + int32(count)
	}
	t.Base[0], t.Parent[0] = w.root, -1
	tick := ticker{ctx: ctx}
	end := int32(1)
	for depth := range hops {
		for i := t.Level[depth]; i < t.Level[depth+1]; i++ {
			t.FirstChild[i] = end
			next := w.next(depth, t.Base[i])
			if err := tick.tick(len(next)); err != nil {
				return nil, err
			}
			for _, u := range next {
				if w.masked(u) {
					t.Hidden[i]++
					continue
				}
				t.Base[end], t.Parent[end] = u, i
				end++
			}
		}
	}
	for i := t.Level[hops]; i <= n; i++ {
		t.FirstChild[i] = n
	}
	return t, nil
}

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
