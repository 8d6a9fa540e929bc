package plots

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sizes in CSS pixels.
const (
	titleSize, labelSize, tickSize = 14, 13, 12
	lineHeight                     = 1.4  // of the font size
	middle                         = 0.36 // of the font size: from the middle of the letters to their baseline
	margin                         = 10
	minSide, maxSide               = 200, 10_000
)

// Attributes of the grid, the axes and of texts.
const (
	gridLine  = `stroke="currentColor" stroke-opacity="0.13"`
	axisLine  = `stroke="currentColor" stroke-opacity="0.55"`
	bold      = ` font-weight="bold"`
	centred   = ` text-anchor="middle"`
	toTheLeft = ` text-anchor="end"`
)

// maxValue bounds numbers: the difference of two such is still finite.
const maxValue = 1e300

// checkSide returns an error for a side of a drawing that is neither 0 nor from least to maxSide.
func checkSide(what string, side float64, least int) error {
	if side != 0 && !(side >= float64(least) && side <= maxSide) {
		return fmt.Errorf("a %s of %v pixels: expected %d to %d", what, side, least, maxSide)
	}
	return nil
}

// checkFinite returns an error for the first number that cannot be drawn.
func checkFinite(values ...float64) error {
	for _, v := range values {
		if !(math.Abs(v) <= maxValue) {
			return fmt.Errorf("%v: expected a finite number of at most %g", v, maxValue)
		}
	}
	return nil
}

// checkInterval returns an error unless low ≤ v ≤ high up to rounding, all finite.
func checkInterval(v, low, high float64) error {
	if err := checkFinite(v, low, high); err != nil {
		return err
	}
	if slack := 1e-9 * max(math.Abs(low), math.Abs(high), math.Abs(v)); low > v+slack || v > high+slack {
		return fmt.Errorf("%v: expected it between %v and %v", v, low, high)
	}
	return nil
}

// Sheet is an SVG element, but for its shapes.
type Sheet struct {
	ID, Title, Description string
	Colours                []int // of [Palette], that its shapes have
	Width, Height          float64
	Scrolls                bool // where it is too wide, instead of shrinking
}

// heading returns the lines of the title.
func (s Sheet) heading() []string {
	if Plain(s.Title) == "" {
		return nil
	}
	return wrap(s.Title, boldSlack*titleSize, s.Width-2*margin)
}

// top returns the height of the margin and the title.
func (s Sheet) top() float64 { return margin + float64(len(s.heading()))*lineHeight*titleSize }

// open returns a drawing with the title alone.
func (s Sheet) open() *drawing {
	d := new(drawing)
	d.WriteString(s.head())
	d.lines(point{margin, margin + titleSize}, titleSize, lineHeight*titleSize, bold, s.heading())
	return d
}

// SVG returns the drawing of shapes, which are elements of SVG. It takes its colours from the page, or where it is a
// page of its own, from the reader's choice of light or dark.
func (s Sheet) SVG(shapes string) []byte { return []byte(s.head() + shapes + "</svg>\n") }

// head returns all that comes before the shapes.
func (s Sheet) head() string {
	var b strings.Builder
	id, title, style := ElementID(s.ID), Plain(s.Title), "max-width:100%"
	if title == "" {
		title = "Chart"
	}
	if s.Scrolls {
		style = fmt.Sprintf("width:%spx;max-width:none", px(s.Width))
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" id="%s" role="img" aria-labelledby="%[1]s-title %[1]s-desc" `,
		id)
	fmt.Fprintf(&b, `width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" style="%[3]s;height:auto" `, px(s.Width),
		px(s.Height), style)
	fmt.Fprintf(&b, "fill=\"%s\" font-size=\"%d\" font-family=\"%s\">\n", ink, tickSize, FontFamily)
	fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n", id, Escape(title))
	fmt.Fprintf(&b, "<desc id=\"%s-desc\">%s</desc>\n", id, Escape(s.Description))
	// By itself the drawing is the root and has no text around it to take the colour from.
	fmt.Fprintf(&b, "<style>\n#%s:root{color:#1a1a1a;color-scheme:light dark}\n", id)
	fmt.Fprintf(&b, "@media (prefers-color-scheme:dark){\n#%s:root{color:#e6e6e6;background:#121212}\n", id)
	for i, colour := range colours {
		if colour.Dark != ink && slices.Contains(s.Colours, i) {
			fmt.Fprintf(&b, "#%s .line%d{stroke:%s}#%[1]s .fill%[2]d{fill:%[3]s}\n", id, i, colour.Dark)
		}
	}
	fmt.Fprintf(&b, "}\n@media print{#%s:root{color:#1a1a1a;background:none}}\n</style>\n", id)
	return b.String()
}

// drawing is an SVG being written.
type drawing struct{ bytes.Buffer }

// close returns the finished drawing.
func (d *drawing) close() []byte {
	d.WriteString("</svg>\n")
	return d.Bytes()
}

func (d *drawing) printf(format string, arguments ...any) { fmt.Fprintf(d, format, arguments...) }

// path writes a path with the attributes of its look, unless it is empty.
func (d *drawing) path(attributes, data string) {
	if data != "" {
		d.printf("<path %s d=\"%s\"/>\n", attributes, data)
	}
}

// text writes one line with its baseline at a place. An empty line is left out.
func (d *drawing) text(at point, size int, attributes, line string) {
	if line != "" {
		d.printf("<text x=\"%s\" y=\"%s\" font-size=\"%d\"%s>%s</text>\n", px(at.x), px(at.y), size, attributes, Escape(line))
	}
}

// lines writes lines of text, the first with its baseline at a place, the others below it, each a step further.
func (d *drawing) lines(at point, size int, step float64, attributes string, lines []string) {
	for i, line := range lines {
		d.text(point{at.x, at.y + float64(i)*step}, size, attributes, line)
	}
}

// label writes lines in the size of ticks, in the middle of which is the place.
func (d *drawing) label(at point, attributes string, lines []string) {
	at.y += middle*tickSize - float64(len(lines)-1)/2*legendLine
	d.lines(at, tickSize, legendLine, attributes, lines)
}

// upwards writes lines to be read from below, the first centred on a place, the others at its right.
func (d *drawing) upwards(at point, lines []string) {
	for i, line := range lines {
		turned := fmt.Sprintf(` transform="translate(%s,%s) rotate(-90)"`, px(at.x+float64(i)*labelLine), px(at.y))
		d.text(point{}, labelSize, centred+turned, line)
	}
}

// point is a place in a drawing, in CSS pixels from its upper left corner.
type point struct{ x, y float64 }

// polyline returns the data of a path from point to point.
func polyline(points ...point) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteByte("M "[min(i, 1)])
		b.WriteString(px(p.x) + "," + px(p.y))
	}
	return b.String()
}

// polygon returns the data of a closed path.
func polygon(points ...point) string { return polyline(points...) + "Z" }

// circle returns the data of a path round a point.
func circle(at point, radius float64) string {
	arc := px(radius) + "," + px(radius) + " 0 1 1 "
	return fmt.Sprintf("M%s,%sa%s-%[4]s,0a%[3]s%[4]s,0Z", px(at.x+radius), px(at.y), arc, px(2*radius))
}

// px returns a length as SVG writes it, to a hundredth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100+0, 'f', -1, 64) // +0: no -0
}
