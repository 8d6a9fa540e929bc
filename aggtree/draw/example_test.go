package draw_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/csr"
)

func ExampleWrite() {
	// Ann, Bob and Cy know each other, and Dot knows Cy.
	g, _, err := csr.FromEdges(4, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 2}, {Node: 0, Neighbour: 2},
		{Node: 2, Neighbour: 3}}, csr.Options{})
	if err != nil {
		log.Fatal(err)
	}
	tree, err := aggtree.Build(context.Background(), g, 3, 2, aggtree.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := draw.Write(os.Stdout, tree, draw.Text,
		draw.Options{Names: []string{"ann", "bob", "cy", "dot"}}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// dot
	// └─ cy
	//    ├─ ann
	//    ├─ bob
	//    └─ dot
}

func ExamplePaperFigures() {
	for _, f := range draw.PaperFigures() {
		fmt.Printf("figure %d: %s (%d panels)\n", f.Number, f.Title, len(f.Panels))
	}
	// Output:
	// figure 1: The transductive setting (1 panels)
	// figure 2: The inductive setting (2 panels)
	// figure 3: A graph and the aggregation trees of its node a (4 panels)
	// figure 4: Not the 2-aggregation tree of a, although the paths are right (2 panels)
	// figure 5: A node v arrives after training (2 panels)
	// figure 6: The tree of v as computed from the cache (1 panels)
	// figure 7: 2-aggregation trees of a, by the nodes that are masked (4 panels)
}
