package plots_test

import (
	"fmt"

	"nodemask/plots"
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
