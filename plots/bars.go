package plots

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nodemask/internal/svg"
)

// Bars is a chart of horizontal bars: named numbers of at least 0.
type Bars struct {
	ID, Title, Caption string
	XLabel             string
	MarkLabel          string  // meaning of the marks: "by chance"
	Width              float64 // pixels; 0: 440
	Rows               []Bar
}

// Bar is a row of a bar chart.
type Bar struct {
	Label string
	Value float64
	Mark  *float64 // a stroke across the bar; nil: none
}

const defaultBarsWidth, barThickness = 440, 14

// Check returns the error of [Bars.SVG].
func (b Bars) Check() error { return named("bars", b.ID, b.check()) }

func (b Bars) check() error {
	if err := checkSide("width", b.Width, minSide); err != nil {
		return err
	}
	if len(b.Rows) == 0 {
		return errors.New("no bars: expected at least one")
	}
	for _, bar := range b.Rows {
		for _, v := range bar.values() {
			if !(v >= 0 && v <= maxValue) {
				return fmt.Errorf("bar %q: %v: expected a number from 0 to %g", bar.Label, v, maxValue)
			}
		}
	}
	return nil
}

func (b Bar) values() []float64 {
	if b.Mark == nil {
		return []float64{b.Value}
	}
	return []float64{b.Value, *b.Mark}
}

func (b Bar) number() string { return strconv.FormatFloat(b.Value, 'f', 1, 64) }

// Table returns the bars' numbers.
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

// SVG returns a drawing of b, as [Chart.SVG] does, with names wrapped to a third of the width.
func (b Bars) SVG() ([]byte, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	d := newDrawing(b.ID, b.Title, b.description(), cmp.Or(b.Width, defaultBarsWidth), 0)
	names, most, labels, numbers := make([][]string, len(b.Rows)), 0.0, 0.0, 0.0
	top := d.top() + margin/2
	bottom := top
	for i, bar := range b.Rows {
		names[i] = wrap(bar.Label, tickSize, d.Width/3)
		labels, numbers = max(labels, widest(names[i], tickSize)), max(numbers, textWidth(bar.number(), tickSize))
		most = max(most, slices.Max(bar.values()))
		bottom += heightOf(names[i])
	}
	left, right := margin+labels+yTickLabel, d.Width-margin-numbers-yTickLabel
	x := newAxis(0, most, max((right-left)/stepX, 2), false)
	if most == 0 {
		x = newAxis(0, 1, 2, false)
	}
	x.min, x.start, x.end = 0, left, right
	xLabel := wrap(b.label(), labelSize, d.Width-2*margin)
	d.Height = bottom + xTickLabel + xLabelGap + float64(len(xLabel)-1)*labelLine + labelDescent + margin

	d.open()
	x.drawBelow(d, bottom)
	d.path(gridLine, x.upright(bottom, top))
	var bars, marks strings.Builder
	y := top
	for i, bar := range b.Rows {
		centre := y + heightOf(names[i])/2
		y += heightOf(names[i])
		d.label(point{left - yTickLabel, centre}, toTheLeft, names[i])
		behind := x.at(bar.Value)
		if above, below := centre-barThickness/2, centre+barThickness/2; behind > left {
			bars.WriteString(polygon(point{left, above}, point{behind, above}, point{behind, below}, point{left, below}))
		}
		if bar.Mark != nil {
			mark := x.at(*bar.Mark)
			marks.WriteString(polyline(point{mark, centre - rowHeight/2 + 1}, point{mark, centre + rowHeight/2 - 1}))
			if gap := mark - behind; gap >= 0 && gap < numbers+yTickLabel { // keep the number off the stroke
				behind = mark
			}
		}
		d.label(point{behind + yTickLabel/2, centre}, "", []string{bar.number()})
	}
	d.path(svg.Fill(0), bars.String())
	d.path(`stroke="`+svg.Ink+`" stroke-width="2"`, marks.String())
	d.path(axisLine, polyline(point{left, top}, point{left, bottom}))
	x.drawLabel(d, bottom, xLabel)
	return d.close(), nil
}

func (b Bars) label() string {
	if b.MarkLabel == "" {
		return svg.Plain(b.XLabel)
	}
	return svg.Plain(b.XLabel + "; stroke: " + b.MarkLabel)
}

func (b Bars) description() string {
	var rows []string
	for _, bar := range b.Rows {
		text := svg.Plain(bar.Label) + " " + bar.number()
		if bar.Mark != nil {
			text += fmt.Sprintf(" (%.1f)", *bar.Mark)
		}
		rows = append(rows, text)
	}
	return sentences(b.Caption, strings.TrimSpace(b.label()+": "+strings.Join(rows, "; ")+"."))
}
