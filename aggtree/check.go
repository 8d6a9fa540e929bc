package aggtree

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"nodemask/csr"
)

// Check returns nil if the candidate is T_root^hops of the graph under the mask (nil masks none), else the first
// [*Fault] from the root down. Time and memory are proportional to the candidate, except for sorting siblings.
//
// Siblings with the same base leave the paths unchanged, but the tree must be smallest. Check reports them only if all
// paths are right.
func Check(ctx context.Context, g *csr.Graph, root int32, hops int, candidate Arborescence, mask []bool) error {
	if _, err := walksFrom(ctx, g, root, hops, mask); err != nil {
		return err
	}
	s, err := newShape(candidate)
	if err != nil {
		return err
	}
	if base := s.Base[s.Root]; base != root {
		return faultOf(wrongRoot, "the root stands for node %d of the graph; expected %d", base, root)
	}
	c := checker{graph: g, mask: mask, shape: s, tick: ticker{ctx: ctx}}
	return c.check(s.Root, hops, false)
}

type checker struct {
	graph *csr.Graph
	mask  []bool
	shape *shape
	tick  ticker

	top     int32
	hops    int
	cut     bool
	repeats *Fault
}

func (c *checker) check(from int32, hops int, cut bool) error {
	c.top, c.hops, c.cut, c.repeats = from, hops, cut, nil
	level := [][]int32{{from}}
	if base := c.shape.Base[from]; base < 0 || int(base) >= c.graph.NumNodes() {
		return faultOf(extraWalk, "tree node %d stands for node %d, which is not in the graph", from, base)
	}
	for depth := 0; len(level) > 0 && (depth < hops || !cut); depth++ {
		var below [][]int32
		for _, nodes := range level {
			var err error
			if below, err = c.step(below, nodes, depth); err != nil {
				return err
			}
		}
		level = below
	}
	if c.repeats != nil {
		return c.repeats
	}
	return nil
}

// step extends below by the nodes that continue a path by one hop.
func (c *checker) step(below [][]int32, nodes []int32, depth int) ([][]int32, error) {
	base := c.shape.Base[nodes[0]]
	want := c.neighbours(base)
	if err := c.tick.tick(len(want)); err != nil {
		return nil, err
	}
	var children []int32
	for _, i := range nodes {
		own := c.shape.childrenOf(i)
		if len(own) == 0 && len(want) > 0 && depth < c.hops {
			return nil, faultOf(leafTooEarly,
				"tree node %d is a leaf at depth %d, but node %d has neighbours, so its leaves lie at depth %d; its walk is %s", i,
				depth, base, c.hops, walkText(c.walk(i)))
		}
		if len(nodes) == 1 {
			children = slices.Clip(own) // sorted in place: order has no meaning
			break
		}
		children = append(children, own...)
	}
	slices.SortFunc(children, func(i, j int32) int {
		return cmp.Or(cmp.Compare(c.shape.Base[i], c.shape.Base[j]), cmp.Compare(i, j))
	})
	if len(children) > 0 && depth == c.hops {
		return nil, faultOf(extraWalk, "tree node %d lies at depth %d, but all leaves lie at depth %d; its walk is %s",
			children[0], depth+1, c.hops, walkText(c.walk(children[0])))
	}
	if depth == c.hops {
		return below, nil
	}
	before := len(below)
	for len(children) > 0 {
		u := c.shape.Base[children[0]]
		same := 1
		for same < len(children) && c.shape.Base[children[same]] == u {
			same++
		}
		if _, ok := slices.BinarySearch(want, u); !ok {
			return nil, c.extra(children[0], base, u)
		}
		if same > 1 && c.repeats == nil {
			c.repeats = faultOf(notSmallest,
				"tree nodes %d and %d are siblings and both stand for node %d: one would do; their walk is %s", children[0],
				children[1], u, walkText(c.walk(children[0])))
		}
		below = append(below, children[:same:same])
		children = children[same:]
	}
	next := below[before:]
	for at, u := range want {
		if at == len(next) || c.shape.Base[next[at][0]] != u {
			walk := append(c.walk(nodes[0]), u)
			return nil, faultOf(missingWalk,
				"tree node %d has no child that stands for node %d, a neighbour of node %d; the walk %s is missing", nodes[0], u,
				base, walkText(walk))
		}
	}
	return below, nil
}

