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
