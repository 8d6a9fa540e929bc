package stats_test

import (
	"fmt"

	"nodemask/stats"
)

// Two ways to train with the same seeds: trials are pairs.
func ExamplePairedTTest() {
	test, err := stats.PairedTTest([]float64{71, 73, 72, 74}, []float64{70, 71, 71, 72})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("p = %.3f\n", test.P)
	// Output: p = 0.014
}
