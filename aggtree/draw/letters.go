package draw

import (
	"math"
	"strconv"

	"nodemask/internal/svg"
)

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
