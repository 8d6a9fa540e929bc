package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/aggtree"
	"nodemask/aggtree/internal/testgraph"
)

// fromParents builds the tree that has, level by level, so many children below each node: all layout reads is shape.
func fromParents(children [][]int) *aggtree.Tree {
	t := &aggtree.Tree{Hops: len(children), Base: []int32{0}, Parent: []int32{-1}, Level: []int32{0, 1}}
	for depth, level := range children {
		for k, n := range level {
			parent := t.Level[depth] + int32(k)
			t.FirstChild = append(t.FirstChild, int32(len(t.Base)))
			for i := range n {
				t.Base, t.Parent = append(t.Base, int32(i)), append(t.Parent, parent)
			}
		}
		t.Level = append(t.Level, int32(len(t.Base)))
	}
	for len(t.FirstChild) <= len(t.Base) {
		t.FirstChild = append(t.FirstChild, int32(len(t.Base)))
	}
	return t
}

// drawnTree draws trees of all shapes, those of no graph too.
func drawnTree(t *rapid.T) *aggtree.Tree {
	var children [][]int
	width := 1
	for depth := range rapid.IntRange(0, 8).Draw(t, "hops") {
		level := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3, 7}), width, width).Draw(t,
			fmt.Sprint("level", depth))
		width = 0
		for k := range level {
			if width > 60 {
				level[k] = 0
			}
			width += level[k]
		}
		children = append(children, level)
	}
	return fromParents(children)
}

func x(points []point) []float64 {
	var all []float64
	for _, p := range points {
		all = append(all, p.X)
	}
	return all
}

func TestTheLayoutOfASmallTreeByHand(t *testing.T) {
	// The root has three children; the first has two, the last three. 1.5 apart, the children would have the outer two's
	// own children at 0, 1 and 2.5, 3.5, 4.5 at the least: so the first is at 0.5, the last at 3.5, the second in the
	// middle.
	tree := fromParents([][]int{{3}, {2, 0, 3}})
	o := spacing{sibling: 1, cousin: 1.5, level: 2}
	points := layout(tree, o)
	assert.InDeltaSlice(t, []float64{2, 0.5, 2, 3.5, 0, 1, 2.5, 3.5, 4.5}, x(points), 1e-9)
	assert.Equal(t, 4.0, points[8].Y)
	o.across = true
	for i, p := range layout(tree, o) {
		assert.Equal(t, point{points[i].Y, points[i].X}, p)
	}
	assert.Equal(t, []point{{}}, layout(fromParents(nil), o))
}

func TestTreesOfAnyShapeAreTidy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawnTree(t)
		o := spacing{rapid.Float64Range(0.5, 2).Draw(t, "sibling"), rapid.Float64Range(0.5, 3).Draw(t, "cousin"), 1,
			rapid.SampledFrom([]float64{0, 3}).Draw(t, "apart"), false}
		points := layout(tree, o)
		require.InDelta(t, 0, slices.Min(x(points)), 1e-9)
		for depth := range tree.Hops + 1 {
			first, end := tree.AtDepth(depth)
			for i := first + 1; i < end; i++ {
				least := o.cousin
				if tree.Parent[i] == tree.Parent[i-1] {
					least = o.sibling
				}
				require.GreaterOrEqual(t, points[i].X-points[i-1].X, least-1e-6)
				require.Equal(t, float64(depth), points[i].Y)
			}
		}
		first, end := tree.Children(0)
		for u, right := first, -10.0; u < end && o.apart > 0; u++ {
			low, high := points[u].X, points[u].X
			for _, level := range tree.Descendants(u, tree.Hops) {
				low, high = min(low, points[level[0]].X), max(high, points[level[1]-1].X)
			}
			require.GreaterOrEqual(t, low, right+o.apart-1e-9, "the box of a cached subtree touches another")
			right = high
		}
		shape := make([]string, tree.NumNodes())
		seen := map[string]int32{}
		for i := int32(tree.NumNodes()) - 1; i >= 0; i-- {
			first, end := tree.Children(i)
			if first < end {
				require.InDelta(t, (points[first].X+points[end-1].X)/2, points[i].X, 1e-6, "centred over its children")
			}
			shape[i] = "(" + strings.Join(shape[first:end], "") + ")"
			other, ok := seen[shape[i]]
			if !ok {
				seen[shape[i]] = i
				continue
			}
			a, b := tree.Descendants(i, tree.Hops), tree.Descendants(other, tree.Hops)
			for d := range a {
				for k := range a[d][1] - a[d][0] {
					require.InDelta(t, points[a[d][0]+k].X-points[i].X, points[b[d][0]+k].X-points[other].X, 1e-6,
						"subtrees of one shape are alike")
				}
			}
		}
	})
}

func TestASmallTreeIsNotFolded(t *testing.T) {
	tree := fromParents([][]int{{12}, {12, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12}})
	f := Options{}.fold(tree)
	assert.Equal(t, tree, f.Tree)
	f = Options{}.fold(fromParents([][]int{{49}}))
	assert.Equal(t, 13, f.Tree.NumNodes())
	assert.Equal(t, "+38", f.text(12, nil))
}

func TestFoldedTreesCountWhatTheyLeaveOutWithinTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, mask := drawnTree(t), []bool(nil)
		if rapid.Bool().Draw(t, "masked") {
			g := testgraph.Any(t, 6)
			mask = testgraph.AnyMask(t, g)
			tree = built(g, testgraph.AnyNode(t, g, "root"), rapid.IntRange(0, 3).Draw(t, "hops"), mask)
		}
		o := Options{children: rapid.IntRange(2, 9).Draw(t, "children"), nodes: rapid.IntRange(2, 80).Draw(t, "nodes")}
		f := o.fold(tree)
		require.Equal(t, f, o.fold(tree))
		require.LessOrEqual(t, f.Tree.NumNodes(), o.nodes)
		total := 0
		for i := range int32(f.Tree.NumNodes()) {
			first, end := f.Tree.Children(i)
			require.LessOrEqual(t, int(end-first), o.children)
			if f.Node[i] >= 0 {
				require.Equal(t, tree.Base[f.Node[i]], f.Tree.Base[i])
				require.Equal(t, tree.Depth(f.Node[i]), f.Tree.Depth(i))
				require.False(t, !tree.IsLeaf(f.Node[i]) && first == end, "what lies below is shown or counted")
				total++
			}
			if f.Ghost[i] {
				require.True(t, first == end && (f.More[i] > 0 || mask[f.Tree.Base[i]]))
			} else {
				total += f.More[i]
			}
			for c := first; c < end; c++ {
				require.Equal(t, i, f.Tree.Parent[c])
			}
		}
		require.Equal(t, tree.NumNodes(), total)
	})
}
