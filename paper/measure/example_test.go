package measure_test

import (
	"context"
	"fmt"
	"os"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/measure"
	"nodemask/paper/record"
)

// Recorded trials are not rerun.
func ExampleMissing() {
	folder, err := os.MkdirTemp("", "results")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	b, err := backend.Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	store := record.Open(folder)
	cell := record.NewCell("sbm", "gin", datasets.Transductive, 20).
		With(func(p *hyper.Parameters) { p.Hidden, p.MaxEpochs = 8, 3 })
	options := measure.Options{Seeds: []uint64{1, 2},
		Open: func(ctx context.Context, data string) (*datasets.Graph, error) {
			return datasets.Open(ctx, "sbm:nodes=60,classes=2", datasets.OpenOptions{})
		}}
	for range 2 {
		ran := 0
		options.Progress = func(s measure.State) {
			if s.Last != nil {
				ran++
			}
		}
		if err := measure.Missing(context.Background(), b, store, []record.Cell{cell}, options); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ran, "trials run")
	}
	// Output:
	// 2 trials run
	// 0 trials run
}
