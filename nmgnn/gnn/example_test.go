package gnn_test

import (
	"fmt"
	"os"

	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/fnn"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/gnn"
)

// Example classifies Cora's nodes in a model function, with GoMLX's trainer, layers, optimizer and checkpoints.
func Example() {
	data, err := datasets.Cora()
	check(err)
	opened, err := gobackend.New("ops_sequential") // or compute.New, for XLA
	check(err)
	b, err := backend.Adopt(opened)
	check(err)
	edges, n := gnn.New(data.Edges), data.NumNodes()

	store := model.NewStore()
	modelFn := func(scope *model.Scope, in []*graph.Node) *graph.Node {
		mask := gnn.DrawMask(scope, edges, in[0], 0.5) // nil outside training
		x := fnn.New(scope.In("embed"), in[0], 32).Done()
		x = activation.Relu(gnn.GIN(scope.In("gin"), edges, x, 32).Mask(mask).Done())
		x = layers.DropoutStatic(scope.In("dropout"), x, 0.5)
		return gnn.GAT(scope.In("gat"), edges, x, 1, data.NumClasses()).Mask(mask).Done()
	}
	adam := optimizer.Adam().LearningRate(0.01).Done()
	trainer := train.NewTrainer(b.Backend, store, modelFn, crossEntropy, adam, nil, nil)
	split, err := datasets.Stratified(data, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	check(err)
	labels := make([]int32, n) // -1: not in the loss
	for v := range labels {
		labels[v] = -1
	}
	for _, v := range split.Train {
		labels[v] = data.Labels[v]
	}
	x := data.Features.Stored(false).Dense
	inputs := func() []*tensors.Tensor { // a step consumes its batch
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, n, data.Features.Width)}
	}
	for range 30 {
		_, err := trainer.TrainStep(train.Batch{Inputs: inputs(),
			Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(labels, n, 1)}})
		check(err)
	}

	logits, err := model.CallOnce(b.Backend, store, func(scope *model.Scope, x *graph.Node) *graph.Node {
		return modelFn(scope, []*graph.Node{x})
	}, inputs()[0])
	check(err)
	right := 0
	for v, row := range logits.Value().([][]float32) {
		best := 0
		for c := range row {
			if row[c] > row[best] {
				best = c
			}
		}
		if int32(best) == data.Labels[v] {
			right++
		}
	}
	fmt.Println("more than two in three are right:", 3*right > 2*n)

	folder, err := os.MkdirTemp("", "cora")
	check(err)
	defer os.RemoveAll(folder)
	saved, err := checkpoint.Build(store).Dir(folder).ExcludeVars(edges.Variables(store)...).Done()
	check(err)
	check(saved.Save())
	// Output: more than two in three are right: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
