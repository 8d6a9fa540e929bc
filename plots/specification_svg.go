package plots

import (
	"fmt"
	"strings"
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
	width, height            float64
	title, summary           []string
	legendTop                float64
	legend                   []specificationSample
	left, right, top, bottom float64 // of the curve
	matrixBottom             float64
	optionsRight             float64 // where options' names end
	y                        axis
	axes                     []specificationRows
}

// specificationRows are the rows of an axis.
type specificationRows struct {
	top, bottom float64
	name        []string
	options     []specificationRow
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
	l := specificationLayout{width: s.Width}
	if l.width == 0 {
		l.width = defaultSpecificationWidth
	}
	across := l.width - 2*margin
	l.top = margin
	if oneLine(s.Title) != "" {
		l.title = wrap(s.Title, boldSlack*titleSize, across)
		l.top += float64(len(l.title)) * lineHeight * titleSize
	}
	l.summary = wrap(s.summary()+".", labelSize, across)
	l.top += float64(len(l.summary))*lineHeight*labelSize + margin/2
	l.placeLegend(s)
	l.top += tickSize // half of the highest number is above

	names, options := 0.0, 0.0
	for _, a := range s.Axes {
		names = max(names, textWidth(a.Name, boldSlack*tickSize))
		for _, o := range a.Options {
			options = max(options, textWidth(o, tickSize))
		}
	}
	names, options = min(names, 0.14*l.width), min(options, 0.17*l.width)
	low, high := 0.0, 0.0
	for _, r := range s.Readings {
		low, high = min(low, r.Low), max(high, r.High)
	}
	l.y = newAxis(low, high, curveHeight/stepY, false)
	l.optionsRight = margin + names + 2*margin + options
	// The numbers and label of the curve's axis share the columns of names.
	l.optionsRight = max(l.optionsRight, margin+labelLine+yLabelGap+l.y.widest())
	l.left, l.right = l.optionsRight+yTickLabel+4, l.width-margin-medianColumn
	l.bottom = l.top + curveHeight
	at := l.bottom + 6
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
		rows.bottom = at
		l.axes = append(l.axes, rows)
	}
	l.matrixBottom = at
	l.height = at + margin
	return l
}

// placeLegend lays out the legend's samples from l.top on.
func (l *specificationLayout) placeLegend(s Specification) {
	var counts [3]int
	marked := 0
	for _, r := range s.Readings {
		counts[r.bearing()]++
		if r.Marked {
			marked++
		}
	}
	samples := []specificationSample{
		{reading: SpecificationReading{Low: 1}, text: fmt.Sprintf("interval above 0: %d", counts[above])},
		{reading: SpecificationReading{}, text: fmt.Sprintf("includes 0: %d", counts[neither])},
		{reading: SpecificationReading{High: -1}, text: fmt.Sprintf("below 0: %d", counts[below])},
	}
	if marked > 0 {
		samples = append(samples, specificationSample{reading: SpecificationReading{Marked: true}, text: fmt.Sprintf("%s: %d", s.markName(), marked)})
	}
	x := float64(margin)
	l.legendTop = l.top
	l.top += optionLine / 2
	for _, sample := range samples {
		width := 22 + textWidth(sample.text, tickSize) + 10
		if x > margin && x+width > l.width {
			x = margin
			l.top += optionLine
		}
		sample.at = point{x + 8, l.top}
		x += width
		l.legend = append(l.legend, sample)
	}
	l.top += optionLine / 2
}

// at returns the height of an effect.
func (l specificationLayout) at(effect float64) float64 {
	return l.bottom - l.y.part(effect)*(l.bottom-l.top)
}

// spacing is how far apart n readings are.
func (l specificationLayout) spacing(n int) float64 { return (l.right - l.left) / float64(n) }

// x returns where the k-th of n readings is.
func (l specificationLayout) x(k, n int) float64 { return l.left + l.spacing(n)*(float64(k)+0.5) }

