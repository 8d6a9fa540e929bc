package aggtree

import (
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
