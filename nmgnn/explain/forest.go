package explain

import (
	"encoding/binary"
	"slices"
	"strconv"

	"nodemask/aggtree"
)

// mostEntries is how many nodes and edges a forest may have before it is run: each run takes memory for its forest.
const mostEntries = 1 << 21

// forest is one graph that holds an aggregation tree under many masks, each subtree that several of them share once.
// Its nodes are tree nodes, each with its children as one mask has them: heard, or masked with all below them intact.
// Row by row it is what the tree with the mask δ is, so the root's representation is the same.
type forest struct {
	tree  *aggtree.Tree
	whole []int32          // of each tree node: the forest's node of it with all below it, heard
	muted []int32          // and the same, masked
	known map[string]int32 // of what is below the root, by tree node and children

	node    []int32 // the tree node of each of the forest's nodes
	row     []int32 // its row of the features
	masked  []bool
	offsets []int64
	indices []int32
	asked   []int32 // the forest's node of each tree that was asked for
}

func newForest(t *aggtree.Tree) *forest {
	f := &forest{tree: t}
	f.clear()
	return f
}

// clear leaves the tree itself, whole, whose features are rows 0 to NumNodes-1.
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

// add adds a node, unless it is known, and returns its number.
func (f *forest) add(i, row int32, masked bool, children []int32) int32 {
	slices.Sort(children) // rows of a graph ascend
	key := ""
	if i > 0 { // trees that were asked for differ
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

// full reports whether the forest is to be run before more is asked for.
func (f *forest) full() bool { return len(f.node)+len(f.indices) > mostEntries }

// branch returns the forest's node of tree node i whose children are heard as kept says, and stand for what states has
// for them.
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

// states returns the forest's node of each tree node with the children that are kept, also of those that are masked.
func (f *forest) states(kept []bool) []int32 {
	states := make([]int32, len(kept))
	for i := int32(len(kept)) - 1; i >= 0; i-- {
		states[i] = f.branch(i, kept, states)
	}
	return states
}

// ask asks for the root's logits on the tree of the nodes that are kept. What is below a masked node does not matter.
func (f *forest) ask(kept []bool) {
	states := make([]int32, len(kept))
	for i := int32(len(kept)) - 1; i > 0; i-- {
		if kept[i] && kept[f.tree.Parent[i]] {
			states[i] = f.branch(i, kept, states)
		}
	}
	f.asked = append(f.asked, f.branch(0, kept, states))
}

// askFor asks for the root's logits where the tree nodes of the root's base read their features from another row.
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
