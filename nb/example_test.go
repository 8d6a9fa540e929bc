package nb_test

import (
	"nodemask/nb"
	"nodemask/plots"
)

func ExampleTable() {
	nb.Table(plots.Table{Header: []string{"model", "macro F1 %"}, Rows: [][]plots.Field{{{Text: "GIN"}, {Text: "79.4"}}}})
	// Output:
	// ╭───────┬────────────╮
	// │ model │ macro F1 % │
	// ├───────┼────────────┤
	// │ GIN   │       79.4 │
	// ╰───────┴────────────╯
}

func ExampleRows() {
	nb.Rows("Two models", []string{"model", "macro F1", "trials"}, []any{"GIN", 79.38, 10}, []any{"GIN + NM", 78.84, 10})
	// Output:
	// Two models
	// ╭──────────┬──────────┬────────╮
	// │ model    │ macro F1 │ trials │
	// ├──────────┼──────────┼────────┤
	// │ GIN      │    79.38 │     10 │
	// │ GIN + NM │    78.84 │     10 │
	// ╰──────────┴──────────┴────────╯
}

func ExampleTreeSizes() {
	nb.TreeSizes(nb.Data("cora"), 5, 1)
	// Output:
	// Nodes of the aggregation trees of node 5 of cora
	// ╭────────┬────────────┬───────╮
	// │ hops k │ at depth k │ in Tᵏ │
	// ├────────┼────────────┼───────┤
	// │ 0      │          1 │     1 │
	// │ 1      │          2 │     3 │
	// ╰────────┴────────────┴───────╯
}
