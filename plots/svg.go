package plots

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// fontFamily is whatever the reader's system uses. Texts are laid out for Liberation Sans, as wide as Arial.
const fontFamily = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif"

// Sizes in CSS pixels.
const (
	titleSize, labelSize, tickSize = 14, 13, 12
	lineHeight                     = 1.4 // of the size of the letters
	margin                         = 10
	sampleWidth                    = 36   // of a line in the legend
	fontSlack                      = 1.28 // how much wider the reader's font may be: DejaVu Sans Bold is
)

// palette has the colours of Okabe and Ito that differ for the colour-blind too, on white and on a dark page. On white,
// orange and purple are darker than theirs, to stand out at 3:1; on dark, blue is lighter. Their black is the page's text.
var palette = [...]struct{ light, dark string }{
	{"#0072B2", "#4AA3DF"}, // blue
	{"#D55E00", "#E8742A"}, // vermilion
	{"#009E73", "#1DB88C"}, // bluish green
	{"#B9608F", "#CC79A7"}, // reddish purple
	{"#A87400", "#E69F00"}, // orange
	{"currentColor", "currentColor"},
}

// dashes are those of plain series, referenceDashes those of references: all dashed evenly.
var (
	dashes          = [][]vg.Length{nil, {10, 3}, {8, 3, 2, 3}, {2, 2}, {12, 3, 2, 3, 2, 3}, {5, 2, 2, 2}, {16, 4}}
	referenceDashes = [][]vg.Length{{5, 4}, {4, 3}, {6, 5}, {3, 3}, {7, 4}, {5, 6}, {7, 7}}
)

// look is how a series is told from the others: by colour, dashes and shape.
type look struct {
	colour, shape int
	dash          []vg.Length
	open          bool
}

// looks gives each series its look; the first 42 differ in colour or shape. A reference named after another series shares that one's colour and shape.
func looks(series []Series) []look {
	all := make([]look, len(series))
	next := 0
	free := func() look {
		l := look{colour: next % len(palette), shape: next % shapes, dash: dashes[next%len(dashes)]}
		next++
		return l
	}
	for i, s := range series {
		if !s.Reference {
			all[i] = free()
		}
	}
	references := 0
	for i, s := range series {
		if !s.Reference {
			continue
		}
		of := -1
		for j, other := range series {
			if !other.Reference && other.Name != "" && strings.HasPrefix(s.Name, other.Name) && (of < 0 || len(other.Name) > len(series[of].Name)) {
				of = j
			}
		}
		if of >= 0 {
			all[i] = all[of]
		} else {
			all[i] = free()
		}
		all[i].open = true
		all[i].dash = referenceDashes[references%len(referenceDashes)]
		references++
	}
	return all
}

// The red of the colours that gonum draws with says what they are for, the green is an index of the palette. What they
// look like is up to repaintColour.
const ink, rule, grid, line, band = 1, 2, 3, 4, 5

func paint(use, index int) color.Color { return color.RGBA{R: uint8(use), G: uint8(index), A: 255} }

func (l look) lineStyle() draw.LineStyle {
	width := vg.Length(2)
	if l.open {
		width = 1.5
	}
	return draw.LineStyle{Color: paint(line, l.colour), Width: width, Dashes: l.dash}
}

func (l look) glyphStyle() draw.GlyphStyle {
	return draw.GlyphStyle{Color: paint(line, l.colour), Radius: 4, Shape: l}
}

// shapes is the number of shapes of markers that DrawGlyph knows.
const shapes = 7

