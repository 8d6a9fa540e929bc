package plots_test

import (
	"fmt"
	"strings"

	"nodemask/internal/plots"
)

func ExampleTable_Render() {
	table := plots.Table{
		Header: []string{"model", "macro F1 %"},
		Rows: [][]plots.Field{
			{{Text: "GIN"}, {Text: "77.3 ± 1.4"}},
			{{Text: "GAT"}, {Text: "80.2 ± 0.8", Bold: true}},
		},
	}
	markdown, err := table.Render(plots.FormatMarkdown)
	fmt.Print(markdown, err)
	// Output:
	// | model | macro F1 % |
	// | :--- | ---: |
	// | GIN | 77.3 ± 1.4 |
	// | GAT | **80.2 ± 0.8** |
	// <nil>
}

func ExampleChart_SVG() {
	chart := plots.Chart{
		ID: "rate", XLabel: "keep rate", YLabel: "macro F1 (%)",
		Series: []plots.Series{
			{Name: "ours", X: []float64{0.5, 1}, Y: []float64{77.3, 75.1}},
			{Name: "paper", X: []float64{0.5, 1}, Y: []float64{78.2, 75.9}, Reference: true},
		},
	}
	svg, err := chart.SVG()
	fmt.Println(strings.HasPrefix(string(svg), "<svg"), strings.Contains(string(svg), ">macro F1 (%)</text>"), err)
	// Output: true true <nil>
}
