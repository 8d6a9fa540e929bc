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
)

// marked tells whether s has markers. A single point always has them: no line shows it.
func (s Series) marked() bool { return !s.HideMarkers || s.Scattered || len(s.X) == 1 }

// SVG returns a drawing of c. The legend is above the plot, so that it covers no data. The result is an <svg> element
// that works as a file or inside HTML, in the colour of the text around it, without a background. The same chart always
// gives the same bytes. The error is that of [Chart.Check].
func (c Chart) SVG() ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l := c.layout()
	var d drawing
	used := make([]int, len(l.looks))
	for i, look := range l.looks {
		used[i] = look.colour
	}
	d.start(c.ID, c.Title, c.description(), used, l.width, l.height)
	l.title.draw(&d)
	l.legend.draw(&d, point{margin, l.legendTop})
	l.frame.draw(&d)
	c.drawSeries(&d, l.frame, l.looks)
	d.WriteString("</svg>\n")
	return d.Bytes(), nil
}

// layout says where the parts of a chart are.
type layout struct {
	width, height float64
	title         heading
	looks         []look
	legend        legend
	legendTop     float64
	frame         frame
}

func (c Chart) layout() layout {
	l := layout{width: c.Width, height: c.Height, looks: looks(c.Series)}
	if l.width == 0 {
		l.width = defaultWidth
	}
	if l.height == 0 {
		l.height = defaultHeight
	}
	l.title = newHeading(c.Title, l.width)
	above := float64(margin)
	if len(l.title) > 0 {
		above += l.title.height() + margin/2
	}
	l.legend = newLegend(c.Series, l.looks, l.width-2*margin)
	l.legendTop = above
	above += l.legend.height()
	// Where the words take much of the height, the chart gets higher.
	l.height = max(l.height, above+0.6*l.height)
	l.frame = c.newFrame(l.width, l.height, above)
	return l
}

// Place is a point of a chart that can be measured anew.
type Place struct {
	Left float64 `json:"left"` // in percent of the drawing's width
	Top  float64 `json:"top"`  // in percent of its height
	Name string  `json:"name"` // "GIN + NM, 0.5: 78.20"
	Cell string  `json:"cell"` // what a page's script needs for it
}

// Places returns the points of the drawing by [Chart.SVG] that have a cell. The error is that of [Chart.Check].
func (c Chart) Places() ([]Place, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l := c.layout()
	var places []Place
	for _, s := range c.Series {
		for i, cell := range s.Cells {
			if cell == "" {
				continue
			}
			at := l.frame.at(s.X[i], s.Y[i])
			percent := func(part, whole float64) float64 { return math.Round(1e4*part/whole) / 100 }
			places = append(places, Place{Left: percent(at.x, l.width), Top: percent(at.y, l.height), Cell: cell,
				Name: fmt.Sprintf("%s, %s: %.2f", oneLine(s.Name), strconv.FormatFloat(s.X[i], 'g', 4, 64), s.Y[i])})
		}
	}
	return places, nil
}

// drawSeries draws the bands, on them the lines, on them the markers.
func (c Chart) drawSeries(d *drawing, f frame, looks []look) {
	for i, s := range c.Series {
		if s.Low == nil {
			continue
		}
		high, low := f.points(s.X, s.High), f.points(s.X, s.Low)
		if len(s.X) == 1 { // as wide as the marker
			high = []point{{high[0].x - markerRadius, high[0].y}, {high[0].x + markerRadius, high[0].y}}
			low = []point{{high[0].x, low[0].y}, {high[1].x, low[0].y}}
		}
		slices.Reverse(low)
		d.path(looks[i].band(), polyline(slices.Concat(high, low))+"Z")
	}
	for i, s := range c.Series {
		if len(s.X) > 1 && !s.Scattered {
			d.path(looks[i].line(), polyline(f.points(s.X, s.Y)))
		}
	}
	for i, s := range c.Series {
		if s.marked() {
			var markers strings.Builder
			for _, p := range f.points(s.X, s.Y) {
				markers.WriteString(looks[i].marker(p))
			}
			d.path(looks[i].markers(), markers.String())
		}
	}
}