// DrawGlyph draws the marker: a circle, square, triangle, diamond, triangle upside down, pentagon or star.
func (l look) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var corners int
	start, inner := math.Pi/2, 1.0 // the first corner is on top
	radius := float64(style.Radius)
	switch l.shape {
	case 1:
		corners, start, radius = 4, math.Pi/4, 1.2*radius
	case 2:
		corners, radius = 3, 1.3*radius
	case 3:
		corners, radius = 4, 1.3*radius
	case 4:
		corners, start, radius = 3, -math.Pi/2, 1.3*radius
	case 5:
		corners, radius = 5, 1.15*radius
	case 6:
		corners, inner, radius = 10, 0.45, 1.5*radius
	}
	var p vg.Path
	if corners == 0 {
		p.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
		p.Arc(at, style.Radius, 0, 2*math.Pi)
	}
	for i := range corners {
		r := radius
		if i%2 == 1 {
			r *= inner
		}
		sin, cos := math.Sincos(start + 2*math.Pi*float64(i)/float64(corners))
		corner := vg.Point{X: at.X + vg.Length(r*cos), Y: at.Y + vg.Length(r*sin)}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	if l.open {
		c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: 1.5})
		c.Stroke(p)
		return
	}
	c.SetColor(style.Color)
	c.Fill(p)
}

// letters lays text out by gonum's font but leaves its horizontal alignment to the reader's font: anchors has that of each
// text drawn, in order.
type letters struct {
	text.Plain
	anchors *[]string
}

// Draw is that of [text.Plain] but for the alignment.
func (l letters) Draw(c vg.Canvas, s string, style text.Style, at vg.Point) {
	face := l.Fonts.Lookup(style.Font, style.Font.Size)
	c.SetColor(style.Color)
	if style.Rotation != 0 {
		c.Push()
		c.Rotate(style.Rotation)
		defer c.Pop()
	}
	sin64, cos64 := math.Sincos(style.Rotation)
	sin, cos := vg.Length(sin64), vg.Length(cos64)
	at.X, at.Y = at.Y*sin+at.X*cos, at.Y*cos-at.X*sin
	lines := l.Lines(s)
	at.Y += style.Height(s)*vg.Length(style.YAlign) - face.Extents().Ascent
	for i, line := range lines {
		if line == "" {
			continue
		}
		c.FillString(face, at.Add(vg.Point{Y: vg.Length(len(lines)-i) * style.Font.Size}), line)
		anchor := "start"
		switch style.XAlign {
		case draw.XCenter:
			anchor = "middle"
		case draw.XRight:
			anchor = "end"
		}
		*l.anchors = append(*l.anchors, anchor)
	}
}

// style is that of text of a size, to the right of and below its place.
func (l letters) style(size vg.Length) text.Style {
	return text.Style{
		Color: paint(ink, 0), Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		XAlign: draw.XLeft, YAlign: draw.YTop, Handler: l,
	}
}

