package plots

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"nodemask/internal/svg"
)

// Forest is a forest plot: rows of effects with intervals, and a line at 0.
type Forest struct {
	ID, Title, Caption string
	XLabel             string
	// Width is in pixels; 0 means 760. [Forest.SVG] widens the drawing if text leaves too little room for intervals.
	Width   float64
	Groups  []ForestGroup
	Columns []string // titles of the text columns on the right
}

// ForestGroup is a named group of rows.
type ForestGroup struct {
	Name string
	Rows []Effect
}

// Effect is a difference and its confidence interval.
type Effect struct {
	Label            string
	Value, Low, High float64
	Fields           []string // one text per column, or nil
	TextOnly         bool     // the row shows only Label and Fields, no point or interval
}

const (
	defaultForestWidth = 760
	forestGap          = 14
	forestNumbers      = 24
)

// Check returns the error of [Forest.SVG].
func (f Forest) Check() error { return named("forest plot", f.ID, f.check()) }

func (f Forest) check() error {
	if err := checkSide(f.Width); err != nil {
		return err
	}
	rows := 0
	for _, g := range f.Groups {
		for _, e := range g.Rows {
			rows++
			if err := e.check(len(f.Columns)); err != nil {
				return fmt.Errorf("effect %q: %w", e.Label, err)
			}
		}
	}
	if rows == 0 {
		return errors.New("no effects: expected at least one")
	}
	return nil
}

func (e Effect) check(columns int) error {
	if e.Fields != nil && len(e.Fields) != columns {
		return fmt.Errorf("%d fields: expected one for each of %d columns, or none", len(e.Fields), columns)
	}
	return checkInterval(e.Value, e.Low, e.High)
}

// SVG returns a drawing of f in the format of [Chart.SVG]. A point is filled if its interval excludes 0.
func (f Forest) SVG() ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	d := newDrawing(f.ID, f.Title, f.description(), cmp.Or(f.Width, defaultForestWidth))
	labels, low, high := 0.0, 0.0, 0.0
	height := float64(len(f.Groups)) * (rowHeight + forestGap)
	rows := make([][][]string, len(f.Groups))
	for i, g := range f.Groups {
		for _, e := range g.Rows {
			label := wrap(e.Label, tickSize, d.Width/3)
			labels = max(labels, widest(label, tickSize))
			low, high = min(low, e.Low), max(high, e.High)
			height += heightOf(label)
			rows[i] = append(rows[i], label)
		}
	}
	columns, fields := f.columns()
	left := margin + labels + yTickLabel
	right := max(d.Width-margin-fields-forestNumbers, left+d.Width/4)
	d.Width = max(d.Width, right+forestNumbers+fields+margin)
	top := d.top()
	bottom := top + height
	d.Height = bottom + xTickLabel + xLabelGap + labelDescent + margin
	x := newAxis(low, high, max((right-left)/stepX, 2), false)
	x.start, x.end = left, right

	d.open()
	d.path(gridLine, x.upright(bottom, top+forestGap))
	zero := polyline(point{x.at(0), bottom}, point{x.at(0), top + forestGap})
	d.path(axisLine, zero+polyline(point{left, bottom}, point{right, bottom}))
	x.drawBelow(d, bottom)
	x.drawLabel(d, bottom, []string{svg.Plain(f.XLabel)})
	behind := right + forestNumbers
	for i, name := range f.names() {
		d.label(point{behind + columns[i], top + forestGap + rowHeight/2}, bold, []string{svg.Plain(name)})
	}
	y := top
	for i, g := range f.Groups {
		y += forestGap + rowHeight
		d.label(point{margin, y - rowHeight/2}, bold, []string{svg.Plain(g.Name)})
		for k, e := range g.Rows {
			height := heightOf(rows[i][k])
			centre := y + height/2
			d.label(point{left - yTickLabel, centre}, toTheLeft, rows[i][k])
			if !e.TextOnly {
				e.draw(d, centre, x)
			}
			for i := range columns {
				d.label(point{behind + columns[i], centre}, "", []string{svg.Plain(e.field(i))})
			}
			y += height
		}
	}
	return d.close(), nil
}

func heightOf(label []string) float64 { return rowHeight + float64(len(label)-1)*legendLine }

func (e Effect) draw(d *drawing, y float64, x axis) {
	l := look{open: e.Low <= 0 && e.High >= 0}
	if e.Value < 0 {
		l.colour = 1
	}
	low, value, high := x.at(e.Low), x.at(e.Value), x.at(e.High)
	width, parts := 2.0, polyline(point{low, y}, point{high, y})
	if l.open { // the line must not cross the open marker
		width, parts = 1.5, ""
		if value-markerRadius > low {
			parts += polyline(point{low, y}, point{value - markerRadius, y})
		}
		if value+markerRadius < high {
			parts += polyline(point{value + markerRadius, y}, point{high, y})
		}
	}
	d.path(svg.Stroke(l.colour, width), parts)
	d.path(l.markers(), l.marker(point{value, y}))
}

func (e Effect) numbers() string {
	if e.TextOnly {
		return ""
	}
	bound := func(v float64) string { return strings.TrimPrefix(Signed(v, 2), "+") }
	return Signed(e.Value, 2) + " [" + bound(e.Low) + ", " + bound(e.High) + "]"
}

func (f Forest) description() string {
	parts := []string{f.Caption}
	for _, g := range f.Groups {
		var rows []string
		for _, e := range g.Rows {
			row := sentences(e.Label, e.field(0))
			for i, name := range f.Columns {
				if field := svg.Plain(e.field(i + 1)); field != "" {
					row += ", " + svg.Plain(name) + " " + field
				}
			}
			rows = append(rows, row)
		}
		parts = append(parts, svg.Plain(g.Name)+": "+strings.Join(rows, "; ")+".")
	}
	return sentences(parts...)
}

const forestColumnGap = 14

func (f Forest) names() []string { return append([]string{""}, f.Columns...) }

func (f Forest) columns() (at []float64, width float64) {
	for i, name := range f.names() {
		if i > 0 {
			width += forestColumnGap
		}
		at = append(at, width)
		widest := boldSlack * textWidth(name, tickSize)
		for _, g := range f.Groups {
			for _, e := range g.Rows {
				widest = max(widest, textWidth(e.field(i), tickSize))
			}
		}
		width += widest
	}
	return at, width
}

func (e Effect) field(column int) string {
	switch {
	case column == 0:
		return e.numbers()
	case e.Fields == nil:
		return ""
	}
	return e.Fields[column-1]
}
