// Package draw draws aggregation trees as text ([WriteText]) or pictures ([WriteSVG]), and the paper's figures 1 to 7.
package draw

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"nodemask/aggtree"
	"nodemask/internal/svg"
)

// Options configure a drawing.
type Options struct {
	// Names has a name per graph node; if it is "", the number is drawn.
	Names []string
	// Labels[v] is graph node v's class, which determines the fill colour; negative means no fill. If Labels is nil,
	// the fill colour shows the graph node instead: all tree nodes that stand for it have the same colour.
	Labels []int32
	// Classes names the labels.
	Classes []string
	// Flow[i] is the weight of the edge from tree node i to its parent. The weight's sign sets the edge's colour, and
	// its absolute value the width. If not all children fit, those with the largest flow are drawn. If Flow is set, the
	// graph around the root is not drawn.
	Flow []float64
	// FlowNames describe, in the legend, edges of positive and of negative flow.
	FlowNames [2]string
	// ID is the SVG's id and prefixes ids inside it. It must be unique on a page; "" means aggtree.
	ID string

	// Only tests change these.
	children int // largest number of children drawn per node, at least 2; 0 means 12
	nodes    int // largest number of tree nodes drawn, at least 2; 0 means 150
}

func (o Options) title(t *aggtree.Tree) string {
	from := ""
	if t.Cached {
		from = ", from a cache"
	}
	return fmt.Sprintf("The %d-aggregation tree of node %s%s", t.Hops, svg.Name(t.Base[0], o.Names), from)
}

// Sizes in CSS pixels, large enough for wide fonts.
const (
	fontSize, letterWidth = 12, 7.7
	boxHeight             = 24.0
	leastWidth            = 30.0
	longestLabel          = 14  // in letters; longer labels are cut off
	widestDown            = 900 // in pixels; a wider tree grows from left to right, not from top to bottom
	margin                = 14.0
	headingHeight         = 24.0
	legendRow             = 20.0
	mostBoxes             = 4
)

type picture struct {
	*folded
	o     Options
	full  *aggtree.Tree
	id    string
	looks looks
	width float64
	b     strings.Builder
}

// WriteSVG writes a picture of a tree: the graph around the root, the tree to its right and the legend below. Masked
// neighbours are dashed.
func WriteSVG(w io.Writer, t *aggtree.Tree, o Options) error {
	if err := notEmpty(t); err != nil {
		return err
	}
	s := &picture{folded: o.fold(t), o: o, full: t, id: cmp.Or(o.ID, "aggtree"), looks: newLooks(t, o), width: leastWidth}
	for i := range s.Tree.Base {
		s.widen(s.text(int32(i), o.Names))
	}
	near := s.near()
	s.b.WriteString("<g class=\"tree\">\n")
	heading := fmt.Sprintf("%d-aggregation tree of %s", t.Hops, cut(svg.Name(t.Base[0], o.Names)))
	left, top := margin, margin
	if len(near.nodes) > 0 {
		left = margin + max(near.width, columns(near.heading)*letterWidth) + 3*margin
	}
	s.heading(left, top, heading)
	size := s.tree(point{left, top + headingHeight})
	s.b.WriteString("</g>\n")
	right := left + max(size.X, columns(heading)*letterWidth)
	bottom := top + headingHeight + size.Y
	if len(near.nodes) > 0 {
		s.b.WriteString("<g class=\"graph\">\n")
		s.heading(margin, top, near.heading)
		s.sketch(near.sketch, point{margin, top + headingHeight})
		s.b.WriteString("</g>\n")
		bottom = max(bottom, top+headingHeight+near.height)
	}
	bottom = s.legend(near, margin, bottom+margin, max(right, 420)) + margin
	right = max(right, 420) + margin

	_, err := w.Write(s.page(right, bottom, o.title(t), s.description()))
	return err
}

func (s *picture) page(width, height float64, title, description string) []byte {
	sheet := svg.Sheet{ID: s.id, Title: title, Description: svg.Plain(description), Width: math.Ceil(width),
		Height: math.Ceil(height)}
	return sheet.SVG(s.b.String())
}

func (s *picture) tree(at point) (size point) {
	pad := s.pad(s.full.Hops - 1)
	level := 64 + 2*max(pad-8, 0)
	down := spacing{sibling: s.width + 10, cousin: s.width + 20, level: level}
	side := spacing{sibling: boxHeight + 6, cousin: boxHeight + 12, level: s.width + level, across: true}
	if pad > 0 {
		down.apart, side.apart = s.width+2*pad+12, boxHeight+2*pad+10
	}
	points, across := layout(s.Tree, down), false
	if extent(points).X > widestDown {
		points, across = layout(s.Tree, side), true
	}
	size = extent(points)
	for i := range points {
		points[i].X += at.X + s.width/2 + pad
		points[i].Y += at.Y + boxHeight/2 + pad + 2
	}
	s.boxes(points)
	s.edges(points, across)
	for i, p := range points {
		s.node(int32(i), p)
	}
	return point{size.X + s.width + 2*pad, size.Y + boxHeight + 2*pad + 4}
}

func extent(points []point) (size point) {
	for _, p := range points {
		size.X, size.Y = max(size.X, p.X), max(size.Y, p.Y)
	}
	return size
}

func (s *picture) pad(depth int) float64 {
	if !s.full.Cached || depth < 1 || depth < s.full.Hops-mostBoxes {
		return 0
	}
	return 8 + 6*float64(depth-max(1, s.full.Hops-mostBoxes))
}

func (s *picture) widen(label string) { s.width = max(s.width, columns(cut(label))*letterWidth+14) }

func (s *picture) description() string {
	var parts []string
	for depth := range s.full.Hops + 1 {
		first, end := s.full.AtDepth(depth)
		parts = append(parts, fmt.Sprintf("%d at depth %d", end-first, depth))
	}
	text := fmt.Sprintf("%d tree nodes: %s.", s.full.NumNodes(), strings.Join(parts, ", "))
	if s.full.RootMasked {
		text += " The root is masked."
	}
	if slices.ContainsFunc(s.More, func(more int) bool { return more > 0 }) {
		text += " Not all are drawn."
	}
	return text
}

func (s *picture) rect(x, y, width, height, radius float64, attributes string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	s.printf(`<rect x="%s" y="%s" width="%s" height="%s" rx="%s"%s/>`,
		px(x), px(y), px(width), px(height), px(radius), attributes)
}

func (s *picture) printf(format string, arguments ...any) { fmt.Fprintf(&s.b, format, arguments...) }
