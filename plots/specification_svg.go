package plots

import (
	"cmp"
	"fmt"
	"strings"

	"nodemask/internal/svg"
)

// Sizes of a specification curve in CSS pixels.
const (
	defaultSpecificationWidth = 1100
	minSpecificationWidth     = 480
	curveHeight               = 260
	optionLine                = 17 // of an option's name, or of each of its lines
	axisGap                   = 9  // above an axis
	barHeight                 = 7  // of a choice, up or down from its row's middle
	medianColumn              = 62 // at the right
	manyMarked                = 40 // marked readings that get no lines to guide the eye, as these would be a wall
)

// specificationLayout says where things are.
type specificationLayout struct {
	*drawing
	summary      []string
	legendTop    float64
	legend       []specificationSample
	left, right  float64 // of the curve
	y            axis    // from the curve's bottom to its top
	axes         []specificationRows
	matrixBottom float64
	optionsRight float64 // where options' names end
}

// specificationRows are the rows of an axis.
type specificationRows struct {
	top     float64
	name    []string
	options []specificationRow
}

type specificationRow struct {
	middle float64
	lines  []string
}

// specificationSample is an entry of the legend.
type specificationSample struct {
	reading SpecificationReading
	text    string
	at      point // of the sample's middle
}

func (s Specification) layout() specificationLayout {
	width := cmp.Or(s.Width, defaultSpecificationWidth)
	l := specificationLayout{drawing: newDrawing(s.ID, s.Title, s.description(), width, 0, 1)}
	l.Scrolls = true
	l.summary = wrap(s.summary()+".", labelSize, width-2*margin)
	l.legendTop = l.top() + float64(len(l.summary))*lineHeight*labelSize + margin/2
	top := l.placeLegend(s) + tickSize // half of the highest number is above

	names, options := 0.0, 0.0
	for _, a := range s.Axes {
		names, options = max(names, textWidth(a.Name, boldSlack*tickSize)), max(options, widest(a.Options, tickSize))
	}
	names, options = min(names, 0.14*width), min(options, 0.17*width)
	low, high := 0.0, 0.0
	for _, r := range s.Readings {
		low, high = min(low, r.Low), max(high, r.High)
	}
	l.y = newAxis(low, high, curveHeight/stepY, false)
	l.y.start, l.y.end = top+curveHeight, top
	// The numbers and label of the curve's axis share the columns of names.
	l.optionsRight = max(margin+names+2*margin+options, margin+labelLine+yLabelGap+l.y.widest())
	l.left, l.right = l.optionsRight+yTickLabel+4, width-margin-medianColumn
	at := l.y.start + 6
	for _, a := range s.Axes {
		at += axisGap
		rows := specificationRows{top: at, name: wrap(a.Name, boldSlack*tickSize, names)}
		for _, o := range a.Options {
			lines := wrap(o, tickSize, options)
			height := float64(len(lines)) * optionLine
			rows.options = append(rows.options, specificationRow{at + height/2, lines})
			at += height
		}
		at = max(at, rows.top+float64(len(rows.name))*optionLine)
		l.axes = append(l.axes, rows)
	}
	l.matrixBottom = at
	l.Height = at + margin
	return l
}

// placeLegend lays out the legend's samples from l.legendTop on, and returns where they end.
func (l *specificationLayout) placeLegend(s Specification) float64 {
	of, marked := s.counts()
	samples := []specificationSample{
		{reading: SpecificationReading{Low: 1}, text: fmt.Sprintf("interval above 0: %d", of[above])},
		{reading: SpecificationReading{}, text: fmt.Sprintf("includes 0: %d", of[neither])},
		{reading: SpecificationReading{High: -1}, text: fmt.Sprintf("below 0: %d", of[below])},
	}
	if marked > 0 {
		samples = append(samples, specificationSample{reading: SpecificationReading{Marked: true},
			text: fmt.Sprintf("%s: %d", s.markName(), marked)})
	}
	x, y := float64(margin), l.legendTop+optionLine/2
	for _, sample := range samples {
		width := 22 + textWidth(sample.text, tickSize) + 10
		if x > margin && x+width > l.Width {
			x = margin
			y += optionLine
		}
		sample.at = point{x + 8, y}
		x += width
		l.legend = append(l.legend, sample)
	}
	return y + optionLine/2
}

