package plots

import (
	"math"
	"strings"

	"nodemask/internal/svg"
)

// order is the order in which series take colours. The two colours that most resemble another colour come last.
var order = []int{0, 1, 2, 3, 4, 7, 5, 6}

const brokenDash, referenceDash = "5,3", "5,4"

type look struct {
	colour, shape int
	dash          string
	open          bool
	small         bool
}

// looks makes up to 56 series differ in colour or shape.
func looks(series []Series) []look {
	all := make([]look, len(series))
	next := 0
	for _, references := range []bool{false, true} {
		for i, s := range series {
			if s.Reference != references {
				continue
			}
			of := s.leader(series)
			if of >= 0 {
				all[i] = all[of]
			} else {
				all[i] = look{colour: order[next%len(order)], shape: next % shapes, small: s.Scattered}
				next++
			}
			switch {
			case s.Reference:
				all[i].open, all[i].dash = true, referenceDash
			case of >= 0:
				all[i].dash = brokenDash
			}
		}
	}
	return all
}

// leader returns the index of the series that s copies its colour and shape from, or -1 if there is none.
func (s Series) leader(series []Series) int {
	of := -1
	for i, other := range series {
		switch {
		case other.Reference || other.Name == "":
		case !s.Reference && other.Name == s.Of:
			return i
		case s.Reference && strings.HasPrefix(s.Name, other.Name) && (of < 0 || len(other.Name) > len(series[of].Name)):
			of = i
		}
	}
	return of
}

func (l look) line() string {
	width := 2.0
	if l.open {
		width = 1.5
	}
	attributes := svg.Stroke(l.colour, width) + ` stroke-linejoin="round"`
	if l.dash != "" {
		attributes += ` stroke-dasharray="` + l.dash + `"`
	}
	return attributes
}

func (l look) band() string { return svg.Fill(l.colour) + ` fill-opacity="0.18"` }

func (l look) markers() string {
	if l.open {
		return svg.Stroke(l.colour, 1.5)
	}
	return svg.Fill(l.colour)
}

const (
	markerRadius = 4
	smallRadius  = 2.2
	shapes       = 7
)

var polygons = [shapes - 1]struct {
	corners int
	// start is the angle of the first corner. The corners' distances from the centre alternate between scale and
	// scale·inner times the marker's radius.
	start, scale, inner float64
}{
	{4, math.Pi / 4, 1.2, 1}, {3, math.Pi / 2, 1.3, 1}, {4, math.Pi / 2, 1.3, 1}, {3, -math.Pi / 2, 1.3, 1},
	{5, math.Pi / 2, 1.15, 1}, {10, math.Pi / 2, 1.5, 0.45},
}

func (l look) marker(at point) string {
	radius := float64(markerRadius)
	if l.small {
		radius = smallRadius
	}
	if l.shape == 0 {
		return circle(at, radius)
	}
	shape := polygons[l.shape-1]
	points := make([]point, shape.corners)
	for i := range points {
		r := shape.scale * radius
		if i%2 == 1 {
			r *= shape.inner
		}
		sin, cos := math.Sincos(shape.start + 2*math.Pi*float64(i)/float64(shape.corners))
		points[i] = point{at.x + r*cos, at.y - r*sin}
	}
	return polygon(points...)
}

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
	legendGap   = 8
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
