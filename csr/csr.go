// Package csr holds graphs and matrices in compressed sparse rows. Row v of a graph lists N_v, the nodes that v
// aggregates from, ascending and distinct, without v.
package csr

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/graph"
)

// Graph is a directed graph in compressed sparse rows; an undirected graph stores each edge in both nodes' rows. Do not
// change a graph once built.
type Graph struct {
	// Offsets has one entry per node and one more: row v is Indices[Offsets[v]:Offsets[v+1]].
	Offsets []int64
	// Indices ascend in each row.
	Indices []int32
}

// Edge is an edge in a list for [FromEdges]. In a directed graph, Node aggregates from Neighbour.
type Edge struct{ Node, Neighbour int32 }

// Options configures [FromEdges]; by default edges are undirected.
type Options struct {
	// Directed stores an [Edge] only in the row of its Node.
	Directed bool
}

// Report counts the pairs that [FromEdges] read.
type Report struct {
	Listed     int64
	SelfLoops  int64
	Duplicates int64 // dropped repeats; if undirected, (u, v) repeats (v, u)
	Edges      int64
}

// String returns the counts in one line.
func (r Report) String() string {
	return fmt.Sprintf("%d edges (%d pairs listed, %d self-loops and %d duplicates dropped)",
		r.Edges, r.Listed, r.SelfLoops, r.Duplicates)
}

// FromEdges returns the graph of listed pairs, or an error if a pair names a node outside the graph.
func FromEdges(nodes int, edges []Edge, o Options) (*Graph, Report, error) {
	return FromSeq(nodes, func(yield func(int32, int32) bool) {
		for _, e := range edges {
			if !yield(e.Node, e.Neighbour) {
				return
			}
		}
	}, o)
}

// FromSeq is [FromEdges] for a sequence of pairs, which is read twice instead of stored. Peak memory is that of the
// graph with repeated edges, plus 8 bytes per node.
func FromSeq(nodes int, pairs iter.Seq2[int32, int32], o Options) (*Graph, Report, error) {
	if nodes < 0 || nodes > math.MaxInt32 {
		return nil, Report{}, fmt.Errorf("%d nodes: expected between 0 and %d", nodes, math.MaxInt32)
	}
	var report Report
	offsets := make([]int64, nodes+1)
	for u, v := range pairs {
		for _, node := range [2]int32{u, v} {
			if node < 0 || int(node) >= nodes {
				return nil, Report{}, fmt.Errorf("edge %d names node %d, but the graph has %d nodes (0 to %d)",
					report.Listed, node, nodes, nodes-1)
			}
		}
		report.Listed++
		if u == v {
			report.SelfLoops++
			continue
		}
		offsets[u+1]++
		if !o.Directed {
			offsets[v+1]++
		}
	}
	for v := range nodes {
		offsets[v+1] += offsets[v]
	}
	indices := make([]int32, offsets[nodes])
	next := slices.Clone(offsets[:nodes])
	var placed int64
	for u, v := range pairs {
		placed++
		if u == v {
			continue
		}
		if placed > report.Listed || next[u] == offsets[u+1] || !o.Directed && next[v] == offsets[v+1] {
			return nil, Report{}, fmt.Errorf("the pairs changed while they were read: pair %d was not there the first "+
				"time", placed-1)
		}
		indices[next[u]] = v
		next[u]++
		if !o.Directed {
			indices[next[v]] = u
			next[v]++
		}
	}
	if placed != report.Listed {
		return nil, Report{}, fmt.Errorf("the pairs changed while they were read: %d at first, then %d",
			report.Listed, placed)
	}
	g := &Graph{Offsets: offsets, Indices: indices}
	g.sortRows()
	report.Duplicates = g.dropRepeats()
	if !o.Directed {
		report.Duplicates /= 2
	}
	report.Edges = report.Listed - report.SelfLoops - report.Duplicates
	return g, report, nil
}

func (g *Graph) sortRows() {
	for v := range g.NumNodes() {
		if row := g.Neighbours(int32(v)); !slices.IsSorted(row) {
			slices.Sort(row)
		}
	}
}

func (g *Graph) dropRepeats() int64 {
	var kept, begin int64
	for v := range g.NumNodes() {
		row := g.Indices[begin:g.Offsets[v+1]]
		begin = g.Offsets[v+1]
		for i, u := range row {
			if i > 0 && row[i-1] == u {
				continue
			}
			g.Indices[kept] = u
			kept++
		}
		g.Offsets[v+1] = kept
	}
	dropped := int64(len(g.Indices)) - kept
	g.Indices = g.Indices[:kept:kept]
	return dropped
}