// SVG returns a drawing of s, as [Chart.SVG] does, but never narrower than it is: its letters stay legible, and a page
// scrolls. Above, the sorted effects with their intervals; below, a bar for each option that a reading chooses: up if
// its interval is above 0, down if below, and short if it includes 0. The column at the right has each option's
// median.
//
// It returns an error unless there is a reading and an axis, every axis has an option, every reading chooses one option
// of each axis, all numbers are finite, each effect lies in its interval, and the width is 0 or from 480 to 10,000.
func (s Specification) SVG() ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	l := s.layout()
	d := l.drawing
	l.open()
	d.lines(point{margin, l.top() + labelSize}, labelSize, lineHeight*labelSize, ` class="summary"`, l.summary)
	for _, sample := range l.legend {
		d.group(sample.reading, "sample", "", sample.at.x)
		d.path(sample.reading.pointLook(), sample.reading.point(sample.at.y, markerRadius))
		d.WriteString("</g>\n")
		d.label(point{sample.at.x + 14, sample.at.y}, ` class="legend"`, []string{sample.text})
	}
	l.drawFrame(d, svg.Plain(s.YLabel))
	s.drawRows(d, l)
	s.drawReadings(d, l)
	return d.close(), nil
}

// drawFrame draws the axis of effects.
func (l specificationLayout) drawFrame(d *drawing, label string) {
	d.path(`class="grid" `+gridLine, l.y.level(l.left, l.right))
	d.path(`class="grid" `+axisLine, polyline(point{l.left, l.y.at(0)}, point{l.right, l.y.at(0)}))
	l.y.drawBeside(d, l.left)
	lines := wrap(label, labelSize, curveHeight)
	beside := l.left - yTickLabel - l.y.widest() - yLabelGap - float64(len(lines)-1)*labelLine
	d.upwards(point{beside, (l.y.start + l.y.end) / 2}, lines)
}

// drawRows draws the names of axes and options, and the medians.
func (s Specification) drawRows(d *drawing, l specificationLayout) {
	var rows, rules strings.Builder
	end := l.Width - margin
	d.text(point{end, l.y.start - 4}, tickSize, toTheLeft+` class="medians"`, "median")
	for k, a := range l.axes {
		rules.WriteString(polyline(point{margin, a.top - axisGap/2}, point{end, a.top - axisGap/2}))
		d.lines(point{margin, a.top + optionLine/2. + middle*tickSize}, tickSize, optionLine, bold, a.name)
		for option, row := range a.options {
			rows.WriteString(polyline(point{l.left, row.middle}, point{l.right, row.middle}))
			which := fmt.Sprintf(` data-axis="%d" data-option="%d"`, k, option)
			first := row.middle - float64(len(row.lines)-1)*optionLine/2 + middle*tickSize
			d.lines(point{l.optionsRight, first}, tickSize, optionLine, toTheLeft+` class="option"`+which, row.lines)
			median := []string{s.medianOf(k, option, "–")}
			d.label(point{end, row.middle}, toTheLeft+` class="median"`+which, median)
		}
	}
	d.path(`class="grid" `+gridLine, rows.String())
	d.path(`class="rule" stroke="currentColor" stroke-opacity="0.28"`, rules.String())
}

