package aggtree

import (
	"slices"
)

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
