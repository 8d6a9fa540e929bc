package hyper_test

import (
	"fmt"

	"nodemask/nmgnn/hyper"
)

// Start from a model's preset and change it. Masking removes attention dropout.
func ExampleFor() {
	p, err := hyper.For("gat")
	if err != nil {
		fmt.Println(err)
		return
	}
	masked := p.WithMasking(0.5)
	masked.Layers = 3
	fmt.Println(p.AttentionDropout, masked.AttentionDropout, masked.KeepRate, masked.Check())
	// Output: 0.6 0 0.5 <nil>
}