// New returns a graph that shares offsets and indices, or an error if they break [Graph]'s rules.
func New(offsets []int64, indices []int32) (*Graph, error) {
	g := &Graph{Offsets: offsets, Indices: indices}
	if err := g.check(); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *Graph) check() error {
	if len(g.Offsets) == 0 {
		if len(g.Indices) == 0 {
			return nil
		}
		return fmt.Errorf("%d indices without offsets", len(g.Indices))
	}
	if g.NumNodes() > math.MaxInt32 {
		return fmt.Errorf("%d nodes: expected at most %d", g.NumNodes(), math.MaxInt32)
	}
	if g.Offsets[0] != 0 || g.Offsets[len(g.Offsets)-1] != int64(len(g.Indices)) {
		return fmt.Errorf("offsets run from %d to %d: expected 0 to %d, the number of indices",
			g.Offsets[0], g.Offsets[len(g.Offsets)-1], len(g.Indices))
	}
	for v := range g.NumNodes() {
		if g.Offsets[v] > g.Offsets[v+1] || g.Offsets[v+1] > int64(len(g.Indices)) {
			return fmt.Errorf("row %d runs from %d to %d of %d indices", v, g.Offsets[v], g.Offsets[v+1], len(g.Indices))
		}
		last := int32(-1)
		for _, u := range g.Neighbours(int32(v)) {
			switch {
			case u < 0 || int(u) >= g.NumNodes():
				return fmt.Errorf("row %d names node %d, but the graph has %d nodes", v, u, g.NumNodes())
			case u == int32(v):
				return fmt.Errorf("row %d holds a self-loop", v)
			case u <= last:
				return fmt.Errorf("row %d is not strictly ascending: %d after %d", v, u, last)
			}
			last = u
		}
	}
	return nil
}

// NumNodes returns the number of nodes.
func (g *Graph) NumNodes() int { return max(len(g.Offsets)-1, 0) }

// NumEdges returns the number of stored edges; undirected edges count twice.
func (g *Graph) NumEdges() int64 { return int64(len(g.Indices)) }

// Neighbours returns N_v, which shares the graph's memory: do not change it.
func (g *Graph) Neighbours(v int32) []int32 { return g.Indices[g.Offsets[v]:g.Offsets[v+1]] }

// Degree returns |N_v|.
func (g *Graph) Degree(v int32) int { return int(g.Offsets[v+1] - g.Offsets[v]) }

// MaxDegree returns the largest |N_v|.
func (g *Graph) MaxDegree() int {
	most := 0
	for v := range g.NumNodes() {
		most = max(most, g.Degree(int32(v)))
	}
	return most
}

// HasEdge reports whether u ∈ N_v.
func (g *Graph) HasEdge(v, u int32) bool {
	_, ok := slices.BinarySearch(g.Neighbours(v), u)
	return ok
}

// All yields every stored edge (v, u), u ∈ N_v, ascending.
func (g *Graph) All() iter.Seq2[int32, int32] {
	return func(yield func(int32, int32) bool) {
		for v := range g.NumNodes() {
			for _, u := range g.Neighbours(int32(v)) {
				if !yield(int32(v), u) {
					return
				}
			}
		}
	}
}

// IsSymmetric reports whether (u, v) is stored for every stored edge (v, u).
func (g *Graph) IsSymmetric() bool {
	// All yields edges (v, u) by ascending v, and each row is sorted. So if g is symmetric, the edges that end at u
	// come from the nodes in row u, in the same order. next[u] is the index of row u's first entry without such an edge
	// yet.
	next := slices.Clone(g.Offsets)
	for v, u := range g.All() {
		if next[u] == g.Offsets[u+1] || g.Indices[next[u]] != v {
			return false
		}
		next[u]++
	}
	return true
}

// Induced returns the subgraph of the given nodes, which must be distinct, and all edges between them. Node i of sub is
// nodes[i] of g; index maps each node of g to its number in sub, or to -1.
func (g *Graph) Induced(nodes []int32) (sub *Graph, index []int32, err error) {
	return g.InducedWhere(nodes, func(v, u int32) bool { return true })
}

