package plots_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/plots"
)

// charts returns one with references, one with many lines, a narrow one, and one of a single point.
func charts() []plots.Chart {
	rates := []float64{0.1, 0.25, 0.5, 0.75, 1}
	around := func(y []float64, by float64) (low, high []float64) {
		for _, v := range y {
			low, high = append(low, v-by), append(high, v+by)
		}
		return low, high
	}
	gin, gat := []float64{71.2, 74.9, 77.3, 76.8, 75.1}, []float64{76.4, 78.8, 80.2, 80.9, 80.7}
	ginLow, ginHigh := around(gin, 1.4)
	gatLow, gatHigh := around(gat, 0.8)
	papers := plots.Chart{
		ID: "keep-rate", Title: "Masking fewer nodes helps, up to a point", Caption: "Mean and 95 % interval of 10 trials.",
		XLabel: "keep rate ρ (share of nodes)", YLabel: "macro F1 (%)",
		Series: []plots.Series{
			{Name: "GIN", X: rates, Y: gin, Low: ginLow, High: ginHigh},
			{Name: "GIN, paper", X: rates, Y: []float64{70.1, 74.1, 78.2, 77.9, 75.9}, Reference: true},
			{Name: "GAT", X: rates, Y: gat, Low: gatLow, High: gatHigh},
			{Name: "GAT, paper", X: rates, Y: []float64{77.5, 79.6, 80.9, 81.8, 81.2}, Reference: true},
		},
	}

	many := plots.Chart{
		ID: "many", Title: "Validation loss of every model on every data set, with a title that is far too long for a " +
			"single line of the chart",
		XLabel: "epoch", YLabel: "cross-entropy (nats)", Width: 560, Height: 380,
	}
	for k := range 9 {
		s := plots.Series{Name: fmt.Sprintf("model %d", k+1), HideMarkers: k%3 == 2, Reference: k == 8}
		if k == 4 {
			s.Name = "model 5 with a long name"
		}
		for x := 0.0; x <= 200; x += 20 {
			s.X, s.Y = append(s.X, x), append(s.Y, 0.1*float64(k+1)+2*math.Exp(-x/(20+10*float64(k))))
		}
		many.Series = append(many.Series, s)
	}

	return []plots.Chart{
		papers, many,
		{ID: "phone", Title: "Time of an epoch", XLabel: "nodes", YLabel: "seconds", Width: 320, Height: 260,
			Series: []plots.Series{
				{Name: "pure Go", X: []float64{1e6, 2e6, 3e6, 5e6}, Y: []float64{0.0001, 0.0002, 0.00033, 0.0005}},
				{Name: "XLA", X: []float64{1e6, 2e6, 3e6, 5e6}, Y: []float64{0.00005, 0.00007, 0.00012, 0.00018}},
			}},
		{ID: "point", XLabel: "trials", YLabel: "difference (points)", Width: 400, Height: 250, Series: []plots.Series{
			{X: []float64{10}, Y: []float64{-0.4}, HideMarkers: true},
		}},
	}
}

type drawable interface{ SVG() ([]byte, error) }

// places matches attributes of position and size.
var places = regexp.MustCompile(` (?:d|x|y|transform|width|height|viewBox)="[^"]*"`)

// drawn returns a drawing, and requires that it is well-formed, finite and reproducible.
func drawn(t require.TestingT, of drawable) string {
	picture, err := of.SVG()
	require.NoError(t, err)
	again, err := of.SVG()
	require.NoError(t, err)
	require.True(t, bytes.Equal(picture, again), "drawn twice, it differs")
	require.NoError(t, xml.Unmarshal(picture, new(struct{})))
	for _, place := range places.FindAllString(string(picture), -1) {
		require.NotRegexp(t, "NaN|Inf", place)
	}
	return string(picture)
}

