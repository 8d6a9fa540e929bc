package aggtree

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"nodemask/csr"
)

// DefaultLimit is the default limit on tree nodes.
const DefaultLimit = 1_000_000

// Options configure how trees are built.
type Options struct {
	// Limit is the largest number of tree nodes; 0 means [DefaultLimit].
	Limit int
	// Mask has one entry per graph node, true where the node is masked (section 5 of the paper); nil masks none.
	Mask []bool
}

// TooLargeError reports a tree of more nodes than the limit.
type TooLargeError struct {
	Root   int32
	Hops   int
	Counts Counts
	Limit  int
}

// Error names the limit and says how to get a smaller tree.
func (e *TooLargeError) Error() string {
	least := ""
	if e.Counts.Total == math.MaxUint64 {
		least = "at least "
	}
	return fmt.Sprintf("the %d-aggregation tree of node %d has %s%d nodes, but the limit is %d: ask for fewer "+
		"hops, mask nodes, or raise the limit",
		e.Hops, e.Root, least, e.Counts.Total, e.Limit)
}

// Build returns the aggregation tree of root with depth hops (T_root^hops in section 3.1 of the paper). Time and memory
// are proportional to the tree's size. If the tree would exceed the limit, Build allocates nothing for it and returns a
// [*TooLargeError].
func Build(ctx context.Context, g *csr.Graph, root int32, hops int, o Options) (*Tree, error) {
	counts, err := o.count(ctx, g, root, hops)
	if err != nil {
		return nil, err
	}
	n := int32(counts.Total)
	t := &Tree{Graph: g, Mask: o.Mask, Hops: hops, Base: make([]int32, n), Parent: make([]int32, n),
		FirstChild: make([]int32, n+1), Level: make([]int32, hops+2)}
	if o.Mask != nil {
		t.Hidden, t.RootMasked = make([]int32, n), o.Mask[root]
	}
	for d, count := range counts.Depth {
		t.Level[d+1] = t.Level[d] + int32(count)
	}
	t.Base[0], t.Parent[0] = root, -1
	tick := ticker{ctx: ctx}
	end := int32(1)
	for i := range t.Level[hops] {
		t.FirstChild[i] = end
		next := g.Neighbours(t.Base[i])
		if err := tick.tick(len(next)); err != nil {
			return nil, err
		}
		for _, u := range next {
			if o.Mask != nil && o.Mask[u] {
				t.Hidden[i]++
				continue
			}
			t.Base[end], t.Parent[end] = u, i
			end++
		}
	}
	for i := t.Level[hops]; i <= n; i++ {
		t.FirstChild[i] = n
	}
	return t, nil
}

func (o Options) count(ctx context.Context, g *csr.Graph, root int32, hops int) (Counts, error) {
	limit := cmp.Or(o.Limit, DefaultLimit)
	if limit < 0 || limit > math.MaxInt32-1 {
		return Counts{}, fmt.Errorf("a limit of %d tree nodes: expected between 1 and %d, or 0 for %d", limit,
			math.MaxInt32-1, DefaultLimit)
	}
	counts, err := Count(ctx, g, root, hops, o.Mask)
	if err == nil && counts.Total > uint64(limit) {
		err = &TooLargeError{Root: root, Hops: hops, Counts: counts, Limit: limit}
	}
	return counts, err
}

// BuildCached returns the aggregation tree of a node v that arrives after training and is predicted from cached
// representations of the train nodes (section 4, eq. 4):
//
//	ĥ_v^(k) = f( ĥ_v^(k-1), g({ h̃_u^(k-1) : u ∈ N_v }) )
//
// Here h̃_u is the cached representation of a train neighbour u; f and g are the layer's functions. Each such u is a
// child of the root, and the subtree at u is T_u^(k-1) in the train graph. The train graph does not contain v, so v is
// only at the root. The tree of ĥ_v^(k-1) is the returned tree without its last level (lemma 1).
func BuildCached(ctx context.Context, g *csr.Graph, train []int32, v int32, hops int, o Options) (*Tree, error) {
	if err := checkRoot(ctx, g, v, hops, o.Mask); err != nil {
		return nil, err
	}
	_, place, err := g.Induced(train)
	if err != nil {
		return nil, fmt.Errorf("train nodes: %w", err)
	}
	if place[v] >= 0 {
		return nil, fmt.Errorf("node %d is a train node: expected one that arrives later", v)
	}
	known := &csr.Graph{Offsets: make([]int64, 1, len(g.Offsets))}
	for w := range int32(g.NumNodes()) {
		for _, u := range g.Neighbours(w) {
			if place[u] >= 0 {
				known.Indices = append(known.Indices, u)
			}
		}
		known.Offsets = append(known.Offsets, known.NumEdges())
	}
	t, err := Build(ctx, known, v, hops, o)
	if err != nil {
		return nil, err
	}
	t.Cached = true
	return t, nil
}
