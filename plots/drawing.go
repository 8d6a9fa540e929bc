package plots

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode"

	"nodemask/internal/svg"
)

// Sizes in CSS pixels.
const (
	titleSize, labelSize, tickSize = 14, 13, 12
	lineHeight                     = 1.4  // distance between lines, as a multiple of the font size
	middle                         = 0.36 // height of letters' middle above the baseline, as a share of the font size
	margin                         = 10
	minSide, maxSide               = 200, 10_000
	rowHeight                      = 22
)

const (
	gridLine  = `stroke="currentColor" stroke-opacity="0.13"`
	axisLine  = `stroke="currentColor" stroke-opacity="0.55"`
	bold      = ` font-weight="bold"`
	centred   = ` text-anchor="middle"`
	toTheLeft = ` text-anchor="end"`
)

// maxValue is the largest number that drawings accept, so that differences stay finite.
const maxValue = 1e300

func checkSide(side float64) error {
	if side != 0 && !(side >= minSide && side <= maxSide) {
		return fmt.Errorf("a side of %v pixels: expected %d to %d", side, minSide, maxSide)
	}
	return nil
}

func checkFinite(values ...float64) error {
	for _, v := range values {
		if !(math.Abs(v) <= maxValue) {
			return fmt.Errorf("%v: expected a finite number of at most %g", v, maxValue)
		}
	}
	return nil
}

func checkInterval(v, low, high float64) error {
	if err := checkFinite(v, low, high); err != nil {
		return err
	}
	if slack := 1e-9 * max(math.Abs(low), math.Abs(high), math.Abs(v)); low > v+slack || v > high+slack {
		return fmt.Errorf("%v: expected it between %v and %v", v, low, high)
	}
	return nil
}

func named(kind, id string, err error) error {
	if err != nil {
		return fmt.Errorf("%s %q: %w", kind, id, err)
	}
	return nil
}

type drawing struct {
	svg.Sheet
	bytes.Buffer
}

func newDrawing(id, title, description string, width float64) *drawing {
	return &drawing{Sheet: svg.Sheet{ID: id, Title: title, Description: description, Width: width}}
}

func (d *drawing) heading() []string {
	if svg.Plain(d.Title) == "" {
		return nil
	}
	return wrap(d.Title, boldSlack*titleSize, d.Width-2*margin)
}

func (d *drawing) top() float64 { return margin + float64(len(d.heading()))*lineHeight*titleSize }

func (d *drawing) open() {
	d.lines(point{margin, margin + titleSize}, titleSize, lineHeight*titleSize, bold, d.heading())
}

func (d *drawing) close() []byte { return d.Sheet.SVG(d.String()) }

func (d *drawing) printf(format string, arguments ...any) { fmt.Fprintf(d, format, arguments...) }

func (d *drawing) path(attributes, data string) {
	if data != "" {
		d.printf("<path %s d=\"%s\"/>\n", attributes, data)
	}
}

func (d *drawing) text(at point, size int, attributes, line string) {
	if line != "" {
		d.printf("<text x=\"%s\" y=\"%s\" font-size=\"%d\"%s>%s</text>\n", svg.Px(at.x), svg.Px(at.y), size, attributes,
			svg.Escape(line))
	}
}

func (d *drawing) lines(at point, size int, step float64, attributes string, lines []string) {
	for i, line := range lines {
		d.text(point{at.x, at.y + float64(i)*step}, size, attributes, line)
	}
}

func (d *drawing) label(at point, attributes string, lines []string) {
	at.y += middle*tickSize - float64(len(lines)-1)/2*legendLine
	d.lines(at, tickSize, legendLine, attributes, lines)
}

func (d *drawing) upwards(at point, lines []string) {
	for i, line := range lines {
		turned := fmt.Sprintf(` transform="translate(%s,%s) rotate(-90)"`, svg.Px(at.x+float64(i)*labelLine), svg.Px(at.y))
		d.text(point{}, labelSize, centred+turned, line)
	}
}

type point struct{ x, y float64 }

func polyline(points ...point) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteByte("M "[min(i, 1)])
		b.WriteString(svg.Px(p.x) + "," + svg.Px(p.y))
	}
	return b.String()
}

func polygon(points ...point) string { return polyline(points...) + "Z" }

func circle(at point, radius float64) string {
	arc := svg.Px(radius) + "," + svg.Px(radius) + " 0 1 1 "
	return fmt.Sprintf("M%s,%sa%s-%[4]s,0a%[3]s%[4]s,0Z", svg.Px(at.x+radius), svg.Px(at.y), arc, svg.Px(2*radius))
}

const (
	fontSlack = 1.28 // some fonts, such as DejaVu Sans Bold, are 1.28 times as wide as Arial
	boldSlack = 1.08
)

// advances are the widths of the characters from space to ~ in Arial and Liberation Sans, in 1/1000 of the font size.
var advances = [...]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// textWidth returns an upper estimate of the width of s in any font of this size.
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
