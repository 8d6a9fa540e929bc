package aggtree

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"nodemask/csr"
)

// Counts holds a tree's numbers of nodes; math.MaxUint64 means at least that many.
type Counts struct {
	Depth []uint64 // number of nodes at each depth from 0 to hops
	Total uint64
}

// Count returns the number of nodes of T_root^hops per depth without building the tree: each hop multiplies a sparse
// vector by the adjacency matrix.
func Count(ctx context.Context, g *csr.Graph, root int32, hops int, mask []bool) (Counts, error) {
	if err := checkRoot(ctx, g, root, hops, mask); err != nil {
		return Counts{}, err
	}
	c := Counts{Depth: make([]uint64, hops+1)}
	err := newProducts(ctx, g, mask).run(root, hops, func(depth int, bases []int32, times []uint64) {
		for _, u := range bases {
			c.Depth[depth] = add(c.Depth[depth], times[u])
		}
		c.Total = add(c.Total, c.Depth[depth])
	})
	return c, err
}

// products counts the walks from one root at a time, reusing its vectors. Do not use it after an error.
type products struct {
	graph        *csr.Graph
	mask         []bool
	tick         ticker
	times, next  []uint64 // numbers of walks that end at each graph node, at this depth and at the next: [nodes]
	bases, found []int32  // bases: graph nodes v with times[v] > 0; found: those with next[v] > 0
}

func newProducts(ctx context.Context, g *csr.Graph, mask []bool) *products {
	n := g.NumNodes()
	return &products{graph: g, mask: mask, tick: ticker{ctx: ctx}, times: make([]uint64, n), next: make([]uint64, n)}
}

// run calls visit once per depth. bases lists the graph nodes at this depth, unordered; times[u] is the number of tree
// nodes that stand for graph node u.
func (p *products) run(root int32, hops int, visit func(depth int, bases []int32, times []uint64)) error {
	p.bases, p.found = append(p.bases[:0], root), p.found[:0]
	p.times[root] = 1
	visit(0, p.bases, p.times)
	for depth := 0; depth < hops && len(p.bases) > 0; depth++ {
		for _, v := range p.bases {
			next := p.graph.Neighbours(v)
			if err := p.tick.tick(len(next)); err != nil {
				return err
			}
			for _, u := range next {
				if p.mask != nil && p.mask[u] {
					continue
				}
				if p.next[u] == 0 {
					p.found = append(p.found, u)
				}
				p.next[u] = add(p.next[u], p.times[v])
			}
		}
		p.clear()
		p.times, p.next = p.next, p.times
		p.bases, p.found = p.found, p.bases[:0]
		visit(depth+1, p.bases, p.times)
	}
	p.clear()
	return nil
}

func (p *products) clear() {
	for _, u := range p.bases {
		p.times[u] = 0
	}
}

func add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// Summary counts how often graph nodes repeat in a tree. By section 4 of the paper, the repetitions cause
// over-smoothing and over-fitting.
type Summary struct {
	Nodes    uint64 // math.MaxUint64 means at least that many nodes
	Distinct int    // number of different graph nodes in the tree
	Root     uint64 // number of tree nodes that stand for the root's graph node, the root included
}

// RootShare returns Root / Nodes; NaN if there are too many nodes to count.
func (s Summary) RootShare() float64 { return float64(s.Root) / s.nodes() }

// Repetition returns Nodes / Distinct; NaN if there are too many nodes to count.
func (s Summary) Repetition() float64 { return s.nodes() / float64(s.Distinct) }

func (s Summary) nodes() float64 {
	if s.Nodes == math.MaxUint64 {
		return math.NaN()
	}
	return float64(s.Nodes)
}

// Summaries returns the [Summary] of T_v^hops for every graph node v, indexed by v, without building trees.
func Summaries(ctx context.Context, g *csr.Graph, hops int, mask []bool) ([]Summary, error) {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return nil, err
	}
	n := g.NumNodes()
	all := make([]Summary, n)
	p := newProducts(ctx, g, mask)
	seen := make([]int32, n) // per graph node: 1 + the last root whose tree contains the node
	for v := range int32(n) {
		s := &all[v]
		err := p.run(v, hops, func(_ int, bases []int32, times []uint64) {
			for _, u := range bases {
				s.Nodes = add(s.Nodes, times[u])
				if seen[u] != v+1 {
					seen[u] = v + 1
					s.Distinct++
				}
			}
			s.Root = add(s.Root, times[v])
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Expectation is a tree's mean size over random masks.
type Expectation struct {
	// Depth[d] is the expected number of tree nodes at depth d, from 0 to hops.
	Depth []float64
	// Root[d] is the expected number of tree nodes at depth d that stand for the same graph node as the root.
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
// probability that a node is kept; 0 masks every node.
//
// Each tree node is a walk from root. A mask hides all copies of a graph node at once. So a walk that enters j distinct
// graph nodes after its start remains with probability p^j. Expect sums these probabilities over all walks. If the tree
// has more than [DefaultLimit] nodes, Expect returns a [*TooLargeError].
func Expect(ctx context.Context, g *csr.Graph, root int32, hops int, keepRate float64) (e Expectation, err error) {
	if _, err := (Options{}).count(ctx, g, root, hops); err != nil {
		return e, err
	}
	if !(keepRate >= 0 && keepRate <= 1) { // also refuses NaN
		return e, fmt.Errorf("a keep rate of %v: expected a probability, from 0 to 1", keepRate)
	}
	e = Expectation{Depth: make([]float64, hops+1), Root: make([]float64, hops+1)}
	tick := ticker{ctx: ctx}
	used := make([]int32, g.NumNodes()) // visits to each node in the current walk
	var from func(v int32, depth int, probability float64) error
	from = func(v int32, depth int, probability float64) error {
		e.Depth[depth] += probability
		if v == root {
			e.Root[depth] += probability
		}
		if depth == hops {
			return nil
		}
		next := g.Neighbours(v)
		if err := tick.tick(len(next)); err != nil {
			return err
		}
		for _, u := range next {
			p := probability
			if used[u] == 0 {
				p *= keepRate
			}
			used[u]++
			err := from(u, depth+1, p)
			used[u]--
			if err != nil {
				return err
			}
		}
		return nil
	}
	return e, from(root, 0, 1)
}
