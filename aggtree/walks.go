package aggtree

import (
	"context"
	"errors"
	"fmt"

	"nodemask/csr"
)

// MaxHops is the largest number of hops that is accepted: far more than a GNN has layers.
const MaxHops = 1000

// walks says which walks a tree holds. All that follows from walks alone is written for it, so that it serves trees of a
// graph and cached trees alike.
type walks struct {
	graph *csr.Graph
	root  int32
	first []int32 // what the root aggregates from: its row, or a new node's train neighbours
	mask  []bool  // nil: nothing is masked
}

// walksFrom checks what a caller passed and returns the walks from a node of the graph.
func walksFrom(g *csr.Graph, root int32, hops int, mask []bool) (walks, error) {
	if err := checkArguments(g, hops, mask); err != nil {
		return walks{}, err
	}
	if root < 0 || int(root) >= g.NumNodes() {
		return walks{}, fmt.Errorf("aggtree: root %d: the graph has %d nodes, numbered from 0", root, g.NumNodes())
	}
	return walks{graph: g, root: root, first: g.Neighbours(root), mask: mask}, nil
}

func checkArguments(g *csr.Graph, hops int, mask []bool) error {
	switch {
	case g == nil:
		return errors.New("aggtree: the graph is nil: build one with csr.FromEdges")
	case hops < 0 || hops > MaxHops:
		return fmt.Errorf("aggtree: %d hops: expected between 0 and %d", hops, MaxHops)
	case mask != nil && len(mask) != g.NumNodes():
		return fmt.Errorf("aggtree: the mask has %d entries, but the graph has %d nodes: give one entry a node, or nil", len(mask), g.NumNodes())
	}
	return nil
}

// bases is one more than the largest base in the tree: a new node's number lies just outside its graph.
func (w walks) bases() int { return max(w.graph.NumNodes(), int(w.root)+1) }

// next is what a walk may go to from v after depth hops, masked nodes included.
func (w walks) next(depth int, v int32) []int32 {
	if depth == 0 {
		return w.first
	}
	return w.graph.Neighbours(v)
}

// masked says whether u is in no child set.
func (w walks) masked(u int32) bool { return w.mask != nil && w.mask[u] }

// ticker asks a context whether to go on, but only once in many steps, as asking costs more than a step.
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
	return t.ctx.Err()
}
