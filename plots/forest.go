package plots

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Forest describes a forest plot: effects as points with intervals, one below the other, and a line at no effect.
type Forest struct {
	ID, Title, Caption string
	XLabel             string  // of the effects, with the unit
	Width              float64 // in CSS pixels; 0: 760. A narrow plot is drawn wider if its words leave the effects too little
	Groups             []ForestGroup
	Columns            []string // names of columns of text at the right end; nil: none
}

// ForestGroup holds effects under a heading.
type ForestGroup struct {
	Name string
	Rows []Effect
}

// Effect holds a difference and its confidence interval.
type Effect struct {
	Label            string
	Value, Low, High float64
	Note             string   // behind the numbers, for instance the number of trials
	Pooled           bool     // of several others: drawn as a diamond as wide as the interval, in bold
	Fields           []string // text for each of [Forest.Columns]; nil: none
	TextOnly         bool     // there is no effect, or none in this unit: label and fields alone
}

// clear says whether the interval leaves no effect out.
func (e Effect) clear() bool { return e.Low > 0 || e.High < 0 }

// Sizes of a forest plot in CSS pixels.
const (
	defaultForestWidth = 760
	forestRow          = 22
	forestGap          = 14 // above a group
	forestNumbers      = 24 // between the plot and the numbers at its right
)

// Check returns an error unless there is an effect, all numbers are finite, each value lies in its interval, and each effect
// has a text for every column or none.
func (f Forest) Check() error {
	if f.Width != 0 && !(f.Width >= minSide && f.Width <= maxSide) {
		return fmt.Errorf("plots: forest plot %q: a width of %v pixels: expected %d to %d", f.ID, f.Width, minSide, maxSide)
	}
	rows := 0
	for _, g := range f.Groups {
		for _, e := range g.Rows {
			rows++
			if e.TextOnly && (e.Value != 0 || e.Low != 0 || e.High != 0) {
				return fmt.Errorf("plots: forest plot %q: effect %q is text only, and has numbers: expected zeros", f.ID, e.Label)
			}
			if e.Fields != nil && len(e.Fields) != len(f.Columns) {
				return fmt.Errorf("plots: forest plot %q: effect %q has %d fields: expected one for each of %d columns, or none", f.ID, e.Label, len(e.Fields), len(f.Columns))
			}
			for _, v := range []float64{e.Value, e.Low, e.High} {
				if !(math.Abs(v) <= maxValue) {
					return fmt.Errorf("plots: forest plot %q: effect %q: %v: expected a finite number of at most %g", f.ID, e.Label, v, maxValue)
				}
			}
			if slack := 1e-9 * max(math.Abs(e.Low), math.Abs(e.High)); e.Low > e.Value+slack || e.Value > e.High+slack {
				return fmt.Errorf("plots: forest plot %q: effect %q is %v: expected it between %v and %v", f.ID, e.Label, e.Value, e.Low, e.High)
			}
		}
	}
	if rows == 0 {
		return fmt.Errorf("plots: forest plot %q: no effects: expected at least one", f.ID)
	}
	return nil
}

