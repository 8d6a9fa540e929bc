package aggtree

import (
	"context"
	"errors"
	"fmt"

	"nodemask/csr"
	"nodemask/internal/ended"
)

// MaxHops is the largest number of hops.
const MaxHops = 1000

type walks struct {
	graph *csr.Graph
	root  int32
	first []int32 // neighbours of the root: its row, or an arriving node's train neighbours
	mask  []bool
}

func walksFrom(ctx context.Context, g *csr.Graph, root int32, hops int, mask []bool) (walks, error) {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return walks{}, err
	}
	if root < 0 || int(root) >= g.NumNodes() {
		return walks{}, fmt.Errorf("root %d: the graph has %d nodes, numbered from 0", root, g.NumNodes())
	}
	return walks{graph: g, root: root, first: g.Neighbours(root), mask: mask}, nil
}

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

// bases returns the number of bases; an arriving node's base is one past the graph.
func (w walks) bases() int { return max(w.graph.NumNodes(), int(w.root)+1) }

func (w walks) next(depth int, v int32) []int32 {
	if depth == 0 {
		return w.first
	}
	return w.graph.Neighbours(v)
}

func (w walks) masked(u int32) bool { return w.mask != nil && w.mask[u] }

// ticker checks a context once in many steps, to save time.
type ticker struct {
	ctx   context.Context
	steps int
}

const stepsPerTick = 1 << 14

func (t *ticker) tick(steps int) error {
	if t.steps += steps + 1; t.steps < stepsPerTick {
		return nil
	}
	t.steps = 0
	return ended.Err(t.ctx)
}