// wrap breaks s at spaces into lines of at most width, and within words that are longer. It has at least one line.
func wrap(style text.Style, s string, width vg.Length) []string {
	fits := func(s string) bool { return fontSlack*style.Width(s) <= width }
	var lines []string
	line := ""
	for _, word := range strings.Fields(oneLine(s)) {
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

// legend is where the series' names go: in columns, one below the other.
type legend struct {
	entries []legendEntry
	columns int
	width   vg.Length // of a column
	rows    []int     // lines of text in each row
}

type legendEntry struct {
	series Series
	look   look
	lines  []string
}

const legendGap, legendSpace = 8, 20 // between line and name, and after the name

func newLegend(series []Series, looks []look, style text.Style, width vg.Length) legend {
	var l legend
	for i, s := range series {
		if oneLine(s.Name) == "" {
			continue
		}
		e := legendEntry{s, looks[i], wrap(style, s.Name, width-sampleWidth-legendGap)}
		for _, line := range e.lines {
			l.width = max(l.width, sampleWidth+legendGap+fontSlack*style.Width(line)+legendSpace)
		}
		l.entries = append(l.entries, e)
	}
	if len(l.entries) == 0 {
		return l
	}
	l.columns = min(max(int((width+legendSpace)/l.width), 1), len(l.entries))
	// As many rows, but none nearly empty.
	rows := (len(l.entries) + l.columns - 1) / l.columns
	l.columns = (len(l.entries) + rows - 1) / rows
	for row := range slices.Chunk(l.entries, l.columns) {
		lines := 0
		for _, e := range row {
			lines = max(lines, len(e.lines))
		}
		l.rows = append(l.rows, lines)
	}
	return l
}

// height is that of all rows, with the space below.
func (l legend) height(style text.Style) vg.Length {
	lines := 0
	for _, n := range l.rows {
		lines += n
	}
	if lines == 0 {
		return 0
	}
	return vg.Length(lines)*lineHeight*style.Font.Size + margin
}

// draw puts the legend with its upper left corner at.
func (l legend) draw(c draw.Canvas, style text.Style, at vg.Point) {
	row := lineHeight * style.Font.Size
	for i, e := range l.entries {
		column := i % l.columns
		if i > 0 && column == 0 {
			at.Y -= row * vg.Length(l.rows[i/l.columns-1])
		}
		x, y := at.X+l.width*vg.Length(column), at.Y-row/2
		if e.series.Low != nil {
			c.FillPolygon(paint(band, e.look.colour), []vg.Point{{X: x, Y: y - 6}, {X: x + sampleWidth, Y: y - 6}, {X: x + sampleWidth, Y: y + 6}, {X: x, Y: y + 6}})
		}
		c.StrokeLine2(e.look.lineStyle(), x, y, x+sampleWidth, y)
		if e.series.marked() {
			c.DrawGlyphNoClip(e.look.glyphStyle(), vg.Point{X: x + sampleWidth/2, Y: y})
		}
		for k, line := range e.lines {
			style := style
			style.YAlign = draw.YCenter
			c.FillText(style, vg.Point{X: x + sampleWidth + legendGap, Y: y - row*vg.Length(k)}, line)
		}
	}
}

// marked tells whether s has markers. A single point always has: no line shows it.
func (s Series) marked() bool { return !s.HideMarkers || len(s.X) == 1 }

// SVG draws c. The legend is above the plot, so that it covers no data. The result is an <svg> element that is a file by
// itself and can be inside HTML: in the colour of the text around it, without a background. The same chart always gives
// the same bytes.
func (c Chart) SVG() ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	width, height := vg.Length(c.Width), vg.Length(c.Height)
	if width == 0 {
		width = defaultWidth
	}
	if height == 0 {
		height = defaultHeight
	}
	var anchors []string
	handler := letters{text.Plain{Fonts: font.DefaultCache}, &anchors}
	titleStyle, labelStyle, tickStyle := handler.style(titleSize), handler.style(labelSize), handler.style(tickSize)
	titleStyle.Font.Weight = 3 // bold
	inside := width - 2*margin

	var title []string
	var above vg.Length = margin
	if oneLine(c.Title) != "" {
		title = wrap(titleStyle, c.Title, inside)
		above += vg.Length(len(title))*lineHeight*titleSize + margin/2
	}
	looks := looks(c.Series)
	key := newLegend(c.Series, looks, tickStyle, inside)
	top := above
	above += key.height(tickStyle)
	// Where the words take much of the height, the chart gets higher.
	height = max(height, above+0.6*height)
	body := height - above

	p := plot.New()
	p.BackgroundColor = nil
	p.TextHandler = handler
	p.Legend.TextStyle.Handler = handler
	p.Title.TextStyle.Handler = handler
	// About 60 go to the axes' own words.
	x, y := c.axes(float64(inside-60)/80, float64(body-60)/45)
	styleAxis(&p.X, x, wrap(labelStyle, c.XLabel, inside-60), labelStyle, tickStyle)
	styleAxis(&p.Y, y, wrap(labelStyle, c.YLabel, body-60), labelStyle, tickStyle)
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XCenter, 1.2*draw.YTop
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
	p.Y.LineStyle.Width = 0
	p.Y.Tick.Length = 0
	p.Y.Padding = 6
	if err := c.addSeries(p, looks); err != nil {
		return nil, err
	}

	canvas := vgsvg.New(width, height)
	all := draw.NewCanvas(canvas, width, height)
	for i, line := range title {
		all.FillText(titleStyle, vg.Point{X: margin, Y: height - margin - vg.Length(i)*lineHeight*titleSize}, line)
	}
	key.draw(all, tickStyle, vg.Point{X: margin, Y: height - top})
	p.Draw(draw.Crop(all, margin, -margin, margin, -above))
	var drawn bytes.Buffer
	if _, err := canvas.WriteTo(&drawn); err != nil {
		return nil, fmt.Errorf("plots: chart %q: %w", c.ID, err)
	}
	return c.repaint(drawn.Bytes(), anchors, float64(width), float64(height))
}

// axes are wide enough for all data, with about so many steps.
func (c Chart) axes(stepsX, stepsY float64) (x, y axis) {
	minX, maxX, minY, maxY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		minX, maxX = min(minX, slices.Min(s.X)), max(maxX, slices.Max(s.X))
		for _, values := range [][]float64{s.Y, s.Low, s.High} {
			for _, v := range values {
				minY, maxY = min(minY, v), max(maxY, v)
			}
		}
	}
	return newAxis(minX, maxX, max(stepsX, 2), false), newAxis(minY, maxY, max(stepsY, 2), true)
}

