package paper_test

import (
	"context"
	"fmt"
	"os"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/record"
	"nodemask/record/measure"
)

// A cell is named by what sets it apart from its model's preset.
func ExampleCell_Key() {
	cell := record.NewCell("cora", "gat", datasets.Inductive, 10)
	fmt.Println(cell.Key())
	fmt.Println(cell.Masked(0.5).Key())
	fmt.Println(cell.Masked(0.5).Command(10))
	// Output:
	// cora/gat/inductive/10%
	// cora/gat/inductive/10%/keep=0.5
	// nodemask train --data cora --model gat --setting inductive --train 10 --trials 10 --keep-rate 0.5 --json
}

func ExampleFind() {
	artifacts, err := paper.Find("table-gin-cora", "fig-depth")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range artifacts {
		fmt.Printf("%s: %s, %d cells\n", a.ID, a.Title, len(a.Cells()))
	}
	// Output:
	// table-gin-cora: Macro F1 of GIN on Cora, 28 cells
	// fig-depth: GIN + NM on Cora over the keep rate, by depth, 10 % to train on, transductive, 36 cells
}

// Trials that a store has are not run again.
func ExampleRun() {
	folder, err := os.MkdirTemp("", "results")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	backend, err := backend.Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	store := record.OpenStore(folder)
	cell := record.NewCell("sbm", "gin", datasets.Transductive, 20).With(func(s *hyper.Parameters) { s.Hidden, s.MaxEpochs = 8, 3 })
	options := measure.Options{Trials: 2, Open: func(ctx context.Context, data string) (*datasets.Graph, error) {
		return datasets.Open(ctx, "sbm:nodes=60,classes=2", datasets.OpenOptions{})
	}}
	for range 2 {
		ran := 0
		options.Progress = func(s measure.State) {
			if s.Last != nil {
				ran++
			}
		}
		if err := measure.Missing(context.Background(), backend, store, []record.Cell{cell}, options); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ran, "trials run")
	}
	// Output:
	// 2 trials run
	// 0 trials run
}