// SVG returns a drawing of s, as [Chart.SVG] does, but never narrower than it is: its letters stay legible, and a page
// scrolls. Above, the sorted effects with their intervals; below, a bar for each option that a reading chooses: up if its
// interval is above 0, down if below, and short if it includes 0. The column at the right has each option's median.
func (s Specification) SVG() ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	l := s.layout()
	var d drawing
	d.start(s.ID, s.Title, s.description(), []int{0, 1}, l.width, l.height)
	d.keepWidth(l.width)
	for i, line := range l.title {
		d.text(point{margin, margin + titleSize + float64(i)*lineHeight*titleSize}, titleSize, bold, line)
	}
	below := margin + float64(len(l.title))*lineHeight*titleSize
	for i, line := range l.summary {
		d.text(point{margin, below + labelSize + float64(i)*lineHeight*labelSize}, labelSize, ` class="summary"`, line)
	}
	for _, sample := range l.legend {
		d.group(sample.reading, "sample", "", sample.at.x)
		d.path(sample.reading.pointLook(), sample.reading.point(sample.at.y, markerRadius))
		d.WriteString("</g>\n")
		d.text(point{sample.at.x + 14, sample.at.y + middle*tickSize}, tickSize, ` class="legend"`, sample.text)
	}
	l.drawFrame(&d, oneLine(s.YLabel))
	s.drawRows(&d, l)
	s.drawReadings(&d, l)
	d.WriteString("</svg>\n")
	return d.Bytes(), nil
}

// drawFrame draws the axis of effects.
func (l specificationLayout) drawFrame(d *drawing, label string) {
	var grid strings.Builder
	for _, v := range l.y.ticks() {
		grid.WriteString(polyline([]point{{l.left, l.at(v)}, {l.right, l.at(v)}}))
	}
	d.path(`class="grid" `+gridLine, grid.String())
	d.path(`class="grid" `+axisLine, polyline([]point{{l.left, l.at(0)}, {l.right, l.at(0)}}))
	for _, v := range l.y.ticks() {
		d.text(point{l.left - yTickLabel, l.at(v) + middle*tickSize}, tickSize, toTheLeft, l.y.label(v))
	}
	beside := l.left - yTickLabel - l.y.widest() - yLabelGap
	lines := wrap(label, labelSize, curveHeight)
	for i, line := range lines {
		d.upwards(point{beside - float64(len(lines)-1-i)*labelLine, (l.top + l.bottom) / 2}, labelSize, line)
	}
}

// drawRows draws the names of axes and options, and the medians.
func (s Specification) drawRows(d *drawing, l specificationLayout) {
	var rows, rules strings.Builder
	d.text(point{l.width - margin, l.bottom - 4}, tickSize, toTheLeft+` class="medians"`, "median")
	for k, a := range l.axes {
		rules.WriteString(polyline([]point{{margin, a.top - axisGap/2}, {l.width - margin, a.top - axisGap/2}}))
		for i, line := range a.name {
			d.text(point{margin, a.top + optionLine*(float64(i)+0.5) + middle*tickSize}, tickSize, bold, line)
		}
		for option, row := range a.options {
			rows.WriteString(polyline([]point{{l.left, row.middle}, {l.right, row.middle}}))
			which := fmt.Sprintf(` data-axis="%d" data-option="%d"`, k, option)
			top := row.middle - float64(len(row.lines)-1)*optionLine/2
			for i, line := range row.lines {
				d.text(point{l.optionsRight, top + float64(i)*optionLine + middle*tickSize}, tickSize, toTheLeft+` class="option"`+which, line)
			}
			median := "–"
			if effects := s.ofOption(k, option); len(effects) > 0 {
				median = signedNumber(middleOf(effects))
			}
			d.text(point{l.width - margin, row.middle + middle*tickSize}, tickSize, toTheLeft+` class="median"`+which, median)
		}
	}
	d.path(`class="grid" `+gridLine, rows.String())
	d.path(`class="rule" stroke="currentColor" stroke-opacity="0.28"`, rules.String())
}

