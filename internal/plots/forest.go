package plots

import (
	"errors"
	"fmt"
	"strings"
)

// Forest describes a forest plot: effects as points with intervals, one below the other, and a line at no effect.
type Forest struct {
	ID, Title, Caption string
	XLabel             string // of the effects, with the unit
	// Width is in CSS pixels; 0: 760. A narrow plot is drawn wider if its words leave too little room for the effects.
	Width   float64
	Groups  []ForestGroup
	Columns []string // names of columns of text at the right end; nil: none
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

// Sizes of a forest plot in CSS pixels.
const (
	defaultForestWidth = 760
	forestRow          = 22
	forestGap          = 14 // above a group
	forestNumbers      = 24 // between the plot and the numbers at its right
)

// Check returns an error unless there is an effect, all numbers are finite, each value lies in its interval, and each
// effect has a text for every column or none.
func (f Forest) Check() error {
	err := checkSide("width", f.Width, minSide)
	rows := 0
	for _, g := range f.Groups {
		for _, e := range g.Rows {
			rows++
			if wrong := e.check(len(f.Columns)); err == nil && wrong != nil {
				err = fmt.Errorf("effect %q: %w", e.Label, wrong)
			}
		}
	}
	if err == nil && rows == 0 {
		err = errors.New("no effects: expected at least one")
	}
	if err != nil {
		return fmt.Errorf("forest plot %q: %w", f.ID, err)
	}
	return nil
}

func (e Effect) check(columns int) error {
	switch {
	case e.TextOnly && (e.Value != 0 || e.Low != 0 || e.High != 0):
		return errors.New("text only, and has numbers: expected zeros")
	case e.Fields != nil && len(e.Fields) != columns:
		return fmt.Errorf("%d fields: expected one for each of %d columns, or none", len(e.Fields), columns)
	}
	return checkInterval(e.Value, e.Low, e.High)
}

// SVG returns a drawing of f, as [Chart.SVG] does. A point is filled if its interval leaves 0 out, otherwise open.
func (f Forest) SVG() ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	page := Sheet{ID: f.ID, Title: f.Title, Description: f.description(), Colours: []int{0, 1}, Width: f.Width}
	if page.Width == 0 {
		page.Width = defaultForestWidth
	}
	labels, numbers, low, high := 0.0, 0.0, 0.0, 0.0
	height := float64(len(f.Groups)) * (forestRow + forestGap)
	rows := make([][]forestWords, len(f.Groups))
	for i, g := range f.Groups {
		for _, e := range g.Rows {
			slack := e.slack()
			words := func(text string) []string { return wrap(text, slack*tickSize, page.Width/3) }
			w := forestWords{words(e.Label), words(e.numbers())}
			labels = max(labels, slack*widest(w.label, tickSize))
			numbers = max(numbers, slack*widest(w.numbers, tickSize))
			low, high = min(low, e.Low), max(high, e.High)
			height += w.height()
			rows[i] = append(rows[i], w)
		}
	}
	columns, columnsWidth := f.columns(numbers)
	numbers += columnsWidth
	left := margin + labels + yTickLabel
	right := max(page.Width-margin-numbers-forestNumbers, left+page.Width/4)
	page.Width = max(page.Width, right+forestNumbers+numbers+margin)
	top := page.top()
	bottom := top + height
	page.Height = bottom + xTickLabel + xLabelGap + labelDescent + margin
	x := newAxis(low, high, max((right-left)/stepX, 2), false)
	x.start, x.end = left, right

	d := page.open()
	d.path(gridLine, x.upright(bottom, top+forestGap))
	zero := polyline(point{x.at(0), bottom}, point{x.at(0), top + forestGap})
	d.path(axisLine, zero+polyline(point{left, bottom}, point{right, bottom}))
	x.drawBelow(d, bottom)
	x.drawLabel(d, bottom, []string{Plain(f.XLabel)})
	behind := right + forestNumbers
	for i, name := range f.Columns {
		d.label(point{behind + columns[i], top + forestGap + forestRow/2}, bold, []string{Plain(name)})
	}
	y := top
	for i, g := range f.Groups {
		y += forestGap + forestRow
		d.label(point{margin, y - forestRow/2}, bold, []string{Plain(g.Name)})
		for k, e := range g.Rows {
			w := rows[i][k]
			centre := y + w.height()/2
			d.label(point{left - yTickLabel, centre}, toTheLeft+e.weight(), w.label)
			if !e.TextOnly {
				e.draw(d, centre, x)
			}
			d.label(point{behind, centre}, e.weight(), w.numbers)
			for i := range f.Columns {
				d.label(point{behind + columns[i], centre}, e.weight(), []string{Plain(e.field(i))})
			}
			y += w.height()
		}
	}
	return d.close(), nil
}

// forestWords are the lines at the left and at the right of an effect.
type forestWords struct{ label, numbers []string }

// height returns the height of the effect's row.
func (w forestWords) height() float64 {
	return forestRow + float64(max(len(w.label), len(w.numbers))-1)*legendLine
}

// draw draws the effect at the height y.
func (e Effect) draw(d *drawing, y float64, x axis) {
	l := look{open: bearingOf(e.Low, e.High) == neither}
	if e.Value < 0 {
		l.colour = 1
	}
	low, value, high := x.at(e.Low), x.at(e.Value), x.at(e.High)
	if e.Pooled { // a diamond; an interval without a width would leave nothing to see
		const half = 6.5
		left, right := min(low, value-half/2), max(high, value+half/2)
		d.path(l.markers(), polygon(point{left, y}, point{value, y - half}, point{right, y}, point{value, y + half}))
		return
	}
	width, parts := 2.0, ""
	if l.open { // the line stops at an open marker
		width = 1.5
		if value-markerRadius > low {
			parts += polyline(point{low, y}, point{value - markerRadius, y})
		}
		if value+markerRadius < high {
			parts += polyline(point{value + markerRadius, y}, point{high, y})
		}
	} else {
		parts = polyline(point{low, y}, point{high, y})
	}
	d.path(Stroke(l.colour, width), parts)
	d.path(l.markers(), l.marker(point{value, y}))
}

// numbers are the effect and its interval, as text.
func (e Effect) numbers() string {
	if e.TextOnly {
		return Plain(e.Note)
	}
	bound := func(v float64) string { return strings.TrimPrefix(signed(v), "+") }
	return sentences(signed(e.Value)+" ["+bound(e.Low)+", "+bound(e.High)+"]", e.Note)
}

// description returns the caption, and all effects for those who do not see them.
func (f Forest) description() string {
	parts := []string{f.Caption}
	for _, g := range f.Groups {
		var rows []string
		for _, e := range g.Rows {
			row := sentences(e.Label, e.numbers())
			for i, name := range f.Columns {
				if field := Plain(e.field(i)); field != "" {
					row += ", " + Plain(name) + " " + field
				}
			}
			rows = append(rows, row)
		}
		parts = append(parts, Plain(g.Name)+": "+strings.Join(rows, "; ")+".")
	}
	return sentences(parts...)
}

const forestColumnGap = 14

// columns returns where f's columns begin behind numbers of that width, from where the numbers do, and the columns'
// width.
func (f Forest) columns(numbers float64) (at []float64, width float64) {
	for i, name := range f.Columns {
		width += forestColumnGap
		at = append(at, numbers+width)
		widest := boldSlack * textWidth(name, tickSize)
		for _, g := range f.Groups {
			for _, e := range g.Rows {
				widest = max(widest, e.slack()*textWidth(e.field(i), tickSize))
			}
		}
		width += widest
	}
	return at, width
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
