package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nodemask/internal/svg"
)

// Series describes one line of a [Chart].
type Series struct {
	Name        string
	X, Y        []float64
	Low, High   []float64 // lower and upper edge of a band around Y; nil means no band
	Reference   bool      // values published by others, drawn dashed with hollow markers
	HideMarkers bool
	Scattered   bool // small markers without a line
	// Of is the name of an earlier series. This series takes that series' colour and marker shape. A dashed line tells
	// the two apart.
	Of string
	// Cells hold the data from which a script can compute each point again; "" or nil if there is none.
	Cells []string
	// Notes describe each point: a few words, then lines of details; "" or nil if there is no note.
	Notes []string
	// Ring is the number, from 1, of a point to draw a ring around; 0 means none.
	Ring int
}

// Chart draws series over one pair of axes.
//
// A series with [Series.Reference] whose name begins with another series' name takes that series' colour and shape:
// "GIN, paper" takes those of "GIN".
type Chart struct {
	ID, Title, Caption string
	XLabel, YLabel     string  // each with its unit
	Width, Height      float64 // in CSS pixels; 0 means 640 wide, 400 high. Long legends add to Height
	Series             []Series
}

const defaultWidth, defaultHeight = 640, 400

// Check returns the error of [Chart.SVG].
func (c Chart) Check() error {
	err := cmp.Or(checkSide(c.Width), checkSide(c.Height))
	if len(c.Series) == 0 {
		err = errors.New("no series: expected at least one")
	}
	for i, s := range c.Series {
		wrong := s.check()
		if wrong == nil && s.Of != "" && s.leader(c.Series[:i]) < 0 {
			wrong = fmt.Errorf("no series %q before it", s.Of)
		}
		err = cmp.Or(err, named("series", s.Name, wrong))
	}
	return named("chart", c.ID, err)
}

func (s Series) check() error {
	n := len(s.X)
	if n == 0 {
		return errors.New("no points")
	}
	for _, of := range []struct {
		what string
		n    int
		none bool
	}{{"y", len(s.Y), false}, {"low", len(s.Low), s.High == nil}, {"high", len(s.High), s.Low == nil},
		{"cells", len(s.Cells), s.Cells == nil}, {"notes", len(s.Notes), s.Notes == nil}} {
		if of.n != n && !(of.none && of.n == 0) {
			return fmt.Errorf("%d x and %d %s", n, of.n, of.what)
		}
	}
	if s.Ring < 0 || s.Ring > n {
		return fmt.Errorf("a ring around point %d of %d", s.Ring, n)
	}
	for i, y := range s.Y {
		err := checkFinite(s.X[i], y)
		if s.Low != nil {
			err = cmp.Or(err, checkInterval(y, s.Low[i], s.High[i]))
		}
		if err != nil {
			return fmt.Errorf("point %d: %w", i+1, err)
		}
	}
	return nil
}

// A single point needs a marker: no line shows it.
func (s Series) marked() bool { return !s.HideMarkers || s.Scattered || len(s.X) == 1 }

// SVG returns a drawing of c. The <svg> element works as a file or inside HTML. It has no background, and takes the
// surrounding text's colour. Equal charts give equal bytes.
//
// A chart can be drawn if all of this holds; else SVG returns an error:
//
//   - it has a series, and each series has a point;
//   - a series' slices have equal lengths, but Low, High, Cells and Notes may be nil;
//   - Low ≤ Y ≤ High, up to rounding, and all numbers are from -1e300 to 1e300;
//   - Ring is at most the number of points, and [Series.Of] names an earlier series;
//   - Width and Height are 0 or from 200 to 10,000.
func (c Chart) SVG() ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l := c.layout()
	l.open()
	l.legend.draw(l.drawing, point{margin, l.legendTop})
	l.frame.draw(l.drawing)
	c.drawSeries(l.drawing, l.frame, l.looks)
	return l.close(), nil
}

type layout struct {
	*drawing
	looks     []look
	legend    legend
	legendTop float64
	frame     frame
}

