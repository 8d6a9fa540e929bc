package plots_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/plots"
)

func forest() plots.Forest {
	return plots.Forest{ID: "forest", Title: "What masking changes", XLabel: "difference (points)",
		Groups: []plots.ForestGroup{
			{Name: "GIN & <others>", Rows: []plots.Effect{
				{Label: "Cora, inductive", Value: 1.5, Low: 0.5, High: 2.5},
				{Label: "Cora, transductive", Value: -0.25, Low: -1, High: 0.5},
			}},
			{Name: "GCN", Rows: []plots.Effect{{Label: "Cora, inductive", Value: -4, Low: -5, High: -3},
				{Label: "one number", Value: 1, Low: 1, High: 1}}},
		}}
}

func TestPointsAreFilledIfTheirIntervalLeavesZeroOut(t *testing.T) {
	f := forest()
	f.Groups = f.Groups[:1]
	svg := drawn(t, f)
	// The clear effect has a filled marker in the first colour, the other an open one in the second.
	assert.Regexp(t, `<path class="fill0" fill="#0072B2" d=`, svg)
	assert.Regexp(t, `<path class="line1" stroke="#D55E00" stroke-width="1.5" fill="none" d="M[^"]*Z"`, svg)
	assert.NotContains(t, svg, `<path class="fill1"`)
}

func narrow(width float64) plots.Forest {
	f := forest()
	f.Width = width
	f.Groups[0].Rows[0].Label = "a label of many words that does not fit a third of the width of the plot, and goes on"
	return f
}

func TestAForestPlotShowsAllWordsOfItsNames(t *testing.T) {
	for _, width := range []float64{0, 200, 760} {
		var words []string
		for _, m := range regexp.MustCompile(`<text [^>]*>([^<]*)`).FindAllStringSubmatch(drawn(t, narrow(width)), -1) {
			words = append(words, m[1])
		}
		assert.Contains(t, strings.Join(words, " "), narrow(width).Groups[0].Rows[0].Label)
	}
}

func claims() plots.Forest {
	return plots.Forest{ID: "claims", Title: "What is left of the claims, over all readings",
		XLabel: "masked − plain, macro F1 (points)", Columns: []string{"holds in", "grade"}, Width: 900,
		Groups: []plots.ForestGroup{
			{Name: "Table 1: GAT and SGAT on Cora", Rows: []plots.Effect{
				{Label: "GAT, inductive", Value: 1.5, Low: 0.5, High: 2.5, Fields: []string{"31 of 48", "B"}},
				{Label: "SGAT, inductive", Value: 0.4, Low: -0.4, High: 1.2, Fields: []string{"12 of 48", "D"}},
				{Label: "both", Value: 0.95, Low: -0.001, High: 1.6, Fields: []string{"43 of 96", "C"}},
			}},
			{Name: "Table 3: GIN", Rows: []plots.Effect{
				{Label: "Cora, transductive", Value: -0.7, Low: -1.1, High: -0.3},
				{Label: "all", Value: -0.1, Low: -0.6, High: 0.4, Fields: []string{"9 of 48", "E"}},
			}},
		}}
}

func TestColumnsOfAForestPlotHaveTheirText(t *testing.T) {
	text := drawn(t, claims())
	assert.Contains(t, text, ">holds in</text>")
	assert.Contains(t, text, ">31 of 48</text>")
	assert.Contains(t, text, "GAT, inductive +1.50 [0.50, 2.50], holds in 31 of 48, grade B; SGAT")
	assert.Contains(t, text, ">+0.95 [0.00, 1.60]</text>", "a bound that rounds to 0 has no sign")
}

func TestARowOfTextAloneHasNoMarkAndNoNumbers(t *testing.T) {
	f := claims()
	f.Groups[1].Rows = append(f.Groups[1].Rows, plots.Effect{Label: "Reddit", TextOnly: true,
		Fields: []string{"", "not run"}})
	before := drawn(t, claims())
	svg := drawn(t, f)
	paths := func(svg string) int { return strings.Count(svg, "<path ") }
	assert.Equal(t, paths(before), paths(svg))
	assert.Contains(t, svg, "; Reddit, grade not run.")
	assert.NotContains(t, svg, ">0.00 [")
	f.Groups = []plots.ForestGroup{{Rows: []plots.Effect{{Label: "Reddit", TextOnly: true}}}}
	drawn(t, f) // an axis without effects
}

func panels() plots.Panels {
	x := []float64{10, 50, 90}
	chart := func(title string, y ...float64) plots.Chart {
		return plots.Chart{ID: title, Title: title, Series: []plots.Series{
			{Name: "here", X: x, Y: y, Low: []float64{y[0] - 1, y[1] - 1, y[2] - 1},
				High: []float64{y[0] + 1, y[1] + 1, y[2] + 1}},
			{Name: "there", X: x, Y: []float64{3, 2, 1}, Reference: true},
		}}
	}
	return plots.Panels{ID: "p", Title: "Gains", XLabel: "nodes (%)", YLabel: "points",
		Rows: [][]plots.Chart{{chart("A", 11, 4, 0), chart("B", -2, 0, 1)}, {chart("C", 1, 1, 1), chart("D", 2, 2, 2)}}}
}

func TestPanelsNameEachAndShareLegendLabelsAndARowsScale(t *testing.T) {
	svg := drawn(t, panels())
	for text, times := range map[string]int{">A<": 1, ">D<": 1, ">here<": 1, ">there<": 1, ">points<": 2, ">nodes (%)<": 2,
		"<g transform": 4} {
		require.Equal(t, times, strings.Count(svg, text), text)
	}
	parts := strings.Split(svg, "<g transform")
	require.Contains(t, parts[2], `text-anchor="end">10</text>`, "B's own numbers end at 3")
	require.NotContains(t, parts[3], `text-anchor="end">10</text>`)
}

func TestSeriesOfOneNameLookAlikeInAllPanels(t *testing.T) {
	p := panels()
	p.Rows[1][1].Series[0].Name = "elsewhere"
	svg := drawn(t, p)
	require.Equal(t, 1, strings.Count(svg, ">elsewhere<"))
	var bands []string
	for _, band := range regexp.MustCompile(`fill="(#\w+)" fill-opacity`).FindAllStringSubmatch(svg, -1) {
		bands = append(bands, band[1])
	}
	legend, panels := bands[:2], bands[2:]
	require.Equal(t, []string{legend[0], legend[0], legend[0], legend[1]}, panels)
}

func TestPanelsOfOneScaleNameTheirLinesAtTheEnds(t *testing.T) {
	p := panels()
	p.OneScale = true
	p.Rows[0][0].Series[0].Cells = []string{"", "cell", ""}
	svg := drawn(t, p)
	parts := strings.Split(svg, "<g transform")[1:]
	require.NotContains(t, strings.Split(svg, "<g transform")[0], ">here<", "no legend")
	for i, part := range parts {
		require.Equal(t, 1, strings.Count(part, ">here<"), "%d", i)
		require.Equal(t, i%2 == 0, strings.Contains(part, `text-anchor="end">10</text>`), "%d: numbers on the left alone", i)
	}
	places, err := p.Places()
	require.NoError(t, err)
	require.Len(t, places, 1)
	require.Equal(t, "A, here, 50: 4.00 (3.00 to 5.00)", places[0].Name)
	require.Equal(t, "cell", places[0].Cell)
	require.InDelta(t, 24, places[0].Left, 8, "in the left panel")
	require.InDelta(t, 35, places[0].Top, 15, "in the upper row")
}
