package aggtree

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"nodemask/csr"
)

// ExpectOptions says how [Expect] computes. The zero value masks any node, and is exact up to [DefaultLimit] walks.
type ExpectOptions struct {
	// Only lists the nodes that may be masked; others are always kept. nil: any node may be. The paper draws "over the
	// nodes in the train set".
	Only []int32
	// Limit is the largest number of walks to enumerate for an exact result; 0: [DefaultLimit].
	Limit int
	// Samples is the number of draws to average over at depths with more walks than Limit, at least 2; 0: 1000.
	Samples int
	// Seed fixes the draws.
	Seed uint64
}

// Expectation holds the mean of a tree's size over draws of the mask.
type Expectation struct {
	// Depth is the expected number of tree nodes at each depth [hops+1].
	Depth []float64
	// Root is the expected number of these that stand for the root's base [hops+1]: 1 at depth 0, replicas further
	// down.
	Root []float64
	// DepthError and RootError are the standard errors of Depth and Root [hops+1]: 0 where these are exact.
	DepthError, RootError []float64
	// Exact is the number of depths, from 0 on, whose expectations are exact.
	Exact int
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
// probability that a node is kept, independently of others. It is a plain probability from 0 to 1: here 0 masks every
// node, unlike the zero value of an option.
//
// A walk is in the masked tree if all its nodes after the root are kept. Replicas share one draw, so a walk that visits
// j distinct nodes after its start is there with probability p^j; the start counts among them if the walk comes back to
// it. The expectation is the sum over all walks. Up to two hops no walk can repeat a node after its start, since there
// are no self-loops, so one product a hop gives the exact sum: p^d times the number of walks if any node may be masked.
// At greater depths Expect enumerates walks up to the limit, and samples above it.
//
// It returns an error for a keepRate outside 0 to 1, for options, a root or hops out of range, for a tree with too many
// nodes to count, or the context's if it ends first.
func Expect(ctx context.Context, g *csr.Graph, root int32, hops int, keepRate float64, o ExpectOptions) (Expectation, error) {
	var none Expectation
	w, err := walksFrom(g, root, hops, nil)
	if err != nil {
		return none, err
	}
	if o.Samples == 0 {
		o.Samples = 1000
	}
	limit, err := Options{Limit: o.Limit}.limit()
	switch {
	case err != nil:
		return none, err
	case !(keepRate >= 0 && keepRate <= 1): // NaN is refused too
		return none, fmt.Errorf("aggtree: a keep rate of %v: expected a probability, from 0 to 1", keepRate)
	case o.Samples < 2:
		return none, fmt.Errorf("aggtree: %d samples: expected at least 2, or 0 for 1000", o.Samples)
	}
	counts, err := w.count(ctx, hops)
	if err != nil {
		return none, err
	}
	if counts.Saturated() {
		return none, fmt.Errorf("aggtree: the %d-aggregation tree of node %d has more nodes than can be counted: ask for fewer hops", hops, root)
	}
	keep, err := keepRates(g.NumNodes(), keepRate, o.Only)
	if err != nil {
		return none, err
	}
	e := Expectation{Depth: make([]float64, hops+1), Root: make([]float64, hops+1), DepthError: make([]float64, hops+1), RootError: make([]float64, hops+1)}
	last, total := -1, uint64(0) // the deepest level to enumerate
	for d, n := range counts.Depth {
		if total += n; total > uint64(limit) {
			break
		}
		last = d
	}
	if last <= 2 {
		last = min(2, hops)
		e.short(w, keep, last)
	} else {
		walk := enumeration{walks: w, keep: keep, used: make([]int32, g.NumNodes()), last: last, e: &e, tick: ticker{ctx: ctx}}
		if err := walk.from(root, 0, 1); err != nil {
			return none, err
		}
	}
	e.Exact = last + 1
	if e.Exact <= hops {
		err = e.sample(ctx, w, keep, hops, o)
	}
	if err != nil {
		return none, err
	}
	return e, nil
}

// keepRates returns the probability that each node is kept.
func keepRates(nodes int, rate float64, only []int32) ([]float64, error) {
	keep := make([]float64, nodes)
	for v := range keep {
		if keep[v] = rate; only != nil {
			keep[v] = 1
		}
	}
	for i, v := range only {
		if v < 0 || int(v) >= nodes {
			return nil, fmt.Errorf("aggtree: ExpectOptions.Only names node %d at position %d, but the graph has %d nodes, numbered from 0", v, i, nodes)
		}
		keep[v] = rate
	}
	return keep, nil
}

// short sums over walks of at most two hops, whose nodes after the root have independent draws.
func (e *Expectation) short(w walks, keep []float64, hops int) {
	e.Depth[0], e.Root[0] = 1, 1
	for _, u := range w.first {
		if hops < 1 {
			break
		}
		e.Depth[1] += keep[u]
		if hops < 2 {
			continue
		}
		for _, x := range w.graph.Neighbours(u) {
			e.Depth[2] += keep[u] * keep[x]
			if x == w.root {
				e.Root[2] += keep[u] * keep[x]
			}
		}
	}
}

// enumeration goes through all walks of at most last hops.
type enumeration struct {
	walks
	keep []float64
	used []int32 // visits of the walk so far to each node, after its start
	last int
	e    *Expectation
	tick ticker
}

// from adds the walk that has come to v, which is in the tree with this probability, and all its continuations.
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
			p *= n.keep[u]
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

// sample averages over draws at the depths that are not exact.
func (e *Expectation) sample(ctx context.Context, w walks, keep []float64, hops int, o ExpectOptions) error {
	r := rand.New(rand.NewPCG(o.Seed, 0))
	w.mask = make([]bool, len(keep))
	p := newProducts(w.bases())
	nodes, roots := make([]float64, hops+1), make([]float64, hops+1)
	for sample := range o.Samples {
		for v := range w.mask {
			w.mask[v] = r.Float64() >= keep[v]
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
		for d := e.Exact; d <= hops; d++ {
			welford(&e.Depth[d], &e.DepthError[d], nodes[d], sample)
			welford(&e.Root[d], &e.RootError[d], roots[d], sample)
		}
	}
	n := float64(o.Samples)
	for d := e.Exact; d <= hops; d++ {
		e.DepthError[d] = math.Sqrt(e.DepthError[d] / (n - 1) / n)
		e.RootError[d] = math.Sqrt(e.RootError[d] / (n - 1) / n)
	}
	return nil
}

// welford adds a value to a mean and a sum of squared deviations of so many values, without loss of digits.
func welford(mean, squares *float64, x float64, before int) {
	delta := x - *mean
	*mean += delta / float64(before+1)
	*squares += delta * (x - *mean)
}
