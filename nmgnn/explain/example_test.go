package explain_test

import (
	"context"
	"fmt"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/explain"
	"nodemask/nmgnn/infer"
)

// The shares of a node's branches add up to their effect on its logit.
func ExampleNode() {
	b, err := backend.Open("go")
	check(err)
	edges, _, err := csr.FromEdges(3, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 0, Neighbour: 2}}, csr.Options{})
	check(err)
	g := &datasets.Graph{Name: "star", Edges: edges, Labels: []int32{0, 1, 1}, Classes: []string{"a", "b"},
		Features: datasets.Features{Rows: 3, Width: 1, Dense: []float32{1, 2, 4}}}
	m := infer.Model{Model: nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{2}}}}, Weights: []infer.Weight{
		{Path: "/model/layer0/linear0/weights", Dimensions: []int{1, 2}, Values: []float32{0, 1}},
		{Path: "/model/layer0/linear0/biases", Dimensions: []int{1, 2}, Values: []float32{0, 0}}}}
	e, err := explain.Node(context.Background(), b, m, g, 0, explain.Options{})
	check(err)
	fmt.Println("logit", e.Logit(), "alone", e.Alone)
	// Output: logit 7 alone 1
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