func (c Chart) layout() layout {
	l := layout{looks: looks(c.Series)}
	width, height := cmp.Or(c.Width, defaultWidth), cmp.Or(c.Height, defaultHeight)
	l.drawing = newDrawing(c.ID, c.Title, c.description(), width)
	l.legendTop = l.top()
	if l.legendTop > margin {
		l.legendTop += margin / 2
	}
	l.legend = newLegend(c.Series, l.looks, width-2*margin)
	above := l.legendTop + l.legend.height()
	l.Height = max(height, above+0.6*height)
	l.frame = c.newFrame(width, l.Height, above)
	return l
}

// Place is a drawn point that has an entry in [Series.Cells] or [Series.Notes].
type Place struct {
	Left float64 `json:"left"` // in percent of the drawing's width
	Top  float64 `json:"top"`  // in percent of its height
	Name string  `json:"name"` // "GIN + NM, 0.5: 78.20 (77.10 to 79.30), 10 trials"
	Cell string  `json:"cell"` // [Series.Cells]
	Note string  `json:"-"`    // lines of [Series.Notes] after the first
}

// Places returns a [Place] for each point with an entry in [Series.Cells] or [Series.Notes].
func (c Chart) Places() ([]Place, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l := c.layout()
	return c.places(l.frame, point{}, l.Width, l.Height), nil
}

func (c Chart) places(f frame, corner point, width, height float64) (places []Place) {
	percent := func(part, whole float64) float64 { return math.Round(1e4*part/whole) / 100 }
	for _, s := range c.Series {
		for i, x := range s.X {
			at := f.at(x, s.Y[i])
			place := Place{Left: percent(corner.x+at.x, width), Top: percent(corner.y+at.y, height),
				Name: fmt.Sprintf("%s, %s: %.2f", svg.Plain(s.Name), strconv.FormatFloat(x, 'g', 4, 64), s.Y[i])}
			if s.Low != nil && s.Low[i] < s.High[i] {
				place.Name += fmt.Sprintf(" (%.2f to %.2f)", s.Low[i], s.High[i])
			}
			if s.Cells != nil {
				place.Cell = s.Cells[i]
			}
			if s.Notes != nil && s.Notes[i] != "" {
				words, rest, _ := strings.Cut(s.Notes[i], "\n")
				place.Name, place.Note = place.Name+", "+words, rest
			}
			if place.Cell != "" || s.Notes != nil && s.Notes[i] != "" {
				places = append(places, place)
			}
		}
	}
	return places
}

func (c Chart) drawSeries(d *drawing, f frame, looks []look) {
	for i, s := range c.Series {
		if s.Low == nil {
			continue
		}
		high, low := f.points(s.X, s.High), f.points(s.X, s.Low)
		if len(s.X) == 1 {
			high = []point{{high[0].x - markerRadius, high[0].y}, {high[0].x + markerRadius, high[0].y}}
			low = []point{{high[0].x, low[0].y}, {high[1].x, low[0].y}}
		}
		slices.Reverse(low)
		d.path(looks[i].band(), polygon(slices.Concat(high, low)...))
	}
	for i, s := range c.Series {
		if len(s.X) > 1 && !s.Scattered {
			d.path(looks[i].line(), polyline(f.points(s.X, s.Y)...))
		}
	}
	for i, s := range c.Series {
		if s.marked() {
			var markers strings.Builder
			for _, p := range f.points(s.X, s.Y) {
				markers.WriteString(looks[i].marker(p))
			}
			d.path(looks[i].markers(), markers.String())
		}
		if s.Ring > 0 {
			d.path(svg.Stroke(looks[i].colour, 2), circle(f.at(s.X[s.Ring-1], s.Y[s.Ring-1]), markerRadius+1))
		}
	}
}

func (c Chart) description() string {
	axes, series := "", ""
	if x, y := svg.Plain(c.XLabel), svg.Plain(c.YLabel); x != "" && y != "" {
		kind := "Line chart"
		if c.Series[0].Scattered {
			kind = "Points"
		}
		axes = fmt.Sprintf("%s of %s over %s.", kind, y, x)
	}
	var names []string
	for _, s := range c.Series {
		if n := svg.Plain(s.Name); n != "" {
			names = append(names, n)
		}
	}
	if len(names) > 0 {
		series = "Series: " + strings.Join(names, "; ") + "."
	}
	return sentences(c.Caption, axes, series)
}