// InducedWhere is [Graph.Induced] with only the edges (v, u) of g for which keep returns true.
func (g *Graph) InducedWhere(nodes []int32, keep func(v, u int32) bool) (sub *Graph, index []int32, err error) {
	index = slices.Repeat([]int32{-1}, g.NumNodes())
	most := 0
	for i, v := range nodes {
		if v < 0 || int(v) >= g.NumNodes() {
			return nil, nil, fmt.Errorf("node %d at position %d: the graph has %d nodes", v, i, g.NumNodes())
		}
		if index[v] >= 0 {
			return nil, nil, fmt.Errorf("node %d is listed twice, at positions %d and %d", v, index[v], i)
		}
		index[v] = int32(i)
		most += g.Degree(v)
	}
	sub = &Graph{Offsets: make([]int64, len(nodes)+1), Indices: make([]int32, 0, most)}
	for i, v := range nodes {
		for _, u := range g.Neighbours(v) {
			if index[u] >= 0 && keep(v, u) {
				sub.Indices = append(sub.Indices, index[u])
			}
		}
		sub.Offsets[i+1] = int64(len(sub.Indices))
	}
	sub.Indices = slices.Clip(slices.Clone(sub.Indices))
	sub.sortRows()
	return sub, index, nil
}

// FromGonum converts a gonum graph. Nodes are numbered by ascending id: node v has id ids[v]. In a directed graph, an
// edge from u to v means that v aggregates from u.
func FromGonum(g graph.Graph) (edges *Graph, ids []int64, err error) {
	for nodes := g.Nodes(); nodes.Next(); {
		ids = append(ids, nodes.Node().ID())
	}
	if len(ids) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("%d nodes: expected at most %d", len(ids), math.MaxInt32)
	}
	slices.Sort(ids)
	var list []Edge
	for u, id := range ids {
		for to := g.From(id); to.Next(); {
			v, ok := slices.BinarySearch(ids, to.Node().ID())
			if !ok {
				return nil, nil, fmt.Errorf("an edge from %d leads to %d, which is not a node of the graph", id, to.Node().ID())
			}
			list = append(list, Edge{Node: int32(v), Neighbour: int32(u)})
		}
	}
	edges, _, err = FromEdges(len(ids), list, Options{Directed: true})
	return edges, ids, err
}

// Matrix is a matrix in compressed sparse rows. Do not change it once built.
type Matrix struct {
	Rows, Columns int
	// Offsets has Rows+1 entries: row r has entries Offsets[r] to Offsets[r+1]-1.
	Offsets []int64
	// Indices are column numbers.
	Indices []int32
	// Values are nil if all are 1.
	Values []float32
}

// Matrix returns the adjacency matrix, which shares g's memory.
func (g *Graph) Matrix() Matrix {
	n := g.NumNodes()
	m := Matrix{Rows: n, Columns: n, Offsets: g.Offsets, Indices: g.Indices}
	if len(m.Offsets) == 0 {
		m.Offsets = []int64{0}
	}
	return m
}

// NumEntries returns the number of stored entries.
func (m Matrix) NumEntries() int { return len(m.Indices) }

// RowIndices returns each entry's row.
func (m Matrix) RowIndices() []int32 {
	rows := make([]int32, 0, m.NumEntries())
	for r := range m.Rows {
		for range m.Offsets[r+1] - m.Offsets[r] {
			rows = append(rows, int32(r))
		}
	}
	return rows
}

// Transpose returns the transpose t; entry i of t is entry from[i] of m.
func (m Matrix) Transpose() (t Matrix, from []int32) {
	t = Matrix{Rows: m.Columns, Columns: m.Rows, Offsets: make([]int64, m.Columns+1),
		Indices: make([]int32, m.NumEntries())}
	from = make([]int32, m.NumEntries())
	if m.Values != nil {
		t.Values = make([]float32, m.NumEntries())
	}
	for _, c := range m.Indices {
		t.Offsets[c+1]++
	}
	for c := range m.Columns {
		t.Offsets[c+1] += t.Offsets[c]
	}
	next := slices.Clone(t.Offsets)
	for r := range m.Rows {
		for i := m.Offsets[r]; i < m.Offsets[r+1]; i++ {
			at := next[m.Indices[i]]
			next[m.Indices[i]]++
			t.Indices[at] = int32(r)
			from[at] = int32(i)
			if m.Values != nil {
				t.Values[at] = m.Values[i]
			}
		}
	}
	return t, from
}

// WithDiagonal returns m's pattern with all diagonal entries: row v becomes N_v ∪ {v}.
func (m Matrix) WithDiagonal() Matrix {
	t := Matrix{Rows: m.Rows, Columns: m.Columns, Offsets: make([]int64, m.Rows+1),
		Indices: make([]int32, 0, m.NumEntries()+m.Rows)}
	for r := range m.Rows {
		placed := false
		for _, c := range m.Indices[m.Offsets[r]:m.Offsets[r+1]] {
			if !placed && int(c) > r {
				t.Indices, placed = append(t.Indices, int32(r)), true
			}
			t.Indices = append(t.Indices, c)
		}
		if !placed {
			t.Indices = append(t.Indices, int32(r))
		}
		t.Offsets[r+1] = int64(len(t.Indices))
	}
	return t
}
