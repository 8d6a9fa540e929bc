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
	Low, High   []float64 // band around Y; both nil: none
	Reference   bool      // someone else's published numbers: dashed, with open markers
	HideMarkers bool
	Scattered   bool // points without a line, with small markers
	// Of names an earlier series, whose colour and shape this one shares with a broken line: a model's validation loss
	// beside its train loss. All other lines of such a chart are whole.
	Of string
	// Cells are what a page's script needs to measure each point anew, for [Chart.Places]; "": nothing. nil: none.
	Cells []string
}

// Chart describes lines over one pair of axes.
//
// A [Series.Reference] whose name begins with that of another series ("GIN, paper" and "GIN") takes its colour and
// shape.
type Chart struct {
	ID, Title, Caption string
	XLabel, YLabel     string  // with the unit
	Width, Height      float64 // in CSS pixels; 0: 640 and 400. A long legend adds to the height
	Series             []Series
	XNames             []string // what stands at x = 0, 1, …, instead of numbers; nil: numbers
}

const defaultWidth, defaultHeight = 640, 400

// Check returns the error of [Chart.SVG].
func (c Chart) Check() error {
	err := cmp.Or(checkSide("side", c.Width, minSide), checkSide("side", c.Height, minSide))
	if len(c.Series) == 0 {
		err = errors.New("no series: expected at least one")
	}
	for i, s := range c.Series {
		wrong := s.check(c.XNames)
		if wrong == nil && s.Of != "" && leader(c.Series[:i], s.Of) < 0 {
			wrong = fmt.Errorf("no series %q before it", s.Of)
		}
		err = cmp.Or(err, named("series", s.Name, wrong))
	}
	return named("chart", c.ID, err)
}

// check returns an error if s cannot be drawn over an x axis with names, or over one of numbers if there are none.
func (s Series) check(names []string) error {
	switch {
	case len(s.X) == 0:
		return errors.New("no points")
	case len(s.X) != len(s.Y):
		return fmt.Errorf("%d x and %d y", len(s.X), len(s.Y))
	case (s.Low == nil) != (s.High == nil) || s.Low != nil && (len(s.Low) != len(s.Y) || len(s.High) != len(s.Y)):
		return fmt.Errorf("a band of %d low and %d high around %d y", len(s.Low), len(s.High), len(s.Y))
	case s.Cells != nil && len(s.Cells) != len(s.X):
		return fmt.Errorf("%d cells of %d points", len(s.Cells), len(s.X))
	}
	for i, y := range s.Y {
		x := s.X[i]
		err := checkFinite(x, y)
		if err == nil && s.Low != nil {
			err = checkInterval(y, s.Low[i], s.High[i])
		}
		if err == nil && len(names) > 0 && (x != math.Trunc(x) || x < 0 || x >= float64(len(names))) {
			err = fmt.Errorf("x is %v: expected a whole number from 0 to %d, as there are names", x, len(names)-1)
		}
		if err != nil {
			return fmt.Errorf("point %d: %w", i+1, err)
		}
	}
	return nil
}

// CSV returns a header and one line for each point: series, x, y, low and high. The last two are empty where there is
// no band. The error is that of [Chart.SVG].
func (c Chart) CSV() (string, error) {
	if err := c.Check(); err != nil {
		return "", err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	records := [][]string{{"series", "x", "y", "low", "high"}}
	for _, s := range c.Series {
		for i := range s.X {
			record := []string{s.Name, number(s.X[i]), number(s.Y[i]), "", ""}
			if len(c.XNames) > 0 {
				record[1] = c.XNames[int(s.X[i])]
			}
			if s.Low != nil {
				record[3], record[4] = number(s.Low[i]), number(s.High[i])
			}
			records = append(records, record)
		}
	}
	return writeCSV(records), nil
}

// marked tells whether s has markers. A single point always has them: no line shows it.
func (s Series) marked() bool { return !s.HideMarkers || s.Scattered || len(s.X) == 1 }

// SVG returns a drawing of c. The legend is above the plot, so that it covers no data. The result is an <svg> element
// that works as a file or inside HTML, in the colour of the text around it, without a background. The same chart always
// gives the same bytes.
//
// It returns an error unless c has a series, and every series has at least one point, as many X as Y, as many Low and
// High as Y or none of both, as many Cells or none, only finite numbers from -1e300 to 1e300, and Low ≤ Y ≤ High up to
// rounding. The series that [Series.Of] names has to stand before it; with XNames each X has to be the index of one.
// Width and Height are 0 or from 200 to 10,000.
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

// layout says where the parts of a chart are.
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
	l.drawing = newDrawing(c.ID, c.Title, c.description(), width, coloursOf(l.looks)...)
	l.legendTop = l.top()
	if l.legendTop > margin {
		l.legendTop += margin / 2
	}
	l.legend = newLegend(c.Series, l.looks, width-2*margin)
	above := l.legendTop + l.legend.height()
	l.Height = max(height, above+0.6*height) // where the words take much of the height, the chart gets higher
	l.frame = c.newFrame(width, l.Height, above)
	return l
}

// Place is a point of a chart that can be measured anew.
type Place struct {
	Left float64 `json:"left"` // in percent of the drawing's width
	Top  float64 `json:"top"`  // in percent of its height
	Name string  `json:"name"` // "GIN + NM, 0.5: 78.20"
	Cell string  `json:"cell"` // what a page's script needs for it
}

// Places returns the points of the drawing by [Chart.SVG] that have a cell. The error is that of [Chart.SVG].
func (c Chart) Places() ([]Place, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l := c.layout()
	percent := func(part, whole float64) float64 { return math.Round(1e4*part/whole) / 100 }
	var places []Place
	for _, s := range c.Series {
		for i, cell := range s.Cells {
			if cell == "" {
				continue
			}
			at, x := l.frame.at(s.X[i], s.Y[i]), strconv.FormatFloat(s.X[i], 'g', 4, 64)
			places = append(places, Place{Left: percent(at.x, l.Width), Top: percent(at.y, l.Height),
				Name: fmt.Sprintf("%s, %s: %.2f", svg.Plain(s.Name), x, s.Y[i]), Cell: cell})
		}
	}
	return places, nil
}

// drawSeries draws the bands, on them the lines, on them the markers.
func (c Chart) drawSeries(d *drawing, f frame, looks []look) {
	for i, s := range c.Series {
		if s.Low == nil {
			continue
		}
		high, low := f.points(s.X, s.High), f.points(s.X, s.Low)
		if len(s.X) == 1 { // as wide as the marker
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
	}
}

// description returns the caption, and what the chart shows for those who do not see it.
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