func (c *checker) neighbours(v int32) []int32 {
	row := c.graph.Neighbours(v)
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

func (c *checker) walk(node int32) []int32 {
	walk := []int32{c.shape.Base[node]}
	for node != c.top {
		node = c.shape.parent[node]
		walk = append(walk, c.shape.Base[node])
	}
	slices.Reverse(walk)
	return walk
}

func (c *checker) extra(node, v, u int32) error {
	why := fmt.Sprintf("is not a neighbour of node %d", v)
	switch {
	case u < 0 || int(u) >= c.graph.NumNodes():
		why = "is not in the graph"
	case c.graph.HasEdge(v, u): // an edge to a masked node
		why = "is masked"
	}
	return faultOf(extraWalk, "tree node %d stands for node %d, which %s; its walk is %s", node, u, why,
		walkText(c.walk(node)))
}

// Kinds of faults, in [Check]'s order.
const (
	// A node has two parents, lies on a cycle or has no path from the root; or an edge or the root is out of range.
	notArborescence = "not an arborescence"
	// The root has another base.
	wrongRoot = "wrong root"
	// A leaf lies above depth hops, though its base has neighbours.
	leafTooEarly = "leaf too early"
	// A path from the root is not a walk of the graph, passes a masked node or has too many hops.
	extraWalk = "extra walk"
	// A walk of the graph is not a path from the root.
	missingWalk = "missing walk"
	// The paths are right, but two siblings have the same base.
	notSmallest = "not the smallest"
)

// Fault is why a candidate is not the aggregation tree; its error names the nodes and the walk.
type Fault struct {
	// Kind is "not an arborescence", "wrong root", "leaf too early", "extra walk", "missing walk" or "not the
	// smallest".
	Kind string
	text string
}

// Error returns the kind and the place.
func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Kind, f.text) }

func faultOf(kind, format string, arguments ...any) *Fault {
	return &Fault{kind, fmt.Sprintf(format, arguments...)}
}

func walkText(walk []int32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(walk), " ", "-"), "[]")
}

// Arborescence is a candidate aggregation tree: any rooted directed graph.
type Arborescence struct {
	Root  int32
	Base  []int32    // graph node of each candidate node [nodes]
	Edges [][2]int32 // from parent to child
}

// Arborescence returns the tree as a candidate for [Check].
func (t *Tree) Arborescence() Arborescence {
	a := Arborescence{Base: slices.Clone(t.Base), Edges: make([][2]int32, 0, max(len(t.Parent)-1, 0))}
	for i, parent := range t.Parent {
		if parent >= 0 {
			a.Edges = append(a.Edges, [2]int32{parent, int32(i)})
		}
	}
	return a
}

type shape struct {
	Arborescence
	first    []int32 // node i's children are children[first[i]:first[i+1]]
	children []int32
	parent   []int32
	depth    []int
}

func (s *shape) childrenOf(i int32) []int32 { return s.children[s.first[i]:s.first[i+1]] }

func newShape(a Arborescence) (*shape, error) {
	n := len(a.Base)
	fault := func(format string, arguments ...any) error {
		return faultOf(notArborescence, format, arguments...)
	}
	if a.Root < 0 || int(a.Root) >= n {
		return nil, fault("the root is node %d, but there are %d nodes, numbered from 0", a.Root, n)
	}
	parent := slices.Repeat([]int32{-1}, n)
	s := &shape{Arborescence: a, parent: parent, first: make([]int32, n+1), children: make([]int32, len(a.Edges)),
		depth: slices.Repeat([]int{-1}, n)}
	for i, e := range a.Edges {
		from, to := e[0], e[1]
		switch {
		case from < 0 || int(from) >= n || to < 0 || int(to) >= n:
			return nil, fault("edge %d runs from node %d to node %d, but there are %d nodes, numbered from 0", i, from, to, n)
		case to == a.Root:
			return nil, fault("the root, node %d, has a parent: node %d", to, from)
		case parent[to] >= 0:
			return nil, fault("node %d has two edges from parents: from node %d and from node %d",
				to, parent[to], from)
		}
		parent[to] = from
		s.first[from+1]++
	}
	for i := range n {
		s.first[i+1] += s.first[i]
	}
	next := slices.Clone(s.first)
	for _, e := range a.Edges {
		s.children[next[e[0]]] = e[1]
		next[e[0]]++
	}
	s.depth[a.Root] = 0
	reached := append(make([]int32, 0, n), a.Root)
	for at := 0; at < len(reached); at++ {
		for _, child := range s.childrenOf(reached[at]) {
			s.depth[child] = s.depth[reached[at]] + 1
			reached = append(reached, child)
		}
	}
	if len(reached) == n {
		return s, nil
	}
	lost := int32(slices.Index(s.depth, -1))
	// Nodes without a path from the root lie below a parentless node or a cycle; n steps tell.
	for steps := 0; steps < n; steps++ {
		if parent[lost] < 0 {
			return nil, fault("node %d is not the root but has no parent, so it cannot be reached", lost)
		}
		lost = parent[lost]
	}
	return nil, fault("node %d lies on a cycle, so it cannot be reached from the root", lost)
}
