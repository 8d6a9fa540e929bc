package report_test

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/report"
)

func ExampleFind() {
	artifacts, err := report.Find("table-gin-cora", "fig-depth")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range artifacts {
		fmt.Printf("%s: %s, %d cells\n", a.ID, a.Title, len(a.Cells()))
	}
	// Output:
	// table-gin-cora: Macro F1 of GIN on Cora, 56 cells
	// fig-depth: GIN + NM on Cora over the keep rate, by depth, 10 % to train on, 80 cells
}

// Compare PublishedF1 with measurements of the same cell.
func ExamplePublishedF1() {
	gat := paper.Cell("cora", "gat", datasets.Inductive, 10)
	fmt.Println(report.PublishedF1(gat))
	fmt.Println(report.PublishedF1(paper.Masked(gat, paper.MaskedKeepRate)))
	fmt.Println(report.PublishedF1(gat.Fair()))
	// Output:
	// 40.74 true
	// 51.25 true
	// 0 false
}