// drawReadings draws every reading as a group of its own, for scripts to move and to hide; marked ones lie on top.
func (s Specification) drawReadings(d *drawing, l specificationLayout) {
	readings := s.sorted()
	_, marked := s.counts()
	spacing := (l.right - l.left) / float64(len(readings))
	// The script does so too, for those shown.
	radius, bar := min(max(0.42*spacing, 1.7), markerRadius), min(max(0.62*spacing, 0.9), 7)
	d.printf("<g class=\"readings\" stroke-width=\"%s\">\n", svg.Px(bar))
	for _, top := range []bool{false, true} {
		for k, r := range readings {
			if r.Marked != top {
				continue
			}
			class := "reading"
			if r.Marked {
				class += " marked"
			}
			d.group(r, class, fmt.Sprintf(` data-i="%d"`, k), l.left+spacing*(float64(k)+0.5))
			low, high, radius := svg.Px(l.y.at(r.Low)), svg.Px(l.y.at(r.High)), radius
			interval := fmt.Sprintf(`class="interval" stroke-opacity="0.6" stroke-width="%s"`,
				svg.Px(min(max(0.5*spacing, 0.8), 2)))
			look := `class="bars"`
			switch {
			case r.Marked:
				radius = max(radius, min(max(0.3*spacing, 3.5), 6))
				interval = `class="interval" stroke-width="2"`
				look += fmt.Sprintf(` stroke="currentColor" stroke-width="%s"`, svg.Px(max(bar, 2.5)))
				if marked <= manyMarked {
					d.path(`class="guide" stroke="currentColor" stroke-opacity="0.3" stroke-width="1"`,
						fmt.Sprintf("M0,%sV%s", low, svg.Px(l.matrixBottom)))
				}
			case r.bearing() == neither:
				interval = strings.Replace(interval, "0.6", "0.45", 1)
				look += ` stroke-opacity="0.6"`
			}
			d.path(interval, fmt.Sprintf("M0,%sV%s", high, low))
			d.path(r.pointLook(), r.point(l.y.at(r.Effect), radius))
			var bars strings.Builder
			for axis, option := range r.Choices {
				bars.WriteString(r.bar(l.axes[axis].options[option].middle))
			}
			d.path(look, bars.String())
			d.WriteString("</g>\n")
		}
	}
	d.WriteString("</g>\n")
}

// group opens what belongs to a reading, x to the right, in its colours.
func (d *drawing) group(r SpecificationReading, class, attributes string, x float64) {
	colour, look := "plain", `stroke="currentColor" fill="none"`
	switch r.bearing() {
	case above:
		colour, look = "line0 fill0", fmt.Sprintf(`stroke="%s" fill="%[1]s"`, svg.Palette[0].Light)
	case below:
		colour, look = "line1 fill1", fmt.Sprintf(`stroke="%s" fill="%[1]s"`, svg.Palette[1].Light)
	}
	d.printf("<g class=\"%s %s\" %s%s transform=\"translate(%s)\">\n", class, colour, look, attributes, svg.Px(x))
}

// pointLook returns the attributes of a reading's point.
func (r SpecificationReading) pointLook() string {
	switch {
	case r.Marked && r.bearing() == neither:
		return `class="point" stroke-width="2"`
	case r.Marked:
		return `class="point" stroke="currentColor" stroke-width="1.5"`
	case r.bearing() == neither:
		return `class="point" stroke-width="1.2"`
	default:
		return `class="point" stroke="none"`
	}
}

// point returns the path of a reading's point at a height: a diamond if marked, else a triangle that points away from
// 0, or a circle.
func (r SpecificationReading) point(y, radius float64) string {
	corners := []point{{0, 1.2}, {1.2, 0}, {0, -1.2}, {-1.2, 0}}
	switch {
	case r.Marked:
	case r.bearing() == above:
		corners = []point{{0, 1.3}, {1.15, -0.8}, {-1.15, -0.8}}
	case r.bearing() == below:
		corners = []point{{0, -1.3}, {1.15, 0.8}, {-1.15, 0.8}}
	default:
		return circle(point{0, y}, 0.8*radius)
	}
	for i, c := range corners {
		corners[i] = point{radius * c.x, y - radius*c.y}
	}
	return polygon(corners...)
}

// bar returns the path of a choice in the row with that middle: up, down, or a short one across it.
func (r SpecificationReading) bar(middle float64) string {
	switch r.bearing() {
	case above:
		return fmt.Sprintf("M0,%sv%d", svg.Px(middle), -barHeight)
	case below:
		return fmt.Sprintf("M0,%sv%d", svg.Px(middle), barHeight)
	default:
		half := 2.0
		if r.Marked {
			half = 4
		}
		return fmt.Sprintf("M0,%sv%s", svg.Px(middle-half), svg.Px(2*half))
	}
}
