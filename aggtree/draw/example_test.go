package draw_test

import (
	"fmt"
	"log"

	"nodemask/aggtree/draw"
)

func ExamplePaperFigure() {
	svg, words, err := draw.PaperFigure("new-node")
	if err != nil {
		log.Fatal(err)
	}
	// A file for a browser: os.WriteFile("figure-5.svg", svg, 0o644).
	fmt.Println(len(svg) > 1000, words)
	// Output: true A node v arrives after training; (a) v enters the graph; (b) Tᵥ², its aggregation tree
}
