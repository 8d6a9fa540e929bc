package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nodemask/aggtree"
	"nodemask/internal/svg"
)

type folded struct {
	// Tree holds the drawn nodes. A node's base is the graph node that it stands for. Ghosts are masked neighbours,
	// sorted by base among their siblings. Stand-ins replace omitted nodes, have base -1 and come last among their
	// siblings.
	Tree *aggtree.Tree
	// Node[i] is drawn node i's index in the original tree; -1 if node i is a masked neighbour or replaces omitted
	// nodes.
	Node []int32
	// More[i] is the number of nodes that drawn node i replaces, or 0. These nodes are masked neighbours if Ghost[i],
	// else tree nodes.
	More  []int
	Ghost []bool

	flow []float64 // Options.Flow, by node of the original tree
}

func (f *folded) text(i int32, names []string) string {
	if f.More[i] > 0 {
		return fmt.Sprintf("+%d", f.More[i])
	}
	return svg.Name(f.Tree.Base[i], names)
}

func (f *folded) remark(i int32) string {
	switch {
	case f.Ghost[i]:
		return "masked"
	case i == 0 && f.Tree.RootMasked:
		return "masked, but the root"
	case f.isCached(i):
		return "cached"
	}
	return ""
}

func (f *folded) isCached(i int32) bool {
	return f.Tree.Cached && f.Tree.Parent[i] == 0 && f.Node[i] >= 0
}

func (o Options) fold(t *aggtree.Tree) *folded {
	o.nodes = max(cmp.Or(o.nodes, 150), 2)
	o.children = min(max(cmp.Or(o.children, 12), 2), o.nodes)
	f := &folder{Tree: t, o: o, below: make([]int, t.NumNodes()), out: &folded{
		Tree: &aggtree.Tree{Hops: t.Hops, RootMasked: t.RootMasked, Cached: t.Cached, Level: make([]int32, t.Hops+2)},
	}}
	for i := t.NumNodes() - 1; i > 0; i-- {
		f.below[t.Parent[i]] += f.below[i] + 1
	}
	if len(o.Flow) == t.NumNodes() {
		f.out.flow = o.Flow
		f.strongest = make([]float64, t.NumNodes())
		for i := t.NumNodes() - 1; i > 0; i-- {
			f.strongest[i] = max(f.strongest[i], math.Abs(o.Flow[i]))
			f.strongest[t.Parent[i]] = max(f.strongest[t.Parent[i]], f.strongest[i])
		}
	}
	f.run()
	return f.out
}

type folder struct {
	*aggtree.Tree
	o     Options
	below []int
	out   *folded

	strongest []float64 // largest absolute flow in each subtree
}

type drawn struct {
	base, node int32
	more       int
	ghost      bool
}

func (f *folder) run() {
	out := f.out.Tree
	f.add(drawn{base: f.Base[0], node: 0}, -1)
	out.Level[1] = 1
	for depth := range f.Hops {
		first, end := out.AtDepth(depth)
		most := f.most(first, end)
		for i := first; i < end; i++ {
			out.FirstChild = append(out.FirstChild, int32(len(out.Base)))
			for _, d := range f.children(f.out.Node[i], most) {
				f.add(d, i)
			}
		}
		out.Level[depth+2] = int32(len(out.Base))
	}
	for len(out.FirstChild) <= len(out.Base) {
		out.FirstChild = append(out.FirstChild, int32(len(out.Base)))
	}
}

func (f *folder) add(d drawn, parent int32) {
	t := f.out.Tree
	t.Base, t.Parent = append(t.Base, d.base), append(t.Parent, parent)
	f.out.Node, f.out.More, f.out.Ghost = append(f.out.Node, d.node), append(f.out.More, d.more),
		append(f.out.Ghost, d.ghost)
}

// most returns how many nodes may be drawn below each drawn node from first to end-1. The drawing must have room for
// these nodes and for one more below each that has children or masked neighbours.
func (f *folder) most(first, end int32) int {
	for most := f.o.children; most > 0; most-- {
		room := f.o.nodes - len(f.out.Node)
		for i := first; i < end && room >= 0; i++ {
			for _, d := range f.children(f.out.Node[i], most) {
				if room--; d.node >= 0 && f.hasBelow(d.node) {
					room--
				}
			}
		}
		if room >= 0 {
			return most
		}
	}
	return 0
}

func (f *folder) hasBelow(i int32) bool { return !f.IsLeaf(i) || len(f.ghosts(i)) > 0 }

func (f *folder) ghosts(i int32) []int32 {
	if f.Hidden == nil || f.Hidden[i] == 0 {
		return nil
	}
	var hidden []int32
	for _, u := range f.Graph.Neighbours(f.Base[i]) {
		if f.Mask[u] {
			hidden = append(hidden, u)
		}
	}
	return hidden
}

// children returns the nodes to draw below a node: its children and ghosts (masked neighbours). If these exceed limit,
// one stand-in node replaces all ghosts if there are several; if limit < 2, no ghost is drawn. If the children still
// do not fit, another stand-in node replaces the last children.
func (f *folder) children(node int32, limit int) []drawn {
	if node < 0 {
		return nil
	}
	first, end := f.Tree.Children(node)
	order := make([]int32, end-first)
	for k := range order {
		order[k] = first + int32(k)
	}
	if f.strongest != nil {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(f.strongest[b], f.strongest[a]) })
	}
	ghosts := f.ghosts(node)
	keep, hidden := len(order), 0
	if keep+len(ghosts) > limit {
		switch {
		case limit < 2:
			ghosts = nil
		case len(ghosts) > 1:
			ghosts, hidden = nil, len(ghosts)
			fallthrough
		case len(ghosts) == 1:
			limit--
		}
		if keep > limit && (keep > 1 || f.below[first] > 0) {
			keep = max(limit-1, 0)
		}
	}
	var all []drawn
	for _, i := range order[:keep] {
		all = append(all, drawn{base: f.Base[i], node: i})
	}
	for _, u := range ghosts {
		all = append(all, drawn{base: u, node: -1, ghost: true})
	}
	slices.SortFunc(all, func(a, b drawn) int { return int(a.base) - int(b.base) })
	if more := len(order) - keep; more > 0 {
		for _, i := range order[keep:] {
			more += f.below[i]
		}
		all = append(all, drawn{base: -1, node: -1, more: more})
	}
	if hidden > 0 {
		all = append(all, drawn{base: -1, node: -1, more: hidden, ghost: true})
	}
	return all
}
