package train_test

import (
	"context"
	"fmt"
	"math"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
)

// ExampleExperiment_Run averages three trials of masked GIN on Cora.
func ExampleExperiment_Run() {
	g, err := datasets.Cora()
	check(err)
	b, err := backend.Open("go")
	check(err)
	p, err := hyper.Preset("standard")
	check(err)
	p.KeepRate, p.Hidden, p.MaxEpochs = 0.5, 16, 40
	x := train.Experiment{Graph: g, Parameters: p, Setting: datasets.Inductive, TrainPercent: 10, SplitSeed: 1}
	results, err := x.Run(context.Background(), b, hyper.Seeds(1, 3), train.RunOptions{Jobs: 2})
	check(err)
	mean := 0.0
	for _, r := range results {
		mean += r.Test.MacroF1 / float64(len(results))
	}
	fmt.Println(len(results), "trials; the mean is a share:", mean > 0 && !math.IsNaN(mean) && mean <= 1)
	// Output: 3 trials; the mean is a share: true
}

// Train on four clusters of nodes, one by one.
func ExampleInBatches() {
	ctx := context.Background()
	g, err := datasets.SBM(ctx, datasets.SBMOptions{Nodes: 200, Classes: 3, FeatureSignal: 2, Seed: 1})
	check(err)
	b, err := backend.Open("go")
	check(err)
	p, err := hyper.For("gin")
	check(err)
	x := train.Experiment{Graph: g, Parameters: p, Setting: datasets.Transductive, TrainPercent: 30, SplitSeed: 1}
	results, err := train.InBatches(ctx, b, x, 4, hyper.Seeds(1, 1), train.RunOptions{})
	check(err)
	fmt.Println("macro F1 above 0.8:", results[0].Test.MacroF1 > 0.8)
	// Output: macro F1 above 0.8: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
