package infer_test

import (
	"fmt"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/infer"
)

// A model with weights runs over any graph: this GIN of weight 1 adds up a node and its neighbours.
func ExampleModel_Represent() {
	b, err := backend.Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	m := infer.Model{Model: nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{1}}}}, Weights: []infer.Weight{
		{Path: "/model/layer0/linear0/weights", Dimensions: []int{1, 1}, Values: []float32{1}},
		{Path: "/model/layer0/linear0/biases", Dimensions: []int{1, 1}, Values: []float32{0}}}}
	path, _, err := csr.FromEdges(3, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 2}}, csr.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := m.Represent(b, path, datasets.Features{Rows: 3, Width: 1, Dense: []float32{1, 2, 4}}, infer.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(all[0].Values)
	// Output: [3 7 6]
}
