package aggtree

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"nodemask/csr"
)

// Check says whether a candidate is T_root^hops of the graph under the mask (nil: nothing masked). It returns nil if so,
// else a [*Fault] that names one thing that is wrong, nearest to the root; other errors are those of [Build] for
// arguments that cannot be. It takes time and memory proportional to the candidate's nodes and the length of their walks.
//
// Two trees may have the same paths from root to leaves and differ, by siblings that stand for the same node; only the
// smallest is right. So a candidate is first compared by its paths, with such siblings taken together, and called
// NotSmallest only if these are the right ones.
func Check(ctx context.Context, g *csr.Graph, root int32, hops int, candidate Arborescence, mask []bool) error {
	if _, err := walksFrom(g, root, hops, mask); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := newShape(candidate)
	if err != nil {
		return err
	}
	if base := s.Base[s.Root]; base != root {
		return &Fault{Kind: WrongRoot, Nodes: []int32{s.Root}, Walk: []int32{base}, text: fmt.Sprintf("the root stands for node %d of the graph; expected %d", base, root)}
	}
	c := checker{graph: g, mask: mask, shape: s, tick: ticker{ctx: ctx}}
	return c.check(s.Root, hops, false)
}

// checker compares the paths down from one node with walks of the graph.
type checker struct {
	graph *csr.Graph
	mask  []bool
	shape *shape
	tick  ticker

	hops    int
	cut     bool   // what lies deeper than hops is to be ignored
	repeats *Fault // the first siblings found that should be one
}

// path is the nodes of a candidate that one path of bases leads to: one, unless it is not the smallest.
type path struct {
	nodes []int32
	walk  []int32
}

// check compares all paths down from a node with the walks from its base, level by level.
func (c *checker) check(from int32, hops int, cut bool) error {
	c.hops, c.cut, c.repeats = hops, cut, nil
	level := []path{{nodes: []int32{from}, walk: []int32{c.shape.Base[from]}}}
	if base := level[0].walk[0]; base < 0 || int(base) >= c.graph.NumNodes() {
		return &Fault{Kind: ExtraWalk, Nodes: []int32{from}, Walk: []int32{base}, text: fmt.Sprintf("tree node %d stands for node %d, which is not in the graph", from, base)}
	}
	for depth := 0; len(level) > 0 && (depth < hops || !cut); depth++ {
		var below []path
		for _, p := range level {
			next, err := c.step(p, depth)
			if err != nil {
				return err
			}
			below = append(below, next...)
		}
		level = below
	}
	if c.repeats != nil {
		return c.repeats
	}
	return nil
}

// step follows a path one hop further, in every way that the candidate has, after comparing these with the graph's.
func (c *checker) step(p path, depth int) ([]path, error) {
	base := p.walk[len(p.walk)-1]
	want := c.neighbours(base)
	if err := c.tick.tick(len(want)); err != nil {
		return nil, err
	}
	var children []int32
	for _, i := range p.nodes {
		own := c.shape.childrenOf(i)
		if len(own) == 0 && len(want) > 0 && depth < c.hops {
			return nil, &Fault{Kind: LeafTooEarly, Nodes: []int32{i}, Walk: p.walk, text: fmt.Sprintf(
				"tree node %d is a leaf at depth %d, but node %d has neighbours, so its leaves lie at depth %d; its walk is %s", i, depth, base, c.hops, walkText(p.walk))}
		}
		children = append(children, own...)
	}
	slices.SortFunc(children, func(i, j int32) int {
		return cmp.Or(cmp.Compare(c.shape.Base[i], c.shape.Base[j]), cmp.Compare(i, j))
	})
	if len(children) > 0 && depth == c.hops {
		walk := c.extend(p.walk, c.shape.Base[children[0]])
		return nil, &Fault{Kind: ExtraWalk, Nodes: children[:1], Walk: walk, text: fmt.Sprintf(
			"tree node %d lies at depth %d, but all leaves lie at depth %d; its walk is %s", children[0], depth+1, c.hops, walkText(walk))}
	}
	if depth == c.hops {
		return nil, nil
	}
	var next []path
	for len(children) > 0 {
		u := c.shape.Base[children[0]]
		same := 1
		for same < len(children) && c.shape.Base[children[same]] == u {
			same++
		}
		walk := c.extend(p.walk, u)
		if _, found := slices.BinarySearch(want, u); !found {
			return nil, c.extra(children[0], base, u, walk)
		}
		if same > 1 && c.repeats == nil {
			c.repeats = &Fault{Kind: NotSmallest, Nodes: slices.Clone(children[:2]), Walk: walk, text: fmt.Sprintf(
				"tree nodes %d and %d are siblings and both stand for node %d: one would do; their walk is %s", children[0], children[1], u, walkText(walk))}
		}
		next = append(next, path{nodes: children[:same:same], walk: walk})
		children = children[same:]
	}
	for at, u := range want {
		if at == len(next) || next[at].walk[depth+1] != u {
			walk := c.extend(p.walk, u)
			return nil, &Fault{Kind: MissingWalk, Nodes: slices.Clone(p.nodes), Walk: walk, text: fmt.Sprintf(
				"tree node %d has no child that stands for node %d, a neighbour of node %d; the walk %s is missing", p.nodes[0], u, base, walkText(walk))}
		}
	}
	return next, nil
}

// neighbours are the unmasked neighbours of v, ascending.
func (c *checker) neighbours(v int32) []int32 {
	row := c.graph.Neighbors(v)
	if c.mask == nil {
		return row
	}
	var kept []int32
	for _, u := range row {
		if !c.mask[u] {
			kept = append(kept, u)
		}
	}
	return kept
}

func (c *checker) extend(walk []int32, u int32) []int32 {
	return append(slices.Clip(walk), u)
}

func (c *checker) extra(node, v, u int32, walk []int32) error {
	why := fmt.Sprintf("is not a neighbour of node %d", v)
	switch {
	case u < 0 || int(u) >= c.graph.NumNodes():
		why = "is not in the graph"
	case c.graph.HasEdge(v, u): // and yet it was not found among those that are not masked
		why = "is masked"
	}
	return &Fault{Kind: ExtraWalk, Nodes: []int32{node}, Walk: walk, text: fmt.Sprintf(
		"tree node %d stands for node %d, which %s; its walk is %s", node, u, why, walkText(walk))}
}
