package aggtree

import (
	"context"
	"fmt"
	"math/rand/v2"

	"nodemask/csr"
)

const samples = 1000

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
// exists with probability p^j. Expect sums over all walks of up to two hops, and over longer ones up to [DefaultLimit];
// beyond, it averages 1000 fixed draws.
func Expect(ctx context.Context, g *csr.Graph, root int32, hops int, keepRate float64) (Expectation, error) {
	return expect(ctx, g, root, hops, keepRate, DefaultLimit)
}

func expect(
	ctx context.Context, g *csr.Graph, root int32, hops int, keepRate float64, limit uint64,
) (e Expectation, err error) {
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
	if counts.Saturated() {
		return e, fmt.Errorf("the %d-aggregation tree of node %d has more nodes than can be counted: "+
			"ask for fewer hops", hops, root)
	}
	e = Expectation{Depth: make([]float64, hops+1), Root: make([]float64, hops+1)}
	last, total := -1, uint64(0)
	for d, n := range counts.Depth {
		if total += n; total > limit {
			break
		}
		last = d
	}
	last = max(last, min(2, hops))
	walk := enumeration{walks: w, keep: keepRate, used: make([]int32, g.NumNodes()), last: last, e: &e,
		tick: ticker{ctx: ctx}}
	if err := walk.from(root, 0, 1); err != nil {
		return Expectation{}, err
	}
	if last < hops {
		if err := e.sample(ctx, w, keepRate, last+1, hops); err != nil {
			return Expectation{}, err
		}
	}
	return e, nil
}

type enumeration struct {
	walks
	keep float64
	used []int32 // visits of the current walk to each node
	last int
	e    *Expectation
	tick ticker
}

func (n *enumeration) from(v int32, depth int, probability float64) error {
	n.e.Depth[depth] += probability
	if v == n.root {
		n.e.Root[depth] += probability
	}
	if depth == n.last {
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

func (e *Expectation) sample(ctx context.Context, w walks, keep float64, first, hops int) error {
	r := rand.New(rand.NewPCG(0, 0))
	w.mask = make([]bool, w.graph.NumNodes())
	p := newProducts(w.bases())
	nodes, roots := make([]float64, hops+1), make([]float64, hops+1)
	for sample := range samples {
		for v := range w.mask {
			w.mask[v] = r.Float64() >= keep
		}
		clear(nodes)
		clear(roots)
		err := p.run(ctx, w, hops, func(depth int, bases []int32, times []uint64) {
			for _, u := range bases {
				nodes[depth] += float64(times[u])
			}
			roots[depth] = float64(times[w.root])
		})
		if err != nil {
			return err
		}
		for d := first; d <= hops; d++ {
			e.Depth[d] += (nodes[d] - e.Depth[d]) / float64(sample+1)
			e.Root[d] += (roots[d] - e.Root[d]) / float64(sample+1)
		}
	}
	return nil
}
