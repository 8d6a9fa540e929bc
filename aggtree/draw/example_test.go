package draw_test

import (
	"context"
	"log"
	"os"

	"nodemask/aggtree"
	"nodemask/aggtree/draw"
	"nodemask/csr"
)

func ExampleWriteText() {
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
	if err := draw.WriteText(os.Stdout, tree,
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
