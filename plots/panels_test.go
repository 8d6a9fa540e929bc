package plots_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/plots"
)

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

func TestPanelsNameEachAndShareLegendAndLabels(t *testing.T) {
	svg := drawn(t, panels())
	for text, times := range map[string]int{">A<": 1, ">D<": 1, ">here<": 1, ">there<": 1, ">points<": 2, ">nodes (%)<": 2,
		"<g transform": 4} {
		require.Equal(t, times, strings.Count(svg, text), text)
	}
}

func TestPanelsOfARowShareTheScaleOfY(t *testing.T) {
	svg := drawn(t, panels())
	parts := strings.Split(svg, "<g transform")
	require.Contains(t, parts[1], ">10<")
	require.Contains(t, parts[2], `text-anchor="end">10</text>`, "B's own numbers end at 3")
	require.NotContains(t, parts[3], `text-anchor="end">10</text>`)
}

func TestSeriesOfOneNameLookAlikeInAllPanels(t *testing.T) {
	p := panels()
	p.Rows[1][1].Series[0].Name = "elsewhere"
	svg := drawn(t, p)
	require.Equal(t, 1, strings.Count(svg, ">elsewhere<"))
	parts := strings.Split(svg, "<g transform")
	band := func(part string) string {
		_, rest, _ := strings.Cut(part, "fill-opacity")
		return strings.SplitAfter(part[:len(part)-len(rest)],
			"fill=")[len(strings.SplitAfter(part[:len(part)-len(rest)], "fill="))-1]
	}
	require.Equal(t, band(parts[1]), band(parts[3]))
	require.NotEqual(t, band(parts[1]), band(parts[4]))
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
