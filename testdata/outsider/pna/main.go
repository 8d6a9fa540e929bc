// A user's program with a layer of its own, Principal Neighbourhood Aggregation (Corso et al. 2020).
package main

import (
	"context"
	"fmt"
	"os"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
)

// PNA is W·[h_v ‖ a ‖ log(|N_v|+1)·a], where a = mean ‖ max ‖ min ‖ std of the neighbours' h_u.
type PNA struct{ Width int }

// Forward maps h [nodes, in] to [nodes, Width].
func (l PNA) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	g, x := h.Graph(), h.Node()
	heard := Concatenate([]*Node{near.Mean(x, mask), near.Max(x, mask), near.Min(x, mask), near.Std(x, mask)}, 1)
	all := Concatenate([]*Node{x, heard, Mul(heard, Log1P(near.Degree(g)))}, 1)
	return Add(nmgnn.Dense(all).Times(nmgnn.GlorotWeights(scope, g, "weights", 9*h.Width(), l.Width)),
		nmgnn.ZeroWeights(scope, g, "biases", 1, l.Width))
}

func main() {
	ctx := context.Background()
	g := must(datasets.SBM(ctx, datasets.SBMOptions{Nodes: 200, Classes: 3, FeatureSignal: 2, Seed: 1}))
	own := nmgnn.Model{Layers: []nmgnn.Layer{PNA{8}, PNA{g.NumClasses()}}}
	m := must(nodemask.Train(ctx, g, nodemask.Own(own), nodemask.KeepRate(0.5), nodemask.TrainPercent(30),
		nodemask.Settings(func(p *hyper.Parameters) { p.MaxEpochs = 50 })))
	defer m.Close()
	fmt.Println("macro F1 above 0.7:", m.Trained.Test.MacroF1 > 0.7)
	if err := m.Save(os.Args[1]); err != nil {
		panic(err)
	}
	again := must(nodemask.LoadOwn(os.Args[1], own))
	defer again.Close()
	whole, back := must(m.PredictAll(ctx, g)), must(again.PredictAll(ctx, g))
	fmt.Println("as it was saved:", whole[7].Class == back[7].Class, whole[7].Probability == back[7].Probability)
	fresh := must(again.PredictNew(ctx, nodemask.Node{ID: "new", Features: make([]float32, g.Features.Width),
		Neighbours: []string{"3", "7"}}))
	fmt.Println("from", fresh[0].Neighbours, "nodes")
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
