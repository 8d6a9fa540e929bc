package theorem_test

import (
	"context"
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/theorem"
)

// Theorem 1: a network gives a node the same on its aggregation tree as on the graph.
func ExampleCheck() {
	b, err := backend.Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	graph, err := datasets.Cora()
	if err != nil {
		fmt.Println(err)
		return
	}
	network := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{16}}, nmgnn.GIN{Width: []int{7}}}}
	untrained, err := infer.Untrained(b, network, graph.Features.Width, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	check, err := theorem.Check(context.Background(), b, untrained, graph, 5, theorem.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(check.TreeNodes, "tree nodes; the same:", check.Holds())
	// Output: 15 tree nodes; the same: true
}
