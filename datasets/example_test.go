package datasets_test

import (
	"fmt"

	"nodemask/csr"
	"nodemask/datasets"
)

// A graph from slices.
func ExampleGraph() {
	var pairs []csr.Edge
	for _, pair := range [][2]int32{{0, 1}, {1, 2}, {2, 3}, {2, 1}} {
		pairs = append(pairs, csr.Edge{Node: pair[0], Neighbour: pair[1]})
	}
	edges, report, err := csr.FromEdges(4, pairs, csr.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := &datasets.Graph{Name: "path", Edges: edges, Labels: []int32{0, 0, 1, datasets.Unlabelled},
		Classes:  []string{"near", "far"},
		Features: datasets.Features{Rows: 4, Width: 2, Dense: []float32{1, 0, 0.5, 0.5, 0, 1, 0, 2}}}
	fmt.Println(report, g.Check())
	// Output:
	// 3 edges (4 pairs listed, 0 self-loops and 1 duplicates dropped) <nil>
}

func ExampleCora() {
	g, err := datasets.Cora()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.NumNodes(), "papers,", g.Report)
	fmt.Println(g.NodeIDs[0], "is about", g.Classes[g.Labels[0]])
	// Output:
	// 2708 papers, 5278 edges (5429 pairs listed, 0 self-loops and 151 duplicates dropped)
	// 31336 is about Neural_Networks
}

func ExampleStratified() {
	g, err := datasets.Cora()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(s.Train), len(s.Validation), len(s.Test), s.Hash())
	// Output: 271 244 2193 0c3f4929a356a7ec
}

func ExampleNewView() {
	g, err := datasets.Cora()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	view, err := datasets.NewView(g, s, datasets.Inductive, datasets.AllEdges)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range []datasets.Phase{view.Train, view.Validation, view.Test} {
		fmt.Println(p.Edges.NumNodes(), "nodes,", p.Edges.NumEdges()/2, "edges,", len(p.Score), "scored")
	}
	// Output:
	// 271 nodes, 53 edges, 271 scored
	// 515 nodes, 187 edges, 244 scored
	// 2708 nodes, 5278 edges, 2193 scored
}
