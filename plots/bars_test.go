package plots_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/plots"
)

func bars() plots.Bars {
	half := 50.0
	return plots.Bars{ID: "bars", Title: "Which share is of the class", XLabel: "neighbours (%)", MarkLabel: "by chance",
		Rows: []plots.Bar{
			{Label: "ants & <others>", Value: 81.3, Mark: &half}, {Label: "a name of so many words that it stands in several " +
				"lines", Value: 0}, {Label: "cats", Value: 48.9, Mark: &half},
		}}
}

func TestBarsOfAnyNumbersAreDrawnInProportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := plots.Bars{ID: "b", Rows: []plots.Bar{{Label: rapid.String().Draw(t, "label"), Value: 100},
			{Label: "half", Value: 50}, {Label: "none"}},
			Title: rapid.String().Draw(t, "title"), XLabel: rapid.String().Draw(t, "unit"),
			Width: rapid.Float64Range(200, 1200).Draw(t, "width")}
		svg := drawn(t, b)
		_, path, _ := strings.Cut(svg, `<path class="fill0" fill="#0072B2" d="`)
		path, _, _ = strings.Cut(path, `"`)
		var ends []float64
		for _, bar := range strings.Split(strings.TrimSuffix(path, "Z"), "Z") {
			var x []float64
			for _, corner := range strings.Fields(strings.TrimPrefix(bar, "M")) {
				number, _, _ := strings.Cut(corner, ",")
				v, err := strconv.ParseFloat(number, 64)
				require.NoError(t, err)
				x = append(x, v)
			}
			ends = append(ends, x[1]-x[0])
		}
		require.Len(t, ends, 2, "0 has no bar")
		require.InDelta(t, ends[0], 2*ends[1], 0.03)
		require.Positive(t, ends[1])
	})
}

func TestTheTableOfBarsHasTheirNumbers(t *testing.T) {
	text, err := bars().Table().Render(plots.FormatCSV)
	require.NoError(t, err)
	require.Equal(t, ",neighbours (%),by chance\nants & <others>,81.3,50.0\na name of so many words that it stands in "+
		"several lines,0.0,\ncats,48.9,50.0\n", text)
}
