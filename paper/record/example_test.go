package record_test

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// A cell is named by what sets it apart from its model's preset.
func ExampleCell() {
	cell := record.NewCell("cora", "gat", datasets.Inductive, 10)
	deep := cell.Masked(0.5).With(func(p *hyper.Parameters) { p.Layers = 4 })
	fmt.Println(cell.Key())
	fmt.Println(deep.Key())
	fmt.Println(deep.Label(cell, 0.5))
	fmt.Println(deep.Command(10))
	// Output:
	// cora/gat/inductive/10%
	// cora/gat/inductive/10%/keep=0.5/layers=4
	// GAT + NM, layers 4
	// nodemask train --data cora --model gat --setting inductive --train 10 --trials 10 --keep-rate 0.5 --layers 4 --json
}

// trial is a record as package measure makes it, with a score.
func trial(c record.Cell, seed uint64, f1 float64) record.Record {
	return record.Record{Cell: c.Key(), Data: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Parameters: c.Parameters, Seed: seed, SplitSeed: 1, SplitHash: "5eed", MacroF1: f1, Backend: "go"}
}

// Cells are compared over trials of equal seeds.
func ExampleResults() {
	plain := record.NewCell("cora", "gin", datasets.Transductive, 10)
	masked := plain.Masked(0.5)
	results := record.NewResults([]record.Record{
		trial(plain, 1, 78.5), trial(plain, 2, 79), trial(plain, 3, 78),
		trial(masked, 1, 79.5), trial(masked, 2, 80.5), trial(masked, 3, 79.5)})
	c := results.Compare(masked, record.MacroF1, plain, record.MacroF1)
	fmt.Printf("%d pairs, %+.2f, p = %.3f\n", c.Trials, c.Difference, c.P)
	// Output: 3 pairs, +1.33, p = 0.015
}
