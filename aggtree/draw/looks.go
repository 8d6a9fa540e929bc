package draw

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"nodemask/aggtree"
	"nodemask/internal/svg"
)

var palette = svg.Palette

const (
	ringStyles = 3 // solid, dashed, dotted
	rootRing   = 3.5
)

// look draws all replicas of a base alike. fill and ring are colour numbers, or -1.
type look struct {
	fill, ring int
	root       bool
}

type looks struct {
	colours []int
	ring    map[int32]int
	root    int32
}

// newLooks gives rings to the root's base, then to repeated bases, most frequent first, until rings run out.
func newLooks(t *aggtree.Tree, o Options) looks {
	times := map[int32]int{}
	for _, base := range t.Base {
		times[base]++
	}
	var bases []int32
	for base, n := range times {
		if n > 1 && base != t.Base[0] {
			bases = append(bases, base)
		}
	}
	slices.SortFunc(bases, func(a, b int32) int { return cmp.Or(times[b]-times[a], int(a-b)) })
	l := looks{colours: o.Colours, ring: map[int32]int{t.Base[0]: 0}, root: t.Base[0]}
	for i, base := range bases[:min(len(bases), ringStyles*len(palette)-1)] {
		l.ring[base] = i + 1
	}
	return l
}

func (l looks) of(base int32) look {
	one := look{fill: -1, ring: -1, root: base == l.root}
	if ring, ok := l.ring[base]; ok {
		one.ring = ring
	}
	if int(base) < len(l.colours) && l.colours[base] >= 0 {
		one.fill = l.colours[base] % len(palette)
	} else if l.colours == nil && one.ring >= 0 {
		one.fill = one.ring % len(palette)
	}
	return one
}

// columns returns a text's width in letters. Letters of some scripts count twice.
func columns(s string) float64 {
	n := 0.0
	for _, r := range s {
		if n++; r >= 0x1100 {
			n++
		}
	}
	return n
}

func cut(label string) string {
	label = svg.Plain(label)
	if columns(label) <= longestLabel {
		return label
	}
	n := 0.0
	for i, r := range label {
		if n += columns(string(r)); n > longestLabel-1 {
			return label[:i] + "…"
		}
	}
	return label
}

func xmlText(s string) string { return svg.Escape(svg.Plain(s)) }

func px(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10+0, 'f', -1, 64)
}
