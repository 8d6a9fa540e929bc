package paper_test

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/paper"
)

// The plain cell drops attention instead.
func ExampleMasked() {
	plain := paper.Cell("cora", "gat", datasets.Inductive, 10)
	masked := paper.Masked(plain, paper.MaskedKeepRate)
	fmt.Println(plain.Parameters.AttentionDropout, masked.Parameters.AttentionDropout)
	fmt.Println(plain.Parameters.KeepRate.Probability(), masked.Parameters.KeepRate.Probability())
	// Output:
	// 0.6 0
	// 1 0.5
}
