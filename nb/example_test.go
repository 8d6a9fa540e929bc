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

func ExampleSVG() {
	nb.SVG(`<svg xmlns="http://www.w3.org/2000/svg"/>`, "an aggregation tree of two hops")
	// Output: [an aggregation tree of two hops]
}

func ExampleMarkdown() {
	nb.Markdown("With $p = 1$ nothing is masked.")
	// Output: With $p = 1$ nothing is masked.
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

func ExampleDescribe() {
	nb.Describe(nb.Data("../datasets/testdata/formats/undirected.json"))
	// Output:
	// ╭───────────┬───────────────────────────────────────────────────────────────────────────────────╮
	// │ name      │ undirected                                                                        │
	// ├───────────┼───────────────────────────────────────────────────────────────────────────────────┤
	// │ format    │ node-link JSON                                                                    │
	// │ nodes     │ 8 (1 isolated, 2 unlabelled)                                                      │
	// │ edges     │ 7 (8 pairs listed, 1 self-loops and 0 duplicates dropped)                         │
	// │ degree    │ mean 1.75, median 2, most 3                                                       │
	// │ features  │ 2 (10 nonzeros, dense; 0 the same on all nodes)                                   │
	// │ classes   │ 2                                                                                 │
	// │ homophily │ 0.000 of the edges between labelled nodes join two of one class                   │
	// │ own split │ 2 train, 2 validation and 2 test nodes, hash 3d32f10c5fe05869 (train --split own) │
	// │ note      │ 1 self-loops and 0 repeated edges are dropped                                     │
	// │ note      │ attribute "weight" of edges: left out                                             │
	// │ note      │ attribute "nick" of type string: left out                                         │
	// ╰───────────┴───────────────────────────────────────────────────────────────────────────────────╯
	// Half of the nodes have at most 2 neighbours
	// ╭────────────────┬───────────╮
	// │                │ nodes (%) │
	// ├────────────────┼───────────┤
	// │ 0 neighbours   │      12.5 │
	// │ 1 neighbour    │      12.5 │
	// │ 2–3 neighbours │      75.0 │
	// ╰────────────────┴───────────╯
	// The largest class has 50.0 % of the labelled nodes
	// ╭─────┬────────────────────╮
	// │     │ labelled nodes (%) │
	// ├─────┼────────────────────┤
	// │ ant │               50.0 │
	// │ cat │               50.0 │
	// ╰─────┴────────────────────╯
	// 0 % of the edges join two of one class
	// ╭─────┬──────────────────────────────────┬───────────╮
	// │     │ neighbours of the same class (%) │ by chance │
	// ├─────┼──────────────────────────────────┼───────────┤
	// │ ant │                              0.0 │      50.0 │
	// │ cat │                              0.0 │      50.0 │
	// ╰─────┴──────────────────────────────────┴───────────╯
}
