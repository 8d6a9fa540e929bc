package draw

import "nodemask/csr"

// PaperGraph returns the graph of the paper's figure 3 (a) and the names of its nodes, a to f.
//
// The figures are not part of the text that we have, so this is inferred. The text says that a is "the root and also …
// two of the leaves" of its 2-aggregation tree: a has two neighbours. Figure 7 masks d, a, and both a and f: masking d
// halves the width of the tree, as if d were one of the two, and masking f as well as a changes it less, as if f were a
// neighbour of the other. The widths at which the trees are set fit five leaves: two below d and three below the other,
// which we call b. That leaves c and e for their other neighbours. Edges among c, e and f show in none of the paper's
// trees; e-f is ours.
func PaperGraph() (g *csr.Graph, names []string) {
	const a, b, c, d, e, f = 0, 1, 2, 3, 4, 5
	g, _, err := csr.FromEdges(6, []csr.Edge{
		{Node: a, Neighbour: b}, {Node: a, Neighbour: d}, {Node: b, Neighbour: c}, {Node: b, Neighbour: f},
		{Node: d, Neighbour: e}, {Node: e, Neighbour: f},
	}, csr.Options{})
	if err != nil {
		panic(err) // the edges above name nodes 0 to 5
	}
	return g, []string{"a", "b", "c", "d", "e", "f"}
}
