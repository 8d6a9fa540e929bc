package draw

import (
	"cmp"
	"slices"

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
