package plots

import (
	"strings"
	"unicode"

	"nodemask/internal/svg"
)

const (
	fontSlack = 1.28 // the reader's font may be that much wider than Arial, as DejaVu Sans Bold is
	boldSlack = 1.08
)

// advances are the widths of space to ~ in Arial and Liberation Sans, in 1/1000 of the font size.
var advances = [...]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, // to /
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
}

// textWidth returns an upper estimate of the width of s at a font size, in any font.
func textWidth(s string, size float64) float64 {
	sum := 0
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~':
			sum += int(advances[r-' '])
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x2e80:
			sum += 1000
		case unicode.IsUpper(r):
			sum += 730
		default:
			sum += 600
		}
	}
	return fontSlack * size * float64(sum) / 1000
}

func widest(lines []string, size float64) float64 {
	width := 0.0
	for _, line := range lines {
		width = max(width, textWidth(line, size))
	}
	return width
}

func wrap(s string, size, width float64) []string {
	fits := func(s string) bool { return textWidth(s, size) <= width }
	var lines []string
	line := ""
	for _, word := range strings.Fields(svg.Plain(s)) {
		if line != "" && fits(line+" "+word) {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = ""
		for _, r := range word {
			if line != "" && !fits(line+string(r)) {
				lines = append(lines, line)
				line = ""
			}
			line += string(r)
		}
	}
	return append(lines, line)
}

func sentences(parts ...string) string { return svg.Plain(strings.Join(parts, " ")) }
