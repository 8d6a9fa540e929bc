package aggtree

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"nodemask/csr"
)

// Check returns nil if the candidate is the aggregation tree of root with depth hops. Otherwise Check returns the first
// [*Fault] found going down from the root. A nil mask masks no nodes. Time and memory are proportional to the
// candidate's size, except for sorting siblings.
func Check(ctx context.Context, g *csr.Graph, root int32, hops int, candidate Arborescence, mask []bool) error {
	if err := checkRoot(ctx, g, root, hops, mask); err != nil {
		return err
	}
	c, err := newChecker(ctx, g, hops, candidate, mask)
	if err != nil {
		return err
	}
	if base := c.Base[c.Root]; base != root {
		return faultOf(wrongRoot, "the root stands for node %d of the graph; expected %d", base, root)
	}
	return c.subtree(c.Root, hops, false)
}

type checker struct {
	Arborescence
	graph    *csr.Graph
	mask     []bool
	children [][]int32 // children of each tree node, sorted by graph node, then by tree node
	parent   []int32
	depth    []int
	tick     ticker
}

// subtree checks that the subtree at tree node top is the aggregation tree of the graph node Base[top]. If cut is set,
// subtree checks only the first hops levels below top.
func (c *checker) subtree(top int32, hops int, cut bool) error {
	if base := c.Base[top]; base < 0 || int(base) >= c.graph.NumNodes() {
		return faultOf(extraWalk, "tree node %d stands for node %d, which is not in the graph", top, base)
	}
	level := []int32{top}
	for depth := 0; len(level) > 0 && !(cut && depth == hops); depth++ {
		var below []int32
		for _, i := range level {
			if len(c.children[i]) > 0 && depth == hops {
				child := c.children[i][0]
				return faultOf(extraWalk, "tree node %d lies at depth %d, but all leaves lie at depth %d; its walk is %s",
					child, depth+1, hops, c.walk(top, child))
			}
			if depth < hops {
				if err := c.family(top, i); err != nil {
					return err
				}
			}
			below = append(below, c.children[i]...)
		}
		level = below
	}
	return nil
}

// family checks that the children of tree node i stand for the unmasked neighbours of graph node Base[i], each once. An
// error names the graph nodes on the path from the tree node with index top to the faulty node.
func (c *checker) family(top, i int32) error {
	base := c.Base[i]
	want := c.neighbours(base)
	if err := c.tick.tick(len(want) + len(c.children[i])); err != nil {
		return err
	}
	var have []int32
	for _, child := range c.children[i] {
		u := c.Base[child]
		have = append(have, u)
		if _, ok := slices.BinarySearch(want, u); !ok {
			return faultOf(extraWalk, "tree node %d stands for node %d, which is no unmasked neighbour of node %d; its walk is "+
				"%s", child, u, base, c.walk(top, child))
		}
	}
	for _, u := range want {
		if _, ok := slices.BinarySearch(have, u); !ok {
			return faultOf(missingWalk,
				"tree node %d has no child that stands for node %d, a neighbour of node %d; the walk %s-%d is missing", i, u, base,
				c.walk(top, i), u)
		}
	}
	for k, child := range c.children[i] {
		if k > 0 && have[k] == have[k-1] {
			return faultOf(notSmallest,
				"tree nodes %d and %d are siblings and both stand for node %d: one would do; their walk is %s",
				c.children[i][k-1], child, have[k], c.walk(top, child))
		}
	}
	return nil
}

func (c *checker) neighbours(base int32) []int32 {
	if base < 0 || int(base) >= c.graph.NumNodes() {
		return nil
	}
	row := slices.Clone(c.graph.Neighbours(base))
	return slices.DeleteFunc(row, func(u int32) bool { return c.mask != nil && c.mask[u] })
}

func (c *checker) walk(top, node int32) string {
	walk := fmt.Sprint(c.Base[node])
	for node != top {
		node = c.parent[node]
		walk = fmt.Sprintf("%d-%s", c.Base[node], walk)
	}
	return walk
}

const (
	// A node has two parents or no path from the root; or an edge or the root is out of range.
	notArborescence = "not an arborescence"
	// The root does not stand for the requested graph node.
	wrongRoot = "wrong root"
	// Some path from the tree's root is not a walk in the graph, enters a masked node or has too many hops.
	extraWalk = "extra walk"
	// The tree lacks a walk of the graph.
	missingWalk = "missing walk"
	// Two siblings stand for the same graph node; merging them would make the tree smaller.
	notSmallest              = "not the smallest"
	lemma1Fails, lemma2Fails = "lemma 1 fails", "lemma 2 fails"
)

// Fault says why a candidate is not the aggregation tree.
type Fault struct {
	// Kind is "not an arborescence", "wrong root", "extra walk", "missing walk" or "not the smallest". In faults that
	// [Verify] returns, Kind may also be "lemma 1 fails" or "lemma 2 fails".
	Kind string
	text string
}

// Error returns the fault's kind and place.
func (f *Fault) Error() string { return f.Kind + ": " + f.text }

func faultOf(kind, format string, arguments ...any) *Fault {
	return &Fault{kind, fmt.Sprintf(format, arguments...)}
}

// Arborescence is a candidate aggregation tree: any rooted directed graph.
type Arborescence struct {
	Root  int32
	Base  []int32    // Base[i] is the graph node that node i of the candidate tree stands for
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

func newChecker(ctx context.Context, g *csr.Graph, hops int, a Arborescence, mask []bool) (*checker, error) {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return nil, err
	}
	n := len(a.Base)
	if a.Root < 0 || int(a.Root) >= n {
		return nil, faultOf(notArborescence, "the root is node %d, but there are %d nodes, numbered from 0", a.Root, n)
	}
	c := &checker{Arborescence: a, graph: g, mask: mask, children: make([][]int32, n),
		parent: slices.Repeat([]int32{-1}, n), depth: slices.Repeat([]int{-1}, n), tick: ticker{ctx: ctx}}
	for i, e := range a.Edges {
		from, to := e[0], e[1]
		switch {
		case from < 0 || int(from) >= n || to < 0 || int(to) >= n:
			return nil, faultOf(notArborescence, "edge %d runs from node %d to node %d, but there are %d nodes, numbered "+
				"from 0", i, from, to, n)
		case to == a.Root:
			return nil, faultOf(notArborescence, "the root, node %d, has a parent: node %d", to, from)
		case c.parent[to] >= 0:
			return nil, faultOf(notArborescence, "node %d has two edges from parents: from node %d and from node %d", to,
				c.parent[to], from)
		}
		c.parent[to] = from
		c.children[from] = append(c.children[from], to)
	}
	c.depth[a.Root] = 0
	reached := append(make([]int32, 0, n), a.Root)
	for at := 0; at < len(reached); at++ {
		children := c.children[reached[at]]
		slices.SortFunc(children, func(i, j int32) int {
			return cmp.Or(cmp.Compare(a.Base[i], a.Base[j]), cmp.Compare(i, j))
		})
		for _, child := range children {
			c.depth[child] = c.depth[reached[at]] + 1
			reached = append(reached, child)
		}
	}
	if lost := slices.Index(c.depth, -1); lost >= 0 {
		return nil, faultOf(notArborescence, "no path leads from the root to node %d", lost)
	}
	return c, nil
}
