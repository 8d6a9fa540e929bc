package nb_test

import (
	"nodemask/nb"
	"nodemask/plots"
)

func ExampleTable() {
	nb.Table(plots.Table{Header: []string{"model", "macro F1 %"}, Rows: [][]plots.Cell{{{Text: "GIN"}, {Text: "79.4"}}}})
	// Output:
	// ╭───────┬────────────╮
	// │ model │ macro F1 % │
	// ├───────┼────────────┤
	// │ GIN   │       79.4 │
	// ╰───────┴────────────╯
}

func ExampleSVG() {
	nb.SVG(`<svg xmlns="http://www.w3.org/2000/svg"/>`, "an aggregation tree of two hops")
	// Output: [an aggregation tree of two hops]
}

func ExampleMarkdown() {
	nb.Markdown("With $p = 1$ nothing is masked.")
	// Output: With $p = 1$ nothing is masked.
}
