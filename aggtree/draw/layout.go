package draw

import (
	"nodemask/aggtree"
)

type point struct{ X, Y float64 }

type spacing struct {
	sibling float64 // least distance of siblings
	cousin  float64 // least distance of other nodes at a depth
	level   float64
	// apart is the least distance between the root children's subtrees, for their boxes.
	apart  float64
	across bool // root at the left, not the top
}

// layout returns each tree node's place, in linear time, without recursion.
//
// It follows Buchheim, Jünger and Leipert, "Improving Walker's Algorithm to Run in Linear Time" (2002): parents are
// centred over their children, equal subtrees look alike (unless apart moves them), small subtrees spread evenly
// between large ones. The mean of a run from each side makes mirrored trees mirror images.
func layout(t *aggtree.Tree, o spacing) []point {
	if t.NumNodes() == 0 {
		return nil
	}
	fromLeft := newTidy(t, o, false).place()
	fromRight := newTidy(t, o, true).place()
	x := fromLeft
	for i := range x {
		x[i] = (fromLeft[i] - fromRight[i]) / 2
	}
	if o.apart > 0 {
		setApart(t, x, o.apart)
	}
	least := x[0]
	for _, at := range x {
		least = min(least, at)
	}
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

// tidy is one run, with the algorithm's names. A mirrored run swaps first and last.
type tidy struct {
	*aggtree.Tree
	spacing
	mirrored                    bool
	prelim, mod, shift, change  []float64
	thread, ancestor, preferred []int32 // preferred is the paper's defaultAncestor, per parent
}

func newTidy(t *aggtree.Tree, o spacing, mirrored bool) *tidy {
	n := t.NumNodes()
	numbers, nodes := make([]float64, 4*n), make([]int32, 3*n)
	d := &tidy{Tree: t, spacing: o, mirrored: mirrored,
		prelim: numbers[:n:n], mod: numbers[n : 2*n : 2*n], shift: numbers[2*n : 3*n : 3*n], change: numbers[3*n:],
		thread: nodes[:n:n], ancestor: nodes[n : 2*n : 2*n], preferred: nodes[2*n:]}
	for i := range int32(n) {
		d.thread[i], d.ancestor[i] = -1, i
		if d.preferred[i] = -1; !t.IsLeaf(i) {
			d.preferred[i] = d.firstOf(i)
		}
	}
	return d
}

// place returns all x, with the root at 0. It goes up level by level, each from the left, to meet descendants and left
// siblings first.
func (d *tidy) place() []float64 {
	for depth := d.Hops; depth >= 0; depth-- {
		first, end := d.AtDepth(depth)
		for k := range end - first {
			if d.mirrored {
				d.firstWalk(end - 1 - k)
			} else {
				d.firstWalk(first + k)
			}
		}
	}
	x, sum := make([]float64, d.NumNodes()), make([]float64, d.NumNodes())
	sum[0] = d.mod[0]
	for i := 1; i < len(x); i++ {
		above := sum[d.Parent[i]]
		x[i] = d.prelim[i] + above - d.prelim[0]
		sum[i] = above + d.mod[i]
	}
	return x
}

func (d *tidy) firstOf(v int32) int32 {
	if d.mirrored {
		return d.FirstChild[v+1] - 1
	}
	return d.FirstChild[v]
}

func (d *tidy) lastOf(v int32) int32 {
	if d.mirrored {
		return d.FirstChild[v]
	}
	return d.FirstChild[v+1] - 1
}

func (d *tidy) leftSibling(v int32) int32 {
	if v == 0 || v == d.firstOf(d.Parent[v]) {
		return -1
	}
	if d.mirrored {
		return v + 1
	}
	return v - 1
}

// nextLeft returns the next node on v's left outline, or -1; nextRight mirrors it.
func (d *tidy) nextLeft(v int32) int32 {
	if d.IsLeaf(v) {
		return d.thread[v]
	}
	return d.firstOf(v)
}

func (d *tidy) nextRight(v int32) int32 {
	if d.IsLeaf(v) {
		return d.thread[v]
	}
	return d.lastOf(v)
}

func (d *tidy) distance(v, w int32) float64 {
	if d.Parent[v] == d.Parent[w] {
		return d.sibling
	}
	return d.cousin
}

func (d *tidy) firstWalk(v int32) {
	left := d.leftSibling(v)
	middle := 0.0
	if !d.IsLeaf(v) {
		d.executeShifts(v)
		middle = (d.prelim[d.firstOf(v)] + d.prelim[d.lastOf(v)]) / 2
	}
	if left < 0 {
		d.prelim[v] = middle
		return
	}
	d.prelim[v] = d.prelim[left] + d.sibling
	d.mod[v] = d.prelim[v] - middle
	d.apportion(v, left)
}

func (d *tidy) executeShifts(v int32) {
	var shift, change float64
	first, end := d.Children(v)
	for k := range end - first {
		w := end - 1 - k
		if d.mirrored {
			w = first + k
		}
		d.prelim[w] += shift
		d.mod[w] += shift
		change += d.change[w]
		shift += d.shift[w] + change
	}
}

func (d *tidy) apportion(v, left int32) {
	parent := d.Parent[v]
	inRight, outRight, inLeft, outLeft := v, v, left, d.firstOf(parent)
	sumInRight, sumOutRight, sumInLeft, sumOutLeft := d.mod[inRight], d.mod[outRight], d.mod[inLeft], d.mod[outLeft]
	for d.nextRight(inLeft) >= 0 && d.nextLeft(inRight) >= 0 {
		inLeft, inRight, outLeft, outRight = d.nextRight(inLeft), d.nextLeft(inRight), d.nextLeft(outLeft),
			d.nextRight(outRight)
		d.ancestor[outRight] = v
		if shift := d.prelim[inLeft] + sumInLeft - d.prelim[inRight] - sumInRight + d.distance(inLeft, inRight); shift > 0 {
			from := d.ancestor[inLeft]
			if d.Parent[from] != parent {
				from = d.preferred[parent]
			}
			d.move(from, v, shift)
			sumInRight += shift
			sumOutRight += shift
		}
		sumInLeft += d.mod[inLeft]
		sumInRight += d.mod[inRight]
		sumOutLeft += d.mod[outLeft]
		sumOutRight += d.mod[outRight]
	}
	if next := d.nextRight(inLeft); next >= 0 && d.nextRight(outRight) < 0 {
		d.thread[outRight] = next
		d.mod[outRight] += sumInLeft - sumOutRight
	}
	if next := d.nextLeft(inRight); next >= 0 && d.nextLeft(outLeft) < 0 {
		d.thread[outLeft] = next
		d.mod[outLeft] += sumInRight - sumOutLeft
		d.preferred[parent] = v
	}
}

// move moves v's subtree, and postpones an even share for the siblings between from and v.
func (d *tidy) move(from, v int32, shift float64) {
	share := shift / float64(max(v-from, from-v))
	d.change[v] -= share
	d.shift[v] += shift
	d.change[from] += share
	d.prelim[v] += shift
	d.mod[v] += shift
}

func setApart(t *aggtree.Tree, x []float64, apart float64) {
	first, end := t.Children(0)
	if first == end {
		return
	}
	right := 0.0
	for u := first; u < end; u++ {
		levels := t.Descendants(u, t.Hops)
		low, high := x[u], x[u]
		for _, level := range levels {
			low, high = min(low, x[level[0]]), max(high, x[level[1]-1])
		}
		move := -low
		if u > first {
			move = right + apart - low
		}
		for _, level := range levels {
			for i := level[0]; i < level[1]; i++ {
				x[i] += move
			}
		}
		right = high + move
	}
	x[0] = (x[first] + x[end-1]) / 2
}