func TestTextsLieInTheDrawingAndNotOnEachOther(t *testing.T) {
	texts := regexp.MustCompile(`<text x="([^"]*)" y="([^"]*)" font-size="(\d+)"([^>]*)>([^<]*)`)
	for name, of := range map[string]drawable{
		"references": charts()[0], "many": charts()[1], "phone": charts()[2], "claims": claims(),
		"forest": narrow(0), "narrow forest": narrow(200), "wide forest": narrow(760),
	} {
		svg := drawn(t, of)
		var width, height float64
		_, err := fmt.Sscanf(regexp.MustCompile(`viewBox="0 0 [^"]*`).FindString(svg), `viewBox="0 0 %f %f`, &width, &height)
		require.NoError(t, err)
		type box struct {
			text                     string
			left, right, top, bottom float64
		}
		var boxes []box
		for _, m := range texts.FindAllStringSubmatch(svg, -1) {
			if strings.Contains(m[4], "rotate") {
				continue
			}
			var x, y, size float64
			_, err := fmt.Sscan(m[1]+" "+m[2]+" "+m[3], &x, &y, &size)
			require.NoError(t, err)
			wide := 0.45 * size * float64(len([]rune(html.UnescapeString(m[5])))) // at least
			b := box{m[5], x, x + wide, y - 0.7*size, y}
			switch {
			case strings.Contains(m[4], `"middle"`):
				b.left, b.right = x-wide/2, x+wide/2
			case strings.Contains(m[4], `"end"`):
				b.left, b.right = x-wide, x
			}
			assert.True(t, b.left >= 0 && b.right <= width && b.top >= 0 && b.bottom <= height, "%s: %v", name, b)
			for _, other := range boxes {
				assert.False(t, b.left < other.right && other.left < b.right && b.top < other.bottom && other.top < b.bottom,
					"%s: %v and %v", name, b, other)
			}
			boxes = append(boxes, b)
		}
		assert.NotEmpty(t, boxes)
	}
}

func TestNumbersOfAnySizeHaveFewDigits(t *testing.T) {
	svg := drawn(t, charts()[2])
	_, x := ticks(t, svg, "middle")
	_, y := ticks(t, svg, "end")
	assert.Equal(t, []string{"2e+06", "4e+06"}, x)
	assert.Equal(t, []string{"0", "2e−04", "4e−04", "6e−04"}, y)
}

func TestChartUsesPageColoursAndDescribesItself(t *testing.T) {
	text := drawn(t, charts()[0])
	assert.True(t, strings.HasPrefix(text,
		`<svg xmlns="http://www.w3.org/2000/svg" id="keep-rate" role="img" aria-labelledby="keep-rate-title `+
			`keep-rate-desc" width="640"`))
	assert.Contains(t, text, `<title id="keep-rate-title">Masking fewer nodes helps, up to a point</title>`)
	assert.Contains(t, text, `<desc id="keep-rate-desc">Mean and 95 % interval of 10 trials. Line chart of macro F1 `+
		`(%) over keep rate ρ (share of nodes). `+
		`Series: GIN; GIN, paper; GAT; GAT, paper.</desc>`)
	assert.Contains(t, text, "@media (prefers-color-scheme:dark)")
	assert.Contains(t, text, "max-width:100%")
	assert.NotContains(t, text, "#FFFFFF")
	assert.NotContains(t, text, "#000000")
	assert.Contains(t, text, ">macro F1 (%)</text>")
	assert.Contains(t, text, ">keep rate ρ (share of nodes)</text>")
}

func TestSeriesDifferInColourUnlessOneIsNamedAfterAnother(t *testing.T) {
	for i, want := range []int{2, 8} { // GIN and GAT, ours and the paper's; eight of nine
		colours := map[string]bool{}
		for _, c := range regexp.MustCompile(`class="line\d" stroke="[^"]*"`).FindAllString(drawn(t, charts()[i]), -1) {
			colours[c] = true
		}
		assert.Len(t, colours, want)
	}
}

func TestASeriesOfAnotherSharesItsColourAndHasABrokenLine(t *testing.T) {
	one := func(name, of string) plots.Series {
		return plots.Series{Name: name, Of: of, X: []float64{1, 2}, Y: []float64{1, 2}, HideMarkers: true}
	}
	c := plots.Chart{ID: "pairs", Series: []plots.Series{one("GIN, train", ""), one("GIN, validation", "GIN, train"),
		one("GIN + NM, train", ""), one("GIN + NM, validation", "GIN + NM, train")}}
	svg := drawn(t, c)
	for _, colour := range []string{"#0072B2", "#D55E00"} {
		lines := regexp.MustCompile(`<path [^>]*stroke="`+colour+`"[^>]*>`).FindAllString(svg, -1)
		broken := 0
		for _, line := range lines {
			if strings.Contains(line, "stroke-dasharray") {
				broken++
			}
		}
		assert.Equal(t, 2*broken, len(lines), "half of the lines in %s are whole", colour)
		assert.NotZero(t, broken)
	}
}

