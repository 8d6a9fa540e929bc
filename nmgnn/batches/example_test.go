package batches_test

import (
	"context"
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/batches"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
)

// Train on four clusters of nodes, one after the other.
func ExampleRun() {
	ctx := context.Background()
	g, err := datasets.SBM(ctx, datasets.SBMOptions{Nodes: 200, Classes: 3, FeatureSignal: 2, Seed: 1})
	check(err)
	b, err := backend.Open("go")
	check(err)
	p, err := hyper.For("gin")
	check(err)
	x := train.Experiment{Graph: g, Parameters: p, Setting: datasets.Transductive, TrainPercent: 30, SplitSeed: 1}
	results, err := batches.Run(ctx, b, x, batches.Options{Clusters: 4}, hyper.Seeds(1, 1), train.RunOptions{})
	check(err)
	fmt.Println("macro F1 above 0.8:", results[0].Test.MacroF1 > 0.8)
	// Output: macro F1 above 0.8: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
