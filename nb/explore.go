package nb

import (
	"bytes"
	"fmt"

	"nodemask/aggtree/draw"
	"nodemask/aggtree/explorer"
	"nodemask/datasets"
)

// Explore shows a graph and the aggregation tree T_root^hops. Readers can make a node the root (click), mask a node
// (Shift-click), choose hops and play epochs, each with a random mask. Explore makes half of a labelled graph's nodes
// train nodes, and random masks hide only these. Without scripts Explore shows a picture.
func Explore(g *datasets.Graph, root int32, hops int, masked ...int32) {
	o := drawing(g)
	var trainNodes []int32
	if split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 50, Seed: 1}); err == nil {
		trainNodes = split.Train
	}
	explore(g, root, hops, explorer.Options{Names: o.Names, Labels: o.Labels, Classes: o.Classes,
		Mask: maskOf(g, masked), Train: trainNodes, KeepRate: 0.5})
}

// ExplorePaper is [Explore] for the graph in the paper's figure 3.
func ExplorePaper() {
	edges, names := draw.PaperGraph()
	explore(&datasets.Graph{Name: "the paper's graph", Edges: edges}, 0, 2, explorer.Options{Names: names, KeepRate: 0.5})
}

func explore(g *datasets.Graph, root int32, hops int, o explorer.Options) {
	var b bytes.Buffer
	Must(explorer.WriteFragment(&b, g.Edges, root, hops, o))
	showHTML(b.String(), fmt.Sprintf("[the graph of %s, and the %d-aggregation tree of node %d, to play with]",
		g.Name, hops, root))
}
