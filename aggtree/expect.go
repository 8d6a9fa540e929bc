package aggtree

import (
	"context"
	"fmt"

	"nodemask/csr"
)

// Expectation is a tree's mean size over draws of the mask.
type Expectation struct {
	// Depth is the expected number of tree nodes per depth [hops+1].
	Depth []float64
	// Root is the expected number of tree nodes with the root's base [hops+1].
	Root []float64
}

// Total returns the expected number of tree nodes.
func (e Expectation) Total() float64 {
	var sum float64
	for _, n := range e.Depth {
		sum += n
	}
	return sum
}

// Expect returns the expected size of T_root^hops under node masking (section 5). keepRate, the paper's p, is the
// probability that a node is kept; here 0 masks every node.
//
// Replicas share one draw, so a walk that visits j distinct nodes after its start (counting the start if it returns)
// exists with probability p^j. Expect sums over all walks; a tree of more than [DefaultLimit] nodes is a
// [*TooLargeError].
func Expect(ctx context.Context, g *csr.Graph, root int32, hops int, keepRate float64) (e Expectation, err error) {
	w, err := walksFrom(ctx, g, root, hops, nil)
	if err != nil {
		return e, err
	}
	if !(keepRate >= 0 && keepRate <= 1) { // also refuses NaN
		return e, fmt.Errorf("a keep rate of %v: expected a probability, from 0 to 1", keepRate)
	}
	counts, err := w.count(ctx, hops)
	if err != nil {
		return e, err
	}
	if counts.Total > DefaultLimit {
		return e, &TooLargeError{Root: root, Hops: hops, Counts: counts, Limit: DefaultLimit}
	}
	e = Expectation{Depth: make([]float64, hops+1), Root: make([]float64, hops+1)}
	walk := enumeration{walks: w, keep: keepRate, used: make([]int32, g.NumNodes()), hops: hops, e: &e,
		tick: ticker{ctx: ctx}}
	if err := walk.from(root, 0, 1); err != nil {
		return Expectation{}, err
	}
	return e, nil
}

type enumeration struct {
	walks
	keep float64
	used []int32 // visits of the current walk to each node
	hops int
	e    *Expectation
	tick ticker
}

func (n *enumeration) from(v int32, depth int, probability float64) error {
	n.e.Depth[depth] += probability
	if v == n.root {
		n.e.Root[depth] += probability
	}
	if depth == n.hops {
		return nil
	}
	next := n.next(depth, v)
	if err := n.tick.tick(len(next)); err != nil {
		return err
	}
	for _, u := range next {
		p := probability
		if n.used[u] == 0 {
			p *= n.keep
		}
		if p == 0 {
			continue
		}
		n.used[u]++
		err := n.from(u, depth+1, p)
		n.used[u]--
		if err != nil {
			return err
		}
	}
	return nil
}
