package nmgnn_test

import (
	"context"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
)

// Highway is a custom layer: h'_v = g_v ⊙ W·h_v + (1-g_v) ⊙ Σ_{u∈N_v} δ(u)·W·h_u/|N_v|, with gate g_v = σ(U·h_v + b).
// Its own term is not masked.
type Highway struct{ Width int }

// Forward returns [nodes, Width] for h [nodes, in].
func (l Highway) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	g := h.Graph()
	own := h.Times(nmgnn.GlorotWeights(scope, g, "weights", h.Width(), l.Width))
	gate := Sigmoid(Add(h.Times(nmgnn.GlorotWeights(scope, g, "gate", h.Width(), l.Width)),
		nmgnn.ZeroWeights(scope, g, "gate_biases", 1, l.Width)))
	mean := near.Mean(own, mask)
	return Add(Mul(gate, own), Mul(OneMinus(gate), mean))
}

// A custom layer takes a dozen lines and trains like any other.
func Example_ownLayer() {
	b, err := backend.Open("go")
	check(err)
	graph, err := datasets.SBM(context.Background(), datasets.SBMOptions{Nodes: 300, Classes: 3, FeatureSignal: 2,
		Seed: 1})
	check(err)
	p, err := hyper.For("gin")
	check(err)
	p.NormalizeFeatures, p.WeightDecay, p.MaxEpochs = false, 0, 200
	m := nmgnn.Model{Layers: []nmgnn.Layer{Highway{Width: 16}, Highway{Width: graph.NumClasses()}}, Dropout: 0.2}
	x := train.Experiment{Graph: graph, Own: &m, Parameters: p.WithMasking(0.5), Setting: datasets.Inductive,
		TrainPercent: 20, SplitSeed: 1}
	results, err := x.Run(context.Background(), b, []uint64{1}, train.RunOptions{})
	check(err)
	fmt.Println("macro F1 above 0.85:", results[0].Test.MacroF1 > 0.85)
	// Output: macro F1 above 0.85: true
}

// Attention with custom scores: each head weighs u by a number that depends on u only.
func ExampleNeighbours() {
	pool := func(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
		near = near.WithSelf()
		wh := h.Times(nmgnn.GlorotWeights(scope, h.Graph(), "weights", h.Width(), 8))
		scores := h.Times(nmgnn.GlorotWeights(scope, h.Graph(), "scores", h.Width(), 2)) // two heads
		alpha := near.Softmax(near.Sources(scores))
		return near.WeightedSum(alpha, wh, mask) // each head weighs four of the eight columns
	}
	fmt.Printf("%T\n", pool)
	// Output: func(*model.Scope, nmgnn.Neighbours, nmgnn.Input, *graph.Node) *graph.Node
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
