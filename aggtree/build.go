package aggtree

import (
	"context"
	"fmt"
	"math"

	"nodemask/csr"
)

// DefaultLimit is the largest number of tree nodes to build where [Options] sets no limit.
const DefaultLimit = 1_000_000

// Options says how trees are built. The zero value masks nothing and builds up to [DefaultLimit] nodes.
type Options struct {
	// Limit is the largest number of tree nodes to build; 0: [DefaultLimit].
	Limit int
	// Mask is true for each masked node of the graph [nodes] (section 5): it is in no child set, but may be the root.
	// nil: no node is masked.
	Mask []bool
}

// limit returns the limit to apply.
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

// TooLargeError reports that a tree has more nodes than the limit.
type TooLargeError struct {
	Root   int32  // the node whose tree it is
	Hops   int    // the hops of the tree
	Counts Counts // the number of its nodes
	Limit  int    // the largest number that was to be built
}

// Error names the tree, its size and the limit, and says what to do.
func (e *TooLargeError) Error() string {
	least := ""
	if e.Counts.Saturated() {
		least = "at least "
	}
	return fmt.Sprintf("the %d-aggregation tree of node %d has %s%d nodes, but the limit is %d: ask for fewer "+
		"hops, mask nodes, or raise Options.Limit",
		e.Hops, e.Root, least, e.Counts.Total, e.Limit)
}

// Build returns T_root^hops, the aggregation tree of a node of the graph (section 3.1), in time and memory proportional
// to its size. For a tree above the limit it returns a [*TooLargeError] before it takes any memory. Other errors are
// for a root, hops, mask or limit out of range, or the context's if it ends first.
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