// description returns the caption, and what the chart shows for those who do not see it.
func (c Chart) description() string {
	var parts []string
	if caption := oneLine(c.Caption); caption != "" {
		parts = append(parts, caption)
	}
	if x, y := oneLine(c.XLabel), oneLine(c.YLabel); x != "" && y != "" {
		kind := "Line chart"
		if c.Series[0].Scattered {
			kind = "Points"
		}
		parts = append(parts, fmt.Sprintf("%s of %s over %s.", kind, y, x))
	}
	var names []string
	for _, s := range c.Series {
		if n := oneLine(s.Name); n != "" {
			names = append(names, n)
		}
	}
	if len(names) > 0 {
		parts = append(parts, "Series: "+strings.Join(names, "; ")+".")
	}
	return strings.Join(parts, " ")
}

// heading is what is written above a drawing, in lines; nil: nothing.
type heading []string

// newHeading breaks a title to fit a drawing of that width.
func newHeading(text string, width float64) heading {
	if oneLine(text) == "" {
		return nil
	}
	return wrap(text, boldSlack*titleSize, width-2*margin)
}

func (h heading) height() float64 { return float64(len(h)) * lineHeight * titleSize }

func (h heading) draw(d *drawing) {
	for i, line := range h {
		d.text(point{margin, margin + titleSize + float64(i)*lineHeight*titleSize}, titleSize, bold, line)
	}
}

// drawing is an SVG being written.
type drawing struct{ bytes.Buffer }

// point is a place in a drawing, in CSS pixels from its upper left corner.
type point struct{ x, y float64 }

// Attributes of the grid, the axes and of texts.
const (
	gridLine  = `stroke="currentColor" stroke-opacity="0.13"`
	axisLine  = `stroke="currentColor" stroke-opacity="0.55"`
	bold      = ` font-weight="bold"`
	centred   = ` text-anchor="middle"`
	toTheLeft = ` text-anchor="end"`
)

// start writes all that comes before the shapes; used are the colours that these have.
func (d *drawing) start(id, title, description string, used []int, width, height float64) {
	id, title = name(id), oneLine(title)
	if title == "" {
		title = "Chart"
	}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" id="%s" role="img" aria-labelledby="%[1]s-title %[1]s-desc" `, id)
	fmt.Fprintf(d, `width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" style="max-width:100%%;height:auto" `, px(width), px(height))
	fmt.Fprintf(d, "fill=\"%s\" font-family=\"%s\">\n", ink, FontFamily)
	fmt.Fprintf(d, "<title id=\"%s-title\">%s</title>\n", id, escape(title))
	fmt.Fprintf(d, "<desc id=\"%s-desc\">%s</desc>\n", id, escape(description))
	// By itself the drawing is the root and has no text around it to take the colour from.
	fmt.Fprintf(d, "<style>\n#%s:root{color:#1a1a1a;color-scheme:light dark}\n@media (prefers-color-scheme:dark){\n#%[1]s:root{color:#e6e6e6;background:#121212}\n", id)
	for i, colour := range colours {
		if colour.Dark != ink && slices.Contains(used, i) {
			fmt.Fprintf(d, "#%s .line%d{stroke:%s}#%[1]s .fill%[2]d{fill:%[3]s}\n", id, i, colour.Dark)
		}
	}
	d.WriteString("}\n</style>\n")
}

// path writes a path with the attributes of its look.
func (d *drawing) path(attributes, data string) {
	fmt.Fprintf(d, "<path %s d=\"%s\"/>\n", attributes, data)
}

// text writes one line with its baseline at a place. An empty line is left out.
func (d *drawing) text(at point, size int, attributes, line string) {
	if line != "" {
		fmt.Fprintf(d, "<text x=\"%s\" y=\"%s\" font-size=\"%d\"%s>%s</text>\n", px(at.x), px(at.y), size, attributes, escape(line))
	}
}

// upwards writes one line centred on a place, to be read from below.
func (d *drawing) upwards(at point, size int, line string) {
	d.text(point{}, size, centred+fmt.Sprintf(` transform="translate(%s,%s) rotate(-90)"`, px(at.x), px(at.y)), line)
}

// polyline returns the data of a path from point to point.
func polyline(points []point) string {
	var b strings.Builder
	for i, p := range points {
		b.WriteByte("M "[min(i, 1)])
		b.WriteString(px(p.x) + "," + px(p.y))
	}
	return b.String()
}

// px returns a length as SVG writes it, to a hundredth of a pixel.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(100*v)/100+0, 'f', -1, 64) // +0: no -0
}
