package train_test

import (
	"context"
	"fmt"
	"math"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
)

// ExampleTrainer trains one trial of masked GIN on Cora, on one node in ten and the edges among them.
func ExampleTrainer() {
	g, err := datasets.Cora()
	check(err)
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 10, Seed: 1})
	check(err)
	view, err := datasets.NewView(g, split, datasets.Inductive, datasets.AllEdges)
	check(err)
	b, err := backend.Open("go")
	check(err)
	m := nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GIN{Width: []int{64}}, nmgnn.GIN{Width: []int{g.NumClasses()}}},
		Dropout: 0.5}
	trainer, err := train.New(b, m, g, view, train.Options{
		Mask: nmgnn.Mask{KeepRate: 0.5}, WeightDecay: 5e-4, NormalizeFeatures: true, MaxEpochs: 100})
	check(err)
	defer trainer.Close()
	trial, err := trainer.Train(context.Background(), 1, nil)
	check(err)
	fmt.Printf("%d nodes seen in training, %d tested\n", len(view.Train.Nodes), len(view.Test.Score))
	fmt.Println("better than two in three:", trial.Test.MacroF1 > 2.0/3)
	// Output:
	// 271 nodes seen in training, 2193 tested
	// better than two in three: true
}

// ExampleExperiment_Run averages three trials.
func ExampleExperiment_Run() {
	g, err := datasets.Cora()
	check(err)
	b, err := backend.Open("go")
	check(err)
	p, err := hyper.Preset("standard")
	check(err)
	p.KeepRate, p.Hidden, p.MaxEpochs = 0.5, 16, 40
	x := train.Experiment{Graph: g, Parameters: p, Setting: datasets.Inductive, Arrivals: datasets.AllEdges,
		TrainPercent: 10, SplitSeed: 1}
	results, err := x.Run(context.Background(), b, hyper.Seeds(1, 3), train.RunOptions{Jobs: 2})
	check(err)
	mean := 0.0
	for _, r := range results {
		mean += r.Test.MacroF1 / float64(len(results))
	}
	fmt.Println(len(results), "trials; the mean is a share:", mean > 0 && !math.IsNaN(mean) && mean <= 1)
	// Output: 3 trials; the mean is a share: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