// Table returns the numbers that the plot shows.
func (f Forest) Table() Table {
	t := Table{ID: f.ID, Title: f.Title, Caption: f.Caption, Header: []string{"comparison", "of", "effect", "low", "high", "note"}, TextColumns: 2}
	t.Header = append(t.Header, f.Columns...)
	for _, g := range f.Groups {
		for _, e := range g.Rows {
			number := func(v float64) Field { return Field{Text: minus(strconv.FormatFloat(v, 'f', 2, 64))} }
			row := []Field{{Text: g.Name}, {Text: e.Label, Bold: e.Pooled}, number(e.Value), number(e.Low), number(e.High), {Text: e.Note}}
			if e.TextOnly {
				row[2], row[3], row[4] = Field{}, Field{}, Field{}
			}
			for i := range f.Columns {
				row = append(row, Field{Text: e.field(i)})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// SVG returns a drawing of f, as [Chart.SVG] does. A point is filled if its interval leaves 0 out, otherwise open.
func (f Forest) SVG() ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	width := f.Width
	if width == 0 {
		width = defaultForestWidth
	}
	labels, numbers := 0.0, 0.0
	low, high := 0.0, 0.0
	height := float64(len(f.Groups)) * (forestRow + forestGap)
	rows := make([][]forestWords, len(f.Groups))
	for i, g := range f.Groups {
		for _, e := range g.Rows {
			w := forestWords{wrap(e.Label, e.slack()*tickSize, width/3), wrap(e.numbers(), e.slack()*tickSize, width/3)}
			labels, numbers = max(labels, e.slack()*widest(w.label, tickSize)), max(numbers, e.slack()*widest(w.numbers, tickSize))
			low, high = min(low, e.Low), max(high, e.High)
			height += w.height()
			rows[i] = append(rows[i], w)
		}
	}
	columns := f.columns(numbers)
	numbers += columns.width
	left := margin + labels + yTickLabel
	right := max(width-margin-numbers-forestNumbers, left+width/4)
	width = max(width, right+forestNumbers+numbers+margin)
	title := newHeading(f.Title, width)
	top := margin + title.height()
	bottom := top + height
	height = bottom + xTickLabel + xLabelGap + labelDescent + margin
	x := newAxis(low, high, max((right-left)/stepX, 2), false)
	at := func(v float64) float64 { return left + x.part(v)*(right-left) }

	var d drawing
	d.start(f.ID, f.Title, f.description(), []int{0, 1}, width, height)
	title.draw(&d)
	var grid strings.Builder
	for _, v := range x.ticks() {
		grid.WriteString(polyline([]point{{at(v), bottom}, {at(v), top + forestGap}}))
	}
	d.path(gridLine, grid.String())
	d.path(axisLine, polyline([]point{{at(0), bottom}, {at(0), top + forestGap}})+polyline([]point{{left, bottom}, {right, bottom}}))
	for _, v := range x.ticks() {
		d.text(point{at(v), bottom + xTickLabel}, tickSize, centred, x.label(v))
	}
	d.text(point{(left + right) / 2, bottom + xTickLabel + xLabelGap}, labelSize, centred, oneLine(f.XLabel))
	columns.drawNames(&d, right+forestNumbers, top+forestGap+forestRow/2+middle*tickSize)
	y := top
	for i, g := range f.Groups {
		y += forestGap + forestRow
		d.text(point{margin, y - forestRow/2 + middle*tickSize}, tickSize, bold, oneLine(g.Name))
		for k, e := range g.Rows {
			w := rows[i][k]
			f.drawRow(&d, e, w, point{left, y + w.height()/2}, right, at)
			columns.drawRow(&d, e, right+forestNumbers, y+w.height()/2+middle*tickSize)
			y += w.height()
		}
	}
	d.WriteString("</svg>\n")
	return d.Bytes(), nil
}

// forestWords are the lines at the left and at the right of an effect.
type forestWords struct{ label, numbers []string }

// height returns the height of the effect's row.
func (w forestWords) height() float64 {
	return forestRow + float64(max(len(w.label), len(w.numbers))-1)*legendLine
}

// drawRow draws an effect at the height of p, whose labels end at p.
func (f Forest) drawRow(d *drawing, e Effect, w forestWords, p point, right float64, at func(float64) float64) {
	colour := 0
	if e.Value < 0 {
		colour = 1
	}
	l := look{colour: colour, open: !e.clear()}
	lines := func(x float64, attributes string, lines []string) {
		for i, line := range lines {
			d.text(point{x, p.y + middle*tickSize + (float64(i)-float64(len(lines)-1)/2)*legendLine}, tickSize, attributes+e.weight(), line)
		}
	}
	lines(p.x-yTickLabel, toTheLeft, w.label)
	if e.TextOnly {
		if e.Note != "" {
			lines(right+forestNumbers, "", w.numbers)
		}
		return
	}
	line := stroke(colour, 2)
	if l.open {
		line = stroke(colour, 1.5)
	}
	radius := float64(markerRadius)
	parts := ""
	if l.open { // the line stops at an open marker
		if at(e.Value)-radius > at(e.Low) {
			parts += polyline([]point{{at(e.Low), p.y}, {at(e.Value) - radius, p.y}})
		}
		if at(e.Value)+radius < at(e.High) {
			parts += polyline([]point{{at(e.Value) + radius, p.y}, {at(e.High), p.y}})
		}
	} else {
		parts = polyline([]point{{at(e.Low), p.y}, {at(e.High), p.y}})
	}
	if e.Pooled {
		d.path(l.markers(), e.diamond(p.y, at))
	} else {
		if parts != "" {
			d.path(line, parts)
		}
		d.path(l.markers(), l.marker(point{at(e.Value), p.y}))
	}
	lines(right+forestNumbers, "", w.numbers)
}

// numbers are the effect and its interval, as text.
func (e Effect) numbers() string {
	if e.TextOnly {
		return oneLine(e.Note)
	}
	bound := func(v float64) string { return strings.TrimPrefix(signedNumber(v), "+") }
	text := signedNumber(e.Value) + " [" + bound(e.Low) + ", " + bound(e.High) + "]"
	if note := oneLine(e.Note); note != "" {
		text += " " + note
	}
	return text
}

// description returns the caption, and all effects for those who do not see them.
func (f Forest) description() string {
	var parts []string
	if caption := oneLine(f.Caption); caption != "" {
		parts = append(parts, caption)
	}
	for _, g := range f.Groups {
		var rows []string
		for _, e := range g.Rows {
			row := strings.TrimSuffix(oneLine(e.Label)+" "+e.numbers(), " ")
			for i, name := range f.Columns {
				if field := oneLine(e.field(i)); field != "" {
					row += ", " + oneLine(name) + " " + field
				}
			}
			rows = append(rows, row)
		}
		parts = append(parts, oneLine(g.Name)+": "+strings.Join(rows, "; ")+".")
	}
	return strings.Join(parts, " ")
}

// forestColumns are the columns of text at the right end of a forest plot.
type forestColumns struct {
	names []string
	at    []float64 // where each begins, from where the numbers do
	width float64   // of all, with the space before them
}

const forestColumnGap = 14

// columns lays out f's columns behind numbers of that width.
func (f Forest) columns(numbers float64) forestColumns {
	c := forestColumns{names: f.Columns}
	for i, name := range f.Columns {
		c.width += forestColumnGap
		c.at = append(c.at, numbers+c.width)
		widest := boldSlack * textWidth(name, tickSize)
		for _, g := range f.Groups {
			for _, e := range g.Rows {
				widest = max(widest, e.slack()*textWidth(e.field(i), tickSize))
			}
		}
		c.width += widest
	}
	return c
}

// drawNames writes the columns' names on a line, where the numbers begin at x.
func (c forestColumns) drawNames(d *drawing, x, baseline float64) {
	for i, name := range c.names {
		d.text(point{x + c.at[i], baseline}, tickSize, bold, oneLine(name))
	}
}

// drawRow writes an effect's fields on a line.
func (c forestColumns) drawRow(d *drawing, e Effect, x, baseline float64) {
	for i := range c.names {
		d.text(point{x + c.at[i], baseline}, tickSize, e.weight(), oneLine(e.field(i)))
	}
}

// field is the text of a column; "" if there is none.
func (e Effect) field(column int) string {
	if e.Fields == nil {
		return ""
	}
	return e.Fields[column]
}

// weight returns the attributes of an effect's text.
func (e Effect) weight() string {
	if e.Pooled {
		return bold
	}
	return ""
}

// slack is how much wider an effect's text is for its weight.
func (e Effect) slack() float64 {
	if e.Pooled {
		return boldSlack
	}
	return 1
}

// diamond returns the path of a pooled effect at the height y: as wide as its interval, highest at its value.
func (e Effect) diamond(y float64, at func(float64) float64) string {
	const half = 6.5
	// An interval without a width would leave nothing to see.
	left, right := min(at(e.Low), at(e.Value)-half/2), max(at(e.High), at(e.Value)+half/2)
	return polyline([]point{{left, y}, {at(e.Value), y - half}, {right, y}, {at(e.Value), y + half}}) + "Z"
}
