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
