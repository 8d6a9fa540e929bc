package plots_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/internal/svg/svgtest"
	"nodemask/plots"
)

// specification returns a curve of n readings that hang on what they choose.
func specification(n int) plots.Specification {
	s := plots.Specification{ID: "specification", Title: "Masking helps when stopping follows F1, and hardly otherwise",
		YLabel: "masked − plain, macro F1 (points)", MarkName: "calibrated", Caption: "GIN on Cora, 10 splits.",
		Axes: []plots.SpecificationAxis{
			{Name: "early stopping", Options: []string{"validation loss", "validation F1", "none: 200 epochs"}},
			{Name: "body of GIN", Options: []string{"GIN-0, MLP of 2", "GIN-ε"}},
			{Name: "arrivals & caching", Options: []string{"all edges", "edges to the train set", "cached"}},
			{Name: "mask set", Options: []string{"train graph", "train nodes"}},
			{Name: "self term", Options: []string{"never masked", "masked too"}},
			{Name: "features", Options: []string{"as they are", "rows sum to 1"}},
			{Name: "dropout", Options: []string{"0", "0.5", "0.6"}},
		}}
	random := rand.New(rand.NewPCG(7, 0))
	for i := range n {
		r := plots.SpecificationReading{Marked: i%25 == 3}
		for _, a := range s.Axes {
			r.Choices = append(r.Choices, random.IntN(len(a.Options)))
		}
		r.Effect = 0.4 + 0.9*float64(r.Choices[0]%2) - 0.5*float64(r.Choices[4]) - 0.6*float64(r.Choices[6]) +
			0.5*random.NormFloat64()
		half := 0.4 + 0.8*random.Float64()
		r.Low, r.High = r.Effect-half, r.Effect+half
		if r.Marked {
			r.Text = fmt.Sprintf("plain GIN is within 0.%d of the paper's", i%10)
		}
		s.Readings = append(s.Readings, r)
	}
	return s
}

// readings returns a curve of one axis with two options; effects[i] has the interval from low[i] to high[i] and option
// i % 2.
func readings(effects, low, high []float64) plots.Specification {
	s := plots.Specification{ID: "small", YLabel: "points",
		Axes: []plots.SpecificationAxis{{Name: "stop", Options: []string{"loss", "F1"}}}}
	for i := range effects {
		s.Readings = append(s.Readings, plots.SpecificationReading{Effect: effects[i], Low: low[i], High: high[i],
			Choices: []int{i % 2}})
	}
	return s
}

func TestReadingsAreSortedAndToldApartByMoreThanColour(t *testing.T) {
	s := readings([]float64{3, -3, 1}, []float64{2, -4, -1}, []float64{4, -2, 3})
	s.Readings[2].Marked = true
	svg := drawn(t, s)
	text := svg
	words := svgtest.WellFormed(t, svg)
	for _, want := range []string{"3 readings: median +1.00, 67 % above 0.", "interval above 0: 1", "includes 0: 1",
		"below 0: 1", "marked: 1", "median"} {
		assert.Contains(t, words, want)
	}
	assert.Contains(t, words, "The interval is above 0 in 1, includes 0 in 1 and is below 0 in 1; 1 are marked. Median "+
		"by stop: loss +2.00, F1 −3.00.")
	group := func(i int) string {
		return regexp.MustCompile(fmt.Sprintf(`(?s)<g class="reading[^"]*" [^>]* data-i="%d".*?</g>`, i)).FindString(text)
	}
	assert.Contains(t, group(0), `class="reading line1 fill1"`, "the lowest comes first")
	assert.Regexp(t, `class="bars" d="M0,[\d.]+v7"`, group(0), "down")
	assert.Contains(t, group(1), `class="reading marked plain"`)
	assert.Regexp(t, `class="bars" stroke="currentColor" stroke-width="[\d.]+" d="M0,[\d.]+v8"`, group(1), "across")
	assert.Contains(t, group(1), `class="guide"`)
	assert.Contains(t, group(2), `class="reading line0 fill0"`)
	assert.Regexp(t, `class="bars" d="M0,[\d.]+v-7"`, group(2), "up")
}

func TestSpecificationCurvesScrollAndStayLegible(t *testing.T) {
	svg := drawn(t, specification(600))
	assert.Contains(t, svg, `style="width:1100px;max-width:none;height:auto"`)
	for _, size := range regexp.MustCompile(`font-size="(\d+)"`).FindAllStringSubmatch(svg, -1) {
		pixels, err := strconv.Atoi(size[1])
		require.NoError(t, err)
		assert.GreaterOrEqual(t, pixels, 11)
	}
	assert.Less(t, len(svg), 300_000)
	x := regexp.MustCompile(`class="reading[^>]*translate\(([\d.]+)\)`).FindAllStringSubmatch(svg, -1)
	require.Len(t, x, 600)
	for _, at := range x {
		v, err := strconv.ParseFloat(at[1], 64)
		require.NoError(t, err)
		assert.True(t, v > 0 && v < 1100)
	}
}

func TestSpecificationTableKeepsTheOrder(t *testing.T) {
	s := readings([]float64{3, -3}, []float64{2, -4}, []float64{4, -2})
	s.MarkName, s.Readings[0].Marked, s.Readings[0].Text = "calibrated", true, "near the paper"
	assert.Equal(t, "stop,note,effect,low,high\nF1,,−3.00,−4.00,−2.00\nloss,calibrated: near the paper,3.00,2.00,4.00\n",
		render(t, s.Table(), plots.FormatCSV))
}

func TestAnyFiniteSpecificationCurveIsValidXML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1e300, 1e300), rapid.Float64Range(-10, 10),
			rapid.SampledFrom([]float64{0, 5e-324, 1, 1e300}))
		s := plots.Specification{ID: anyText.Draw(t, "id"), Title: anyText.Draw(t, "title"),
			Caption: anyText.Draw(t, "caption"), YLabel: anyText.Draw(t, "label"),
			MarkName: anyText.Draw(t, "mark"), Width: rapid.SampledFrom([]float64{0, 480, 10_000}).Draw(t, "width")}
		for range rapid.IntRange(1, 3).Draw(t, "axes") {
			s.Axes = append(s.Axes, plots.SpecificationAxis{Name: anyText.Draw(t, "axis"),
				Options: rapid.SliceOfN(anyText, 1, 3).Draw(t, "options")})
		}
		for range rapid.IntRange(1, 8).Draw(t, "readings") {
			bounds := []float64{number.Draw(t, "a"), number.Draw(t, "b"), number.Draw(t, "c")}
			slices.Sort(bounds)
			r := plots.SpecificationReading{Low: bounds[0], Effect: bounds[1], High: bounds[2],
				Marked: rapid.Bool().Draw(t, "marked"), Text: anyText.Draw(t, "text")}
			for _, a := range s.Axes {
				r.Choices = append(r.Choices, rapid.IntRange(0, len(a.Options)-1).Draw(t, "choice"))
			}
			s.Readings = append(s.Readings, r)
		}
		drawn(t, s)
		piece, err := s.HTML()
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(strings.ToLower(piece), "<script"))
		require.Equal(t, 2, strings.Count(strings.ToLower(piece), "</script"))
	})
}
