package csr_test

import (
	"fmt"

	"nodemask/csr"
)

func ExampleFromEdges() {
	g, report, err := csr.FromEdges(4, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 0},
		{Node: 1, Neighbour: 2}, {Node: 3, Neighbour: 3}}, csr.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report)
	fmt.Println(g.Neighbours(1), g.Degree(3), g.IsSymmetric())
	// Output:
	// 2 edges (4 pairs listed, 1 self-loops and 1 duplicates dropped)
	// [0 2] 0 true
}

func ExampleGraph_Induced() {
	g, _, err := csr.FromEdges(4, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 3}, {Node: 2, Neighbour: 3}},
		csr.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	sub, index, err := g.Induced([]int32{1, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sub.Neighbours(0), index)
	// Output: [1] [-1 0 -1 1]
}