// ticks returns the numbers along an axis and their places, from left to right or upwards: x labels are centred on
// them, y labels end there.
func ticks(t require.TestingT, svg string, anchor string) (at []float64, labels []string) {
	for _, m := range regexp.MustCompile(
		`<text x="([^"]*)" y="[^"]*" font-size="12" text-anchor="`+anchor+`">([^<]*)<`).FindAllStringSubmatch(svg,
		-1) {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		at, labels = append(at, x), append(labels, m[2])
	}
	return at, labels
}

func TestScatteredPointsHaveSmallMarkersAndNoLine(t *testing.T) {
	c := plots.Chart{ID: "points", XLabel: "first", YLabel: "second",
		Series: []plots.Series{{Name: "red", X: []float64{1, 2, 3}, Y: []float64{3, 1, 2}, Scattered: true}}}
	svg := drawn(t, c)
	assert.NotContains(t, svg, `class="line0"`)
	assert.Equal(t, 4, strings.Count(svg, "a2.2,2.2 0 1 1 -4.4,0"), "three points, and one in the legend")
	assert.Contains(t, svg, "Points of second over first.")
}

func TestPlacesAreWhereTheDrawingHasItsPoints(t *testing.T) {
	c := plots.Chart{ID: "places", Title: "Places", XLabel: "x", YLabel: "y", Width: 500, Height: 320,
		Series: []plots.Series{
			{Name: "one", X: []float64{1, 2, 4}, Y: []float64{3, 1, 7}, Cells: []string{"first", "", "last"},
				Low: []float64{2, 1, 6.5}, High: []float64{4, 1, 7}, Notes: []string{"", "", "9 trials\nof which"}, Ring: 3},
			{Name: "two", X: []float64{1, 3}, Y: []float64{2, 2}},
		}}
	svg := drawn(t, c)
	line := regexp.MustCompile(
		`class="line[0-9]+" [^>]* d="M([0-9.]+),([0-9.]+) [0-9.,]+ ([0-9.]+),([0-9.]+)"`).FindStringSubmatch(svg)
	require.NotNil(t, line)
	places, err := c.Places()
	require.NoError(t, err)
	require.Len(t, places, 2)
	assert.Equal(t, "of which", places[1].Note)
	assert.Equal(t, 1, strings.Count(svg, `a5,5 0 1 1 -10,0`), "the ring")
	for i, want := range []string{"one, 1: 3.00 (2.00 to 4.00)", "one, 4: 7.00 (6.50 to 7.00), 9 trials"} {
		x, err := strconv.ParseFloat(line[1+2*i], 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(line[2+2*i], 64)
		require.NoError(t, err)
		require.InDelta(t, x, places[i].Left*500/100, 0.05)
		require.InDelta(t, y, places[i].Top*320/100, 0.05)
		require.Equal(t, want, places[i].Name)
		require.Equal(t, []string{"first", "last"}[i], places[i].Cell)
	}
}

func TestAnyFiniteChartIsValidXMLWithTwoNumbersAnAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1e300, 1e300), rapid.Float64Range(-10, 10),
			rapid.SampledFrom([]float64{0, 5e-324, 1e-300, 1, 1 + 0x1p-52, 1e300}))
		c := plots.Chart{
			ID: anyText.Draw(t, "id"), Title: anyText.Draw(t, "title"), Caption: anyText.Draw(t, "caption"),
			XLabel: anyText.Draw(t, "x label"), YLabel: anyText.Draw(t, "y label"),
			Width:  rapid.SampledFrom([]float64{0, 200, 333.3, 10_000}).Draw(t, "width"),
			Height: rapid.SampledFrom([]float64{0, 200, 333.3, 10_000}).Draw(t, "height"),
		}
		for range rapid.IntRange(1, 12).Draw(t, "series") {
			n := rapid.IntRange(1, 6).Draw(t, "points")
			s := plots.Series{
				Name: anyText.Draw(t, "name"), X: rapid.SliceOfN(number, n, n).Draw(t, "x"),
				Y:         rapid.SliceOfN(number, n, n).Draw(t, "y"),
				Reference: rapid.Bool().Draw(t, "reference"), HideMarkers: rapid.Bool().Draw(t, "hide markers"),
			}
			if rapid.Bool().Draw(t, "band") {
				for _, y := range s.Y {
					s.Low, s.High = append(s.Low, max(y-1, -1e300)), append(s.High, min(y+1, 1e300))
				}
			}
			c.Series = append(c.Series, s)
		}
		svg := drawn(t, c)
		for _, anchor := range []string{"middle", "end"} {
			_, labels := ticks(t, svg, anchor)
			require.GreaterOrEqual(t, len(labels), 2, labels)
		}
	})
}