func styleAxis(a *plot.Axis, r axis, label []string, labelStyle, tickStyle text.Style) {
	a.Min, a.Max = r.min, r.max
	a.Tick.Marker = r
	a.Label.Text = strings.Join(label, "\n")
	a.Label.TextStyle = labelStyle
	a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	a.Label.Padding = 6
	a.LineStyle = draw.LineStyle{Color: paint(rule, 0), Width: 1}
	a.Padding = 0
	a.Tick.Label = tickStyle
	a.Tick.LineStyle = draw.LineStyle{Color: paint(rule, 0), Width: 1}
	a.Tick.Length = 4
}

// addSeries has the grid at the back, then the bands, the lines and the markers.
func (c Chart) addSeries(p *plot.Plot, looks []look) error {
	limits := [4]float64{p.X.Min, p.X.Max, p.Y.Min, p.Y.Max}
	gridStyle := draw.LineStyle{Color: paint(grid, 0), Width: 1}
	bands := []plot.Plotter{&plotter.Grid{Vertical: gridStyle, Horizontal: gridStyle}}
	var lines, markers []plot.Plotter
	for i, s := range c.Series {
		points := make(plotter.XYs, len(s.X))
		for k := range s.X {
			points[k] = plotter.XY{X: s.X[k], Y: s.Y[k]}
		}
		if s.Low != nil {
			edge := make(plotter.XYs, 0, 2*len(s.X))
			for k := range s.X {
				edge = append(edge, plotter.XY{X: s.X[k], Y: s.High[k]})
			}
			for k := len(s.X) - 1; k >= 0; k-- {
				edge = append(edge, plotter.XY{X: s.X[k], Y: s.Low[k]})
			}
			area, err := plotter.NewPolygon(edge)
			if err != nil {
				return fmt.Errorf("plots: chart %q: series %q: band: %w", c.ID, s.Name, err)
			}
			area.Color = paint(band, looks[i].colour)
			area.LineStyle.Width = 0
			bands = append(bands, area)
		}
		lines = append(lines, &plotter.Line{XYs: points, LineStyle: looks[i].lineStyle()})
		if s.marked() {
			markers = append(markers, &plotter.Scatter{XYs: points, GlyphStyle: looks[i].glyphStyle()})
		}
	}
	p.Add(slices.Concat(bands, lines, markers)...)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = limits[0], limits[1], limits[2], limits[3]
	return nil
}

var (
	textElement  = regexp.MustCompile(`<text `)
	styleElement = regexp.MustCompile(`\s*style="([^"]*)"`)
)

