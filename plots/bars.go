package plots

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bars describes a chart of bars from the left, one below the other: numbers of 0 or more, each with a name.
type Bars struct {
	ID, Title, Caption string
	XLabel             string  // of the numbers, with the unit
	MarkLabel          string  // what the marks are: "by chance"
	Width              float64 // in CSS pixels; 0: 440
	Rows               []Bar
}

// Bar holds a number and its name.
type Bar struct {
	Label string
	Value float64
	Mark  *float64 // what the number is to be compared with: a stroke across the bar; nil: nothing
}

// Sizes of bars in CSS pixels.
const (
	defaultBarsWidth = 440
	barRow           = 22
	barThickness     = 14
)

// Check returns an error unless there is a bar, and all numbers are finite and 0 or more.
func (b Bars) Check() error {
	if b.Width != 0 && !(b.Width >= minSide && b.Width <= maxSide) {
		return fmt.Errorf("plots: bars %q: a width of %v pixels: expected %d to %d", b.ID, b.Width, minSide, maxSide)
	}
	if len(b.Rows) == 0 {
		return fmt.Errorf("plots: bars %q: no bars: expected at least one", b.ID)
	}
	for _, bar := range b.Rows {
		for _, v := range bar.values() {
			if !(v >= 0 && v <= maxValue) {
				return fmt.Errorf("plots: bars %q: bar %q: %v: expected a number from 0 to %g", b.ID, bar.Label, v, maxValue)
			}
		}
	}
	return nil
}

// values are the bar's numbers.
func (b Bar) values() []float64 {
	if b.Mark == nil {
		return []float64{b.Value}
	}
	return []float64{b.Value, *b.Mark}
}

// number is what is written beside a bar, and in tables.
func (b Bar) number() string { return strconv.FormatFloat(b.Value, 'f', 1, 64) }

// Table returns the numbers that the bars show.
func (b Bars) Table() Table {
	t := Table{ID: b.ID, Title: b.Title, Caption: b.Caption, Header: []string{"", b.XLabel}, TextColumns: 1}
	marks := slices.ContainsFunc(b.Rows, func(bar Bar) bool { return bar.Mark != nil })
	if marks {
		t.Header = append(t.Header, b.MarkLabel)
	}
	for _, bar := range b.Rows {
		row := []Field{{Text: bar.Label}, {Text: bar.number()}}
		if bar.Mark != nil {
			row = append(row, Field{Text: strconv.FormatFloat(*bar.Mark, 'f', 1, 64)})
		} else if marks {
			row = append(row, Field{})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// SVG returns a drawing of b, as [Chart.SVG] does. A name that takes more than a third of the width stands in lines.
func (b Bars) SVG() ([]byte, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	width := b.Width
	if width == 0 {
		width = defaultBarsWidth
	}
	names, most, labels, numbers, height := make([][]string, len(b.Rows)), 0.0, 0.0, 0.0, 0.0
	heights := make([]float64, len(b.Rows))
	for i, bar := range b.Rows {
		names[i] = wrap(bar.Label, tickSize, width/3)
		labels, numbers = max(labels, widest(names[i], tickSize)), max(numbers, textWidth(bar.number(), tickSize))
		for _, v := range bar.values() {
			most = max(most, v)
		}
		heights[i] = barRow + float64(len(names[i])-1)*legendLine
		height += heights[i]
	}
	left, right := margin+labels+yTickLabel, width-margin-numbers-yTickLabel
	title := newHeading(b.Title, width)
	top := margin + title.height() + margin/2
	bottom := top + height
	x := newAxis(0, most, max((right-left)/stepX, 2), false)
	if most == 0 {
		x = newAxis(0, 1, 2, false)
	}
	x.min = 0
	at := func(v float64) float64 { return left + x.part(v)*(right-left) }
	xLabel := wrap(b.label(), labelSize, width-2*margin)

	var d drawing
	d.start(b.ID, b.Title, b.description(), []int{0}, width, bottom+xTickLabel+xLabelGap+float64(len(xLabel)-1)*labelLine+labelDescent+margin)
	title.draw(&d)
	var grid, bars, marks strings.Builder
	for _, v := range x.ticks() {
		grid.WriteString(polyline([]point{{at(v), bottom}, {at(v), top}}))
		d.text(point{at(v), bottom + xTickLabel}, tickSize, centred, x.label(v))
	}
	d.path(gridLine, grid.String())
	y := top
	for i, bar := range b.Rows {
		centre := y + heights[i]/2
		y += heights[i]
		for k, line := range names[i] {
			d.text(point{left - yTickLabel, centre + middle*tickSize + (float64(k)-float64(len(names[i])-1)/2)*legendLine}, tickSize, toTheLeft, line)
		}
		if end := at(bar.Value); end > left {
			bars.WriteString(polyline([]point{{left, centre - barThickness/2}, {end, centre - barThickness/2}, {end, centre + barThickness/2}, {left, centre + barThickness/2}}) + "Z")
		}
		behind := at(bar.Value)
		if bar.Mark != nil {
			marks.WriteString(polyline([]point{{at(*bar.Mark), centre - barRow/2 + 1}, {at(*bar.Mark), centre + barRow/2 - 1}}))
			if gap := at(*bar.Mark) - behind; gap >= 0 && gap < numbers+yTickLabel { // the number stands behind the stroke, not on it
				behind = at(*bar.Mark)
			}
		}
		d.text(point{behind + yTickLabel/2, centre + middle*tickSize}, tickSize, "", bar.number())
	}
	if bars.Len() > 0 {
		d.path(fill(0), bars.String())
	}
	if marks.Len() > 0 {
		d.path(`stroke="`+ink+`" stroke-width="2"`, marks.String())
	}
	d.path(axisLine, polyline([]point{{left, top}, {left, bottom}}))
	for i, line := range xLabel {
		d.text(point{(left + right) / 2, bottom + xTickLabel + xLabelGap + float64(i)*labelLine}, labelSize, centred, line)
	}
	d.WriteString("</svg>\n")
	return d.Bytes(), nil
}

// label is what stands below the bars.
func (b Bars) label() string {
	if b.MarkLabel == "" {
		return oneLine(b.XLabel)
	}
	return oneLine(b.XLabel + "; stroke: " + b.MarkLabel)
}

// description returns the caption, and all numbers for those who do not see them.
func (b Bars) description() string {
	var rows []string
	for _, bar := range b.Rows {
		text := oneLine(bar.Label) + " " + bar.number()
		if bar.Mark != nil {
			text += fmt.Sprintf(" (%.1f)", *bar.Mark)
		}
		rows = append(rows, text)
	}
	return strings.TrimSpace(oneLine(b.Caption) + " " + strings.TrimSpace(b.label()+": "+strings.Join(rows, "; ")+"."))
}
