package plots

import (
	"fmt"
	"math"
	"strconv"
)

// Series describes one line of a [Chart].
type Series struct {
	Name        string
	X, Y        []float64
	Low, High   []float64 // band around Y; both nil: none
	Reference   bool      // someone else's published numbers: dashed, with open markers
	HideMarkers bool
	Scattered   bool // points without a line, with small markers
	// Of names an earlier series, whose colour and shape this one shares with a broken line: a model's validation loss beside
	// its train loss. All other lines of such a chart are whole.
	Of string
	// Cells are what a page's script needs to measure each point anew, for [Chart.Places]; "": nothing. nil: none.
	Cells []string
}

// Chart describes lines over one pair of axes.
//
// A [Series.Reference] whose name begins with that of another series ("GIN, paper" and "GIN") takes its colour and shape.
type Chart struct {
	ID, Title, Caption string
	XLabel, YLabel     string  // with the unit
	Width, Height      float64 // in CSS pixels; 0: 640 and 400. A long legend adds to the height
	Series             []Series
}

const (
	defaultWidth, defaultHeight = 640, 400
	minSide, maxSide            = 200, 10_000
	maxValue                    = 1e300 // the difference of two such numbers is still finite
)

// Check returns nil if c can be drawn: it has a series, and every series has at least one point, as many X as Y, as many
// Low and High as Y or none of both, as many Cells or none, only finite numbers from -1e300 to 1e300, and Low ≤ Y ≤ High up to
// rounding. The series that [Series.Of] names stands before it. Width and Height are 0 or from 200 to 10,000.
func (c Chart) Check() error {
	if len(c.Series) == 0 {
		return fmt.Errorf("plots: chart %q has no series", c.ID)
	}
	for _, side := range []float64{c.Width, c.Height} {
		if side != 0 && !(side >= minSide && side <= maxSide) {
			return fmt.Errorf("plots: chart %q: a side of %v pixels: expected %d to %d", c.ID, side, minSide, maxSide)
		}
	}
	for i, s := range c.Series {
		if err := s.check(); err != nil {
			return fmt.Errorf("plots: chart %q: series %q: %w", c.ID, s.Name, err)
		}
		if s.Of != "" && leader(c.Series[:i], s.Of) < 0 {
			return fmt.Errorf("plots: chart %q: series %q: no series %q before it", c.ID, s.Name, s.Of)
		}
	}
	return nil
}

func (s Series) check() error {
	if len(s.X) == 0 {
		return fmt.Errorf("no points")
	}
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("%d x and %d y", len(s.X), len(s.Y))
	}
	if (s.Low == nil) != (s.High == nil) || s.Low != nil && (len(s.Low) != len(s.Y) || len(s.High) != len(s.Y)) {
		return fmt.Errorf("a band of %d low and %d high around %d y", len(s.Low), len(s.High), len(s.Y))
	}
	if s.Cells != nil && len(s.Cells) != len(s.X) {
		return fmt.Errorf("%d cells of %d points", len(s.Cells), len(s.X))
	}
	for _, values := range [][]float64{s.X, s.Y, s.Low, s.High} {
		for i, v := range values {
			if !(math.Abs(v) <= maxValue) {
				return fmt.Errorf("point %d: %v: expected a finite number of at most %g", i+1, v, maxValue)
			}
		}
	}
	for i := range s.Low {
		slack := 1e-9 * max(math.Abs(s.Low[i]), math.Abs(s.High[i]), math.Abs(s.Y[i]))
		if s.Low[i] > s.Y[i]+slack || s.Y[i] > s.High[i]+slack {
			return fmt.Errorf("point %d: y is %v: expected it between low %v and high %v", i+1, s.Y[i], s.Low[i], s.High[i])
		}
	}
	return nil
}

// CSV returns a header and one line for each point: series, x, y, low and high. The last two are empty where there is no
// band. The error is that of [Chart.Check].
func (c Chart) CSV() (string, error) {
	if err := c.Check(); err != nil {
		return "", err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	records := [][]string{{"series", "x", "y", "low", "high"}}
	for _, s := range c.Series {
		for i := range s.X {
			record := []string{s.Name, number(s.X[i]), number(s.Y[i]), "", ""}
			if s.Low != nil {
				record[3], record[4] = number(s.Low[i]), number(s.High[i])
			}
			records = append(records, record)
		}
	}
	return writeCSV(records)
}
