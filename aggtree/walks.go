package aggtree

import (
	"context"
	"errors"
	"fmt"

	"nodemask/csr"
	"nodemask/internal/ended"
)

// MaxHops is the largest number of hops that this package accepts: far more than a GNN has layers.
const MaxHops = 1000

// walks says which walks a tree holds. What depends on walks alone is a method of it, for trees of a graph and cached
// trees alike.
type walks struct {
	graph *csr.Graph
	root  int32
	first []int32 // the nodes that the root aggregates from: its row, or an arriving node's train neighbours
	mask  []bool  // nil: nothing is masked
}

// walksFrom checks a caller's arguments and returns the walks from a node of the graph.
func walksFrom(ctx context.Context, g *csr.Graph, root int32, hops int, mask []bool) (walks, error) {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return walks{}, err
	}
	if root < 0 || int(root) >= g.NumNodes() {
		return walks{}, fmt.Errorf("root %d: the graph has %d nodes, numbered from 0", root, g.NumNodes())
	}
	return walks{graph: g, root: root, first: g.Neighbours(root), mask: mask}, nil
}

// checkArguments returns an error for no graph, for hops or a mask that do not fit it, or the context's if it is done.
func checkArguments(ctx context.Context, g *csr.Graph, hops int, mask []bool) error {
	switch {
	case g == nil:
		return errors.New("the graph is nil: build one with csr.FromEdges")
	case hops < 0 || hops > MaxHops:
		return fmt.Errorf("%d hops: expected between 0 and %d", hops, MaxHops)
	case mask != nil && len(mask) != g.NumNodes():
		return fmt.Errorf("the mask has %d entries, but the graph has %d nodes: give one entry a node, or nil",
			len(mask), g.NumNodes())
	}
	return ended.Err(ctx)
}

// bases returns one more than the largest base in the tree. An arriving node's number lies just outside the graph.
func (w walks) bases() int { return max(w.graph.NumNodes(), int(w.root)+1) }

// next returns the nodes that a walk may go to from v after depth hops, masked nodes included.
func (w walks) next(depth int, v int32) []int32 {
	if depth == 0 {
		return w.first
	}
	return w.graph.Neighbours(v)
}

// masked reports whether u is in no child set.
func (w walks) masked(u int32) bool { return w.mask != nil && w.mask[u] }

// ticker asks a context whether to go on, once in many steps, since asking costs more than a step.
type ticker struct {
	ctx   context.Context
	steps int
}

const stepsPerTick = 1 << 14

// tick counts steps, and returns the context's error if it is time to ask.
func (t *ticker) tick(steps int) error {
	if t.steps += steps + 1; t.steps < stepsPerTick {
		return nil
	}
	t.steps = 0
	return ended.Err(t.ctx)
}