// repaint makes of gonum's drawing one that takes its colours and its font from where it is shown: styles become
// attributes, which the style sheet at the top can overrule for a dark page.
func (c Chart) repaint(drawn []byte, anchors []string, width, height float64) ([]byte, error) {
	id := name(c.ID)
	body := drawn[bytes.Index(drawn, []byte("<g ")):]
	if n := len(textElement.FindAll(body, -1)); n != len(anchors) {
		return nil, fmt.Errorf("plots: chart %q: %d texts drawn for %d", c.ID, n, len(anchors))
	}
	next := 0
	body = textElement.ReplaceAllFunc(body, func([]byte) []byte {
		anchor := anchors[next]
		next++
		if anchor == "start" {
			return []byte("<text ")
		}
		return []byte(`<text text-anchor="` + anchor + `" `)
	})
	var failed error
	body = styleElement.ReplaceAllFunc(body, func(attribute []byte) []byte {
		attributes, err := repaintStyle(string(styleElement.FindSubmatch(attribute)[1]))
		if err != nil {
			failed = fmt.Errorf("plots: chart %q: %w", c.ID, err)
		}
		return []byte(attributes)
	})
	if failed != nil {
		return nil, failed
	}

	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" id="%s" role="img" aria-labelledby="%[1]s-title %[1]s-desc" `, id)
	fmt.Fprintf(&b, `width="%.5g" height="%.5g" viewBox="0 0 %[1]g %[2]g" style="max-width:100%%;height:auto" `, width, height)
	fmt.Fprintf(&b, "fill=\"currentColor\" font-family=\"%s\">\n", fontFamily)
	title := oneLine(c.Title)
	if title == "" {
		title = "Chart"
	}
	fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n", id, escape(title))
	fmt.Fprintf(&b, "<desc id=\"%s-desc\">%s</desc>\n", id, escape(c.description()))
	// By itself the drawing is the root and has no text around it to take the colour from.
	fmt.Fprintf(&b, "<style>\n#%s:root{color:#1a1a1a;color-scheme:light dark}\n@media (prefers-color-scheme:dark){\n#%[1]s:root{color:#e6e6e6;background:#121212}\n", id)
	for i, p := range palette {
		if p.light != p.dark {
			fmt.Fprintf(&b, "#%s .line%d{stroke:%s}#%[1]s .fill%[2]d{fill:%[3]s}\n", id, i, p.dark)
		}
	}
	b.WriteString("}\n</style>\n")
	b.Write(body)
	return b.Bytes(), nil
}

// description is the caption, and what the chart shows for those who do not see it.
func (c Chart) description() string {
	var parts []string
	if caption := oneLine(c.Caption); caption != "" {
		parts = append(parts, caption)
	}
	if x, y := oneLine(c.XLabel), oneLine(c.YLabel); x != "" && y != "" {
		parts = append(parts, fmt.Sprintf("Line chart of %s over %s.", y, x))
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

// repaintStyle turns the style of one of gonum's elements into attributes.
func repaintStyle(style string) (string, error) {
	var b strings.Builder
	for _, declaration := range strings.Split(style, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		switch {
		case (property == "fill" || property == "stroke") && value != "none":
			if err := repaintColour(&b, property, value); err != nil {
				return "", err
			}
		case property == "font-weight" && value != "bold":
		case property == "font-family", property == "font-variant", property == "font-style":
		default:
			fmt.Fprintf(&b, ` %s="%s"`, property, value)
		}
	}
	return b.String(), nil
}

// repaintColour writes what one of gonum's colours stands for as attributes. The property is fill or stroke.
func repaintColour(b *strings.Builder, property, value string) error {
	var kind, index, last uint8
	if _, err := fmt.Sscanf(value, "#%02X%02X%02X", &kind, &index, &last); err != nil || int(index) >= len(palette) {
		return fmt.Errorf("gonum drew in the unknown colour %q", value)
	}
	class := map[string]string{"fill": "fill", "stroke": "line"}[property]
	switch kind {
	case ink:
		fmt.Fprintf(b, ` %s="currentColor"`, property)
	case rule:
		fmt.Fprintf(b, ` %s="currentColor" %[1]s-opacity="0.55"`, property)
	case grid:
		fmt.Fprintf(b, ` %s="currentColor" %[1]s-opacity="0.13"`, property)
	case line:
		fmt.Fprintf(b, ` class="%s%d" %s="%s"`, class, index, property, palette[index].light)
	case band:
		fmt.Fprintf(b, ` class="%s%d" %s="%s" %[3]s-opacity="0.18"`, class, index, property, palette[index].light)
	default:
		return fmt.Errorf("gonum drew in the unknown colour %q", value)
	}
	return nil
}
