package explain

import (
	"encoding/binary"
	"slices"
	"strconv"

	"nodemask/aggtree"
)

// mostEntries is the total number of nodes and edges above which a [forest] is full.
const mostEntries = 1 << 21

// forest is a graph that holds one copy of an aggregation tree for each mask. Subtrees that are equal in several copies
// are stored once, so a forest node may stand for one tree node in several copies.
type forest struct {
	tree  *aggtree.Tree
	whole []int32          // for each tree node, the index of its copy in the tree without masks
	muted []int32          // for each tree node, the index of its only masked copy
	known map[string]int32 // maps keys made by f.add to indices of forest nodes; copies of f.tree's root have no key

	node    []int32 // index of the tree node that each forest node copies
	row     []int32 // index of each forest node's row of the features
	masked  []bool
	offsets []int64
	indices []int32
	asked   []int32 // indices of those copies of the tree's root whose logits were requested
}

func newForest(t *aggtree.Tree) *forest {
	f := &forest{tree: t}
	f.clear()
	return f
}

// clear resets the forest to two copies of each tree node: f.whole is unmasked, f.muted is masked.
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
	slices.Sort(children)
	key := ""
	if i > 0 {
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

// branch returns the index of an unmasked copy of tree node i. If kept[c] is true, states[c] must be the index of child
// c's copy; else child c is masked.
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

// states returns the index of an unmasked copy of each tree node. Below the copy, each tree node i is masked unless
// kept[i] is true.
func (f *forest) states(kept []bool) []int32 {
	states := make([]int32, len(kept))
	for i := int32(len(kept)) - 1; i >= 0; i-- {
		states[i] = f.branch(i, kept, states)
	}
	return states
}

// ask requests the root's logits under a mask.
func (f *forest) ask(kept []bool) {
	states := make([]int32, len(kept))
	for i := int32(len(kept)) - 1; i > 0; i-- {
		if kept[i] && kept[f.tree.Parent[i]] {
			states[i] = f.branch(i, kept, states)
		}
	}
	f.asked = append(f.asked, f.branch(0, kept, states))
}

// askFor requests the root's logits if all tree nodes that stand for the root's graph node have this row's features.
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
