package paper_test

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/paper"
)

// A masked cell of the paper's tables, and what it is compared with.
func ExampleMasked() {
	plain := paper.Cell("cora", "gat", datasets.Inductive, 10)
	masked := paper.Masked(plain, paper.MaskedKeepRate)
	fmt.Println(paper.Label(plain), "|", paper.Label(masked))
	fmt.Println(plain.Parameters.AttentionDropout, masked.Parameters.AttentionDropout)
	fmt.Println(paper.Unmasked(masked) == plain)
	// Output:
	// GAT | GAT + NM
	// 0.6 0
	// true
}
