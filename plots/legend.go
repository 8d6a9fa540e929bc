package plots

import "nodemask/internal/svg"

// legend places names in columns, filled one after the other, as narrow pages show the first names first.
type legend struct {
	entries []legendEntry
	width   float64
	rows    []int
}

type legendEntry struct {
	series Series
	look   look
	lines  []string
}

const (
	sampleWidth = 36
	legendGap   = 8 // between line and name
	legendSpace = 20
	legendLine  = lineHeight * tickSize
)

func newLegend(series []Series, looks []look, width float64) legend {
	var l legend
	for i, s := range series {
		if svg.Plain(s.Name) == "" {
			continue
		}
		e := legendEntry{s, looks[i], wrap(s.Name, tickSize, width-sampleWidth-legendGap)}
		l.width = max(l.width, sampleWidth+legendGap+widest(e.lines, tickSize)+legendSpace)
		l.entries = append(l.entries, e)
	}
	if len(l.entries) == 0 {
		return l
	}
	columns := min(max(int((width+legendSpace)/l.width), 1), len(l.entries))
	// Balance the columns, so that none is nearly empty.
	rows := (len(l.entries) + columns - 1) / columns
	l.rows = make([]int, rows)
	for i, e := range l.entries {
		l.rows[i%rows] = max(l.rows[i%rows], len(e.lines))
	}
	return l
}

func (l legend) height() float64 {
	lines := 0
	for _, n := range l.rows {
		lines += n
	}
	if lines == 0 {
		return 0
	}
	return float64(lines)*legendLine + margin
}

func (l legend) draw(d *drawing, at point) {
	top := at.y
	for i, e := range l.entries {
		switch row := i % len(l.rows); {
		case row > 0:
			at.y += legendLine * float64(l.rows[row-1])
		case i > 0:
			at = point{at.x + l.width, top}
		}
		x, y := at.x, at.y+legendLine/2
		if e.series.Low != nil {
			right := x + sampleWidth
			d.path(e.look.band(), polygon(point{x, y - 6}, point{right, y - 6}, point{right, y + 6}, point{x, y + 6}))
		}
		if !e.series.Scattered {
			d.path(e.look.line(), polyline(point{x, y}, point{x + sampleWidth, y}))
		}
		if e.series.marked() {
			d.path(e.look.markers(), e.look.marker(point{x + sampleWidth/2, y}))
		}
		d.lines(point{x + sampleWidth + legendGap, y + middle*tickSize}, tickSize, legendLine, "", e.lines)
	}
}
