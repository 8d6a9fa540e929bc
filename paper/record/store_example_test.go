package record_test

import (
	"fmt"
	"os"
	"strings"

	"nodemask/datasets"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

// Other and later programs find added records.
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
	store := record.Open(folder)
	trials, err := store.Trials(cell)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range trials {
		fmt.Println(r.Cell, "seed", r.Seed, "macro F1", r.MacroF1)
	}
	_, err = store.Trials(record.NewCell("cora", "gin", datasets.Inductive, 10))
	for part := range strings.SplitSeq(strings.ReplaceAll(err.Error(), folder, "results"), "; ") {
		fmt.Println(part)
	}
	// Output:
	// cora/gin/transductive/10% seed 1 macro F1 78.5
	// results has no trial of cora/gin/inductive/10%
	// there are trials of 1 other cells of that data set and model, such as cora/gin/transductive/10%
	// measure.Missing records such trials
	// nodemask train --data cora --model gin --setting inductive --train 10 --trials 10 --json shows them
}
