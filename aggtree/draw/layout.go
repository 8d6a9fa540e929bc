package draw

import (
	"slices"

	"nodemask/aggtree"
)

type point struct{ X, Y float64 }

type spacing struct {
	sibling float64 // least distance between siblings
	cousin  float64 // least distance between nodes of a level that have different parents
	level   float64
	// apart is the least distance between the subtrees of the root's children if they are drawn in boxes; else 0.
	apart  float64
	across bool // root at the left, not the top
}

// layout returns each tree node's position by Reingold and Tilford, "Tidier Drawings of Trees" (1981): parents are
// centred over their children, and subtrees of equal shape look alike. The positions are means of a layout from the
// left and a layout from the right, so that a mirrored tree has the mirrored layout.
func layout(t *aggtree.Tree, o spacing) []point {
	fromLeft, fromRight := o.offsets(t, false), o.offsets(t, true)
	x := make([]float64, t.NumNodes())
	for i := range x {
		x[i] = (fromLeft[i] - fromRight[i]) / 2
		if i > 0 {
			x[i] += x[t.Parent[i]]
		}
	}
	least := slices.Min(x)
	points := make([]point, len(x))
	for depth := range t.Hops + 1 {
		first, end := t.AtDepth(depth)
		for i := first; i < end; i++ {
			points[i] = point{x[i] - least, float64(depth) * o.level}
			if o.across {
				points[i] = point{points[i].Y, points[i].X}
			}
		}
	}
	return points
}

// span is a subtree's extent at one depth, relative to the subtree's root.
type span struct{ low, high float64 }

// offsets returns each node's distance from its parent. Children are placed as closely as allowed, from the left, or
// from the right if mirrored.
func (o spacing) offsets(t *aggtree.Tree, mirrored bool) []float64 {
	offset := make([]float64, t.NumNodes())
	spans := make([][]span, t.NumNodes())
	for i := int32(len(offset)) - 1; i >= 0; i-- {
		first, end := t.Children(i)
		children := make([]int32, 0, end-first)
		for child := first; child < end; child++ {
			children = append(children, child)
		}
		if mirrored {
			slices.Reverse(children)
		}
		var all []span
		last := 0.0
		for _, child := range children {
			own := spans[child]
			if i == 0 && o.apart > 0 {
				for _, level := range own {
					own[0] = span{min(own[0].low, level.low), max(own[0].high, level.high)}
				}
			}
			at := 0.0
			for depth := range min(len(all), len(own)) {
				distance := o.cousin
				switch {
				case depth == 0 && i == 0:
					distance = max(o.sibling, o.apart)
				case depth == 0:
					distance = o.sibling
				}
				at = max(at, all[depth].high-own[depth].low+distance)
			}
			for depth, level := range own {
				if depth == len(all) {
					all = append(all, span{at + level.low, 0})
				}
				all[depth].high = at + level.high
			}
			offset[child], last = at, at
		}
		spans[i] = make([]span, 1, len(all)+1)
		for _, level := range all {
			spans[i] = append(spans[i], span{level.low - last/2, level.high - last/2})
		}
		for _, child := range children {
			offset[child] -= last / 2
		}
	}
	return offset
}