// drawReadings draws every reading as a group of its own, for scripts to move and to hide; marked ones lie on top.
func (s Specification) drawReadings(d *drawing, l specificationLayout) {
	readings := s.sorted()
	n, marked := len(readings), 0
	for _, r := range readings {
		if r.Marked {
			marked++
		}
	}
	spacing := l.spacing(n)
	radius, bar := min(max(0.42*spacing, 1.7), markerRadius), min(max(0.62*spacing, 0.9), 7) // the script does so too, for those shown
	fmt.Fprintf(d, "<g class=\"readings\" stroke-width=\"%s\">\n", px(bar))
	for _, top := range []bool{false, true} {
		for k, r := range readings {
			if r.Marked != top {
				continue
			}
			class := "reading"
			if r.Marked {
				class += " marked"
			}
			d.group(r, class, fmt.Sprintf(` data-i="%d"`, k), l.x(k, n))
			radius, interval := radius, fmt.Sprintf(`class="interval" stroke-opacity="%s" stroke-width="%s"`, []string{"0.45", "0.6", "0.6"}[r.bearing()], px(min(max(0.5*spacing, 0.8), 2)))
			if r.Marked {
				radius = max(radius, min(max(0.3*spacing, 3.5), 6))
				interval = `class="interval" stroke-width="2"`
				if marked <= manyMarked {
					d.path(`class="guide" stroke="currentColor" stroke-opacity="0.3" stroke-width="1"`, fmt.Sprintf("M0,%sV%s", px(l.at(r.Low)), px(l.matrixBottom)))
				}
			}
			d.path(interval, fmt.Sprintf("M0,%sV%s", px(l.at(r.High)), px(l.at(r.Low))))
			d.path(r.pointLook(), r.point(l.at(r.Effect), radius))
			var bars strings.Builder
			for axis, option := range r.Choices {
				bars.WriteString(r.bar(l.axes[axis].options[option].middle))
			}
			look := `class="bars"`
			switch {
			case r.Marked:
				look = fmt.Sprintf(`class="bars" stroke="currentColor" stroke-width="%s"`, px(max(bar, 2.5)))
			case r.bearing() == neither:
				look += ` stroke-opacity="0.6"`
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
		colour, look = "line0 fill0", fmt.Sprintf(`stroke="%s" fill="%[1]s"`, colours[0].Light)
	case below:
		colour, look = "line1 fill1", fmt.Sprintf(`stroke="%s" fill="%[1]s"`, colours[1].Light)
	}
	fmt.Fprintf(d, "<g class=\"%s %s\" %s%s transform=\"translate(%s)\">\n", class, colour, look, attributes, px(x))
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

// point returns the path of a reading's point at a height: a diamond if marked, else a triangle that points away from 0, or a
// circle.
func (r SpecificationReading) point(y, radius float64) string {
	corners := func(points ...point) string {
		for i := range points {
			points[i].x, points[i].y = radius*points[i].x, y-radius*points[i].y
		}
		return polyline(points) + "Z"
	}
	switch {
	case r.Marked:
		return corners(point{0, 1.2}, point{1.2, 0}, point{0, -1.2}, point{-1.2, 0})
	case r.bearing() == above:
		return corners(point{0, 1.3}, point{1.15, -0.8}, point{-1.15, -0.8})
	case r.bearing() == below:
		return corners(point{0, -1.3}, point{1.15, 0.8}, point{-1.15, 0.8})
	default:
		ring := 0.8 * radius
		return fmt.Sprintf("M%[1]s,%[2]sa%[1]s,%[1]s 0 1 1 -%[3]s,0a%[1]s,%[1]s 0 1 1 %[3]s,0Z", px(ring), px(y), px(2*ring))
	}
}

// bar returns the path of a choice in the row with that middle: up, down, or a short one across it.
func (r SpecificationReading) bar(middle float64) string {
	switch r.bearing() {
	case above:
		return fmt.Sprintf("M0,%sv%d", px(middle), -barHeight)
	case below:
		return fmt.Sprintf("M0,%sv%d", px(middle), barHeight)
	default:
		half := 2.0
		if r.Marked {
			half = 4
		}
		return fmt.Sprintf("M0,%sv%s", px(middle-half), px(2*half))
	}
}

// keepWidth has the drawing scroll where others shrink.
func (d *drawing) keepWidth(width float64) {
	const shrinks = `style="max-width:100%;height:auto"`
	text := strings.Replace(d.String(), shrinks, fmt.Sprintf(`style="width:%spx;max-width:none;height:auto"`, px(width)), 1)
	d.Reset()
	d.WriteString(text)
}
