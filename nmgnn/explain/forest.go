package explain

import (
	"encoding/binary"
	"slices"
	"strconv"

	"nodemask/aggtree"
)

// mostEntries limits a forest's memory.
const mostEntries = 1 << 21

// forest is one graph that holds an aggregation tree under many masks; equal subtrees are stored once. A forest node is
// a tree node with the children that one mask keeps, or a masked tree node with its whole subtree. Its representation
// equals the tree node's under that mask.
type forest struct {
	tree  *aggtree.Tree
	whole []int32          // by tree node: the forest node with its whole subtree, unmasked
	muted []int32          // by tree node: the same, masked
	known map[string]int32 // nodes below the root, by row, tree node, mask and children

	node    []int32 // by forest node: its tree node
	row     []int32 // by forest node: its row of the features
	masked  []bool
	offsets []int64
	indices []int32
	asked   []int32 // the roots of the requested trees
}

func newForest(t *aggtree.Tree) *forest {
	f := &forest{tree: t}
	f.clear()
	return f
}

// clear leaves only the whole tree, with features in rows 0 to NumNodes-1.
func (f *forest) clear() {
	n := f.tree.NumNodes()
	*f = forest{tree: f.tree, whole: make([]int32, n), muted: make([]int32, n), known: map[string]int32{},
		offsets: []int64{0}}
	var children []int32
	for i := int32(n) - 1; i >= 0; i-- {
		first, end := f.tree.Children(i)
		children = append(children[:0], f.whole[first:end]...)
		f.whole[i] = f.add(i, i, false, children)
		f.muted[i] = f.add(i, i, true, children)
	}
}

func (f *forest) add(i, row int32, masked bool, children []int32) int32 {
	slices.Sort(children) // rows of a graph ascend
	key := ""
	if i > 0 { // requested trees differ
		k := binary.AppendVarint(binary.AppendVarint(nil, int64(row)), int64(i))
		k = strconv.AppendBool(k, masked)
		for _, c := range children {
			k = binary.AppendVarint(k, int64(c))
		}
		key = string(k)
		if id, ok := f.known[key]; ok {
			return id
		}
	}
	id := int32(len(f.node))
	f.node, f.row, f.masked = append(f.node, i), append(f.row, row), append(f.masked, masked)
	f.indices = append(f.indices, children...)
	f.offsets = append(f.offsets, int64(len(f.indices)))
	if key != "" {
		f.known[key] = id
	}
	return id
}

func (f *forest) full() bool { return len(f.node)+len(f.indices) > mostEntries }

// branch returns tree node i with kept children from states and the others masked.
func (f *forest) branch(i int32, kept []bool, states []int32) int32 {
	first, end := f.tree.Children(i)
	children := make([]int32, 0, end-first)
	for c := first; c < end; c++ {
		if kept[c] {
			children = append(children, states[c])
		} else {
			children = append(children, f.muted[c])
		}
	}
	return f.add(i, i, false, children)
}

// states returns each tree node's forest node with its kept children.
func (f *forest) states(kept []bool) []int32 {
	states := make([]int32, len(kept))
	for i := int32(len(kept)) - 1; i >= 0; i-- {
		states[i] = f.branch(i, kept, states)
	}
	return states
}

// ask requests the root's logits under a mask; nodes below a masked one do not matter.
func (f *forest) ask(kept []bool) {
	states := make([]int32, len(kept))
	for i := int32(len(kept)) - 1; i > 0; i-- {
		if kept[i] && kept[f.tree.Parent[i]] {
			states[i] = f.branch(i, kept, states)
		}
	}
	f.asked = append(f.asked, f.branch(0, kept, states))
}

// askFor requests the root's logits with this row as the features of the root's graph node.
func (f *forest) askFor(row int32) {
	states := slices.Clone(f.whole)
	var children []int32
	for i := int32(f.tree.NumNodes()) - 1; i >= 0; i-- {
		first, end := f.tree.Children(i)
		children = append(children[:0], states[first:end]...)
		own := i
		if f.tree.Base[i] == f.tree.Base[0] {
			own = row
		}
		states[i] = f.add(i, own, false, children)
	}
	f.asked = append(f.asked, states[0])
}
