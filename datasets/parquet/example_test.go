package parquet_test

import (
	"context"
	"fmt"

	"nodemask/datasets"
	"nodemask/datasets/parquet"
)

func ExampleReader() {
	g, err := datasets.Open(context.Background(), "../testdata/formats/parquet",
		datasets.OpenOptions{Readers: []datasets.Reader{parquet.Reader{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.NumNodes(), "nodes,", g.Report)
	// Output: 8 nodes, 7 edges (8 pairs listed, 1 self-loops and 0 duplicates dropped)
}
