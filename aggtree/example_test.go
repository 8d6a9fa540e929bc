package aggtree_test

import (
	"context"
	"fmt"
	"log"

	"nodemask/aggtree"
	"nodemask/csr"
)

// graph is the triangle 0-1-2 with node 3 at 2.
func graph() *csr.Graph {
	g, _, err := csr.FromEdges(4, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 2}, {Node: 0, Neighbour: 2},
		{Node: 2, Neighbour: 3}}, csr.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return g
}

func ExampleBuild() {
	tree, err := aggtree.Build(context.Background(), graph(), 3, 2, aggtree.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range int32(tree.NumNodes()) {
		if tree.IsLeaf(i) {
			fmt.Println(tree.Walk(i))
		}
	}
	// Output:
	// [3 2 0]
	// [3 2 1]
	// [3 2 3]
}

func ExampleVerify() {
	// Two children of the root stand for node 2: the walks are right, but a smaller tree has the same.
	candidate := aggtree.Arborescence{Base: []int32{3, 2, 2}, Edges: [][2]int32{{0, 1}, {0, 2}}}
	statements, err := aggtree.Verify(context.Background(), graph(), 3, 1, candidate, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range statements {
		fmt.Printf("%s (%s): %t\n", s.Name, s.Text, s.Holds())
	}
	fmt.Println(statements[0].Counterexample)
	// Output:
	// definition (the paths are the walks): false
	// lemma 1 (every subtree is an aggregation tree): false
	// lemma 2 (children are the neighbours): false
	// not the smallest: tree nodes 1 and 2 are siblings and both stand for node 2: one would do; their walk is 3-2
}

func ExampleExpect() {
	e, err := aggtree.Expect(context.Background(), graph(), 0, 2, 0.5)
	if err != nil {
		log.Fatal(err)
	}
	// 2 walks of one hop and 5 of two: 2·0.5 and 5·0.25. Of the 5, 2 come back to the root.
	fmt.Println(e.Depth, e.Root, e.Total())
	// Output: [1 1 1.25] [1 0 0.5] 3.25
}
