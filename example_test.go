package nodemask_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"nodemask"
)

// rings returns two rings of 30 nodes. One node in six is unlabelled; features are 1 and the ring's number with noise.
func rings() (nodes int, pairs [][2]int32, features []float32, labels []int32) {
	for v := range int32(60) {
		ring := v / 30
		pairs = append(pairs, [2]int32{v, ring*30 + (v+1)%30}, [2]int32{v, ring*30 + (v+2)%30})
		features = append(features, float32(ring)+float32(v*7%11)/10-0.5, 1)
		if v%6 == 5 {
			ring = -1
		}
		labels = append(labels, ring)
	}
	return 60, pairs, features, labels
}

func ExampleTrain() {
	ctx := context.Background()
	nodes, pairs, features, labels := rings()
	g, err := nodemask.NewGraph(nodes, pairs, features, 2, labels)
	check(err)
	m, err := nodemask.Train(ctx, g, nodemask.GIN(), nodemask.KeepRate(0.5), nodemask.TrainPercent(50),
		nodemask.Backend("go"))
	check(err)
	defer m.Close()
	class, p, err := m.Predict(ctx, 5)
	check(err)
	fmt.Println("node 5:", class, p > 0.5)

	folder, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(folder)
	check(m.Save(filepath.Join(folder, "m.safetensors")))
	m, err = nodemask.LoadModel(filepath.Join(folder, "m.safetensors"))
	check(err)
	defer m.Close()
	fresh, err := m.PredictNew(ctx, nodemask.Node{ID: "a", Features: []float32{1, 1}, Neighbours: []string{"33", "37"}})
	check(err)
	fmt.Println("node a:", fresh[0].Class, "from", fresh[0].Neighbours, "nodes")
	// Output:
	// node 5: 0 true
	// node a: 1 from 2 nodes
}

// In a directed graph messages follow the edges.
func ExampleNewDirectedGraph() {
	g, err := nodemask.NewDirectedGraph(3, [][2]int32{{0, 1}, {1, 2}}, []float32{1, 2, 3}, 1, []int32{0, 1, -1})
	check(err)
	fmt.Println(g.Edges.Neighbours(0), g.Edges.Neighbours(1), g.Edges.Neighbours(2), g.NumClasses())
	// Output: [] [0] [1] 2
}

// The aggregation tree of a node, with two nodes masked.
func ExampleTree() {
	nodes, pairs, features, labels := rings()
	g, err := nodemask.NewGraph(nodes, pairs, features, 2, labels)
	check(err)
	t, err := nodemask.Tree(g, 5, 2, 3, 7)
	check(err)
	check(t.Text(os.Stdout))
	var svg bytes.Buffer
	check(t.SVG(&svg))
	// Output:
	// 5
	// ├╌ 3 (masked)
	// ├─ 4
	// │  ├─ 2
	// │  ├╌ 3 (masked)
	// │  ├─ 5
	// │  └─ 6
	// ├─ 6
	// │  ├─ 4
	// │  ├─ 5
	// │  ├╌ 7 (masked)
	// │  └─ 8
	// └╌ 7 (masked)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
