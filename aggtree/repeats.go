package aggtree

import (
	"context"
	"math"

	"nodemask/csr"
)

// Summary counts repeated nodes, which section 4 blames for over-smoothing and over-fitting.
type Summary struct {
	Nodes    uint64 // [math.MaxUint64]: at least that many
	Distinct int    // distinct bases
	Root     uint64 // tree nodes with the root's base, including the root
}

// RootShare returns the share of tree nodes with the root's base; NaN if there are too many to count.
func (s Summary) RootShare() float64 { return s.over(float64(s.Root), float64(s.Nodes)) }

// Repetition returns the tree nodes per distinct base; NaN if there are too many to count.
func (s Summary) Repetition() float64 { return s.over(float64(s.Nodes), float64(s.Distinct)) }

func (s Summary) over(a, b float64) float64 {
	if s.Nodes == math.MaxUint64 {
		return math.NaN()
	}
	return a / b
}

// Summaries returns the [Summary] of T_v^hops for every graph node v [nodes], without building trees.
func Summaries(ctx context.Context, g *csr.Graph, hops int, mask []bool) ([]Summary, error) {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return nil, err
	}
	n := g.NumNodes()
	all := make([]Summary, n)
	p := newProducts(n)
	seen := make([]int32, n) // 1 + the last root whose tree held the node; never cleared
	for v := range int32(n) {
		w := walks{graph: g, root: v, first: g.Neighbours(v), mask: mask}
		s := &all[v]
		err := p.run(ctx, w, hops, func(_ int, bases []int32, times []uint64) {
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
