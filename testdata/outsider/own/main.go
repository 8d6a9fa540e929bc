// A user's program: GoMLX's trainer trains a model of the user's, on a backend that GoMLX opened.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/dataset"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/metric"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/gnn"
)

func main() {
	config := os.Getenv("GOMLX_BACKEND")
	if config == "go" {
		config += ":ops_sequential" // GoMLX's parallel operations can hang on few cores
	}
	b := must(backend.Adopt(must(compute.NewWithConfig(config))))
	g := must(datasets.SBM(context.Background(), datasets.SBMOptions{Nodes: 200, Classes: 3, FeatureSignal: 2, Seed: 1}))
	edges := gnn.New(g.Edges).WithFeatures(g.Features)
	modelFn := func(scope *model.Scope, in []*Node) *Node {
		mask := gnn.DrawMask(scope, edges, in[0], 0.5)
		x := activation.Relu(gnn.GIN(scope.In("gin"), edges, in[0], 16, 16).Features(0.2).Mask(mask).Done())
		x = layers.DropoutStatic(scope.In("dropout"), x, 0.2)
		return gnn.GAT(scope.In("gat"), edges, x, 1, g.NumClasses()).AttentionDropout(0.2).Mask(mask).Done()
	}
	of := func(third bool) train.Dataset { // if third, the loss counts nodes 0, 3, 6, …; else the rest
		counts := make([]bool, g.NumNodes())
		for v := range counts {
			counts[v] = (v%3 == 0) == third
		}
		return dataset.Const(train.Batch{Inputs: []*tensors.Tensor{tensors.FromScalar(float32(0))},
			Labels: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(g.Labels, g.NumNodes(), 1), tensors.FromValue(counts)}})
	}
	trainer := func(store *model.Store) *train.Trainer {
		return train.NewTrainer(b.Backend, store, modelFn, loss.SparseCategoricalCrossEntropyLogits,
			optimizer.Adam().LearningRate(0.01).WeightDecay(0.001).Done(), nil,
			[]metric.Interface{metric.NewSparseCategoricalAccuracy("accuracy", "acc")})
	}
	accuracy := func(t *train.Trainer) float32 {
		metrics := must(t.Eval(dataset.Take(of(false), 1)))
		return tensors.ToScalar[float32](metrics[len(metrics)-1])
	}

	store := model.NewStore()
	saved := must(checkpoint.Build(store).Dir(os.Args[1]).Done())
	trained := trainer(store)
	must(train.NewLoop(trained).RunSteps(of(true), 60))
	right := accuracy(trained)
	fmt.Println("accuracy above 0.8:", right > 0.8)
	if err := saved.Save(); err != nil {
		panic(err)
	}
	again := model.NewStore()
	must(checkpoint.Load(again).Dir(os.Args[1]).Done())
	fmt.Println("as it was saved:", accuracy(trainer(again)) == right)
	fmt.Println("by nodemask's loops:", strings.Contains(edges.Variables(store)[0].Path(), b.Kernel()) && b.Kernel() == "fused")
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
