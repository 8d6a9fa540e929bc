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

// Theorem 1: a network computes the same for a node on its aggregation tree as on the graph.
func ExampleCheck() {
	b, err := backend.Open("go")
	check(err)
	graph, err := datasets.Cora()
	check(err)
	network := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{16}}, nmgnn.GIN{Width: []int{7}}}}
	untrained, err := infer.Untrained(b, network, graph.Features.Width, 1)
	check(err)
	result, err := theorem.Check(context.Background(), b, untrained, graph, 5, theorem.Options{})
	check(err)
	fmt.Println(result.TreeNodes, "tree nodes; the same:", result.Holds())
	// Output: 15 tree nodes; the same: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
