package cached_test

import (
	"context"
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/cached"
)

// A saved model holds its weights by path, and its training settings.
func ExampleLoadModel() {
	m, err := cached.LoadModel("testdata/pyg/gat.safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Settings.Model, m.Settings.Heads, "heads,", m.Features, "features, classes", m.Classes)
	for _, w := range m.Weights[:3] {
		fmt.Println(w.Path, w.Dimensions)
	}
	// Output:
	// gat 2 heads, 5 features, classes [x y z]
	// /model/layer0/weights [5 6]
	// /model/layer0/source [2 3]
	// /model/layer0/target [2 3]
}

// A model and its cache predict a new node, joined to two nodes of the cache.
func ExamplePredictor() {
	m, err := cached.LoadModel("testdata/gatv2.safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	kept, err := cached.LoadCache("testdata/gatv2.safetensors", m)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer kept.Close()
	b, err := backend.Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := cached.NewPredictor(b, m, kept)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	arrives := &datasets.Newcomers{IDs: []string{"new"}, Known: [][]int32{{0, 3}},
		Features: datasets.Features{Rows: 1, Width: 4, Dense: []float32{1, 0, 0, 1}}}
	err = p.Predict(context.Background(), arrives, func(got cached.Prediction) error {
		fmt.Printf("%s: %s, %.2f, from %d nodes of the cache\n", got.ID, got.Class, got.Probability, got.Neighbours)
		return nil
	})
	fmt.Println(err)
	// Output:
	// new: even, 0.66, from 2 nodes of the cache
	// <nil>
}
