package record_test

import (
	"fmt"
	"os"

	"nodemask/datasets"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

// Other and later programs find what was added.
func ExampleStore() {
	folder, err := os.MkdirTemp("", "results")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	cell := record.NewCell("cora", "gin", datasets.Transductive, 10)
	if err := record.Open(folder).Add(recordtest.Record(cell, 1, 78.5)); err != nil {
		fmt.Println(err)
		return
	}
	records, err := record.Open(folder).Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range records {
		fmt.Println(r.Cell, "seed", r.Seed, "macro F1", r.MacroF1)
	}
	// Output: cora/gin/transductive/10% seed 1 macro F1 78.5
}
