package datasets

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
)

// The path a-b-c with classes 1, 1 and 2, an unlabelled node d, and features that are 1 and 0 throughout.
func TestDescribeCountsByHand(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		g, err := ReadMemory(t.Context(), "path",
			map[string][]byte{"nodes.csv": []byte(
				"id,label,one,zero,x,last\na,1,1,0,2,0\nb,1,1,0,2,0\nc,2,1,0,0,0\nd,,1,0,2,1\n"),
				"edges.csv": []byte("source,target\na,b\nb,c\nb,a\nc,c\n")})
		require.NoError(t, err)
		g.Features = g.Features.Stored(sparse)
		d := Describe(g)
		share := 0.5                // a-b of a-b and b-c
		first, second := 2.0/3, 0.0 // of a's and b's neighbours b, a and c; of c's, b
		assert.Equal(t, Description{Name: "path", Source: "nodes.csv, edges.csv", Format: "CSV",
			Nodes: 4, Edges: 2, Listed: 4, SelfLoops: 1, Duplicates: 1, Reverses: 1,
			MeanDegree: 1, MedianDegree: 1, MaxDegree: 2, Isolated: 1, Degrees: []DegreeCount{{0, 0, 1}, {1, 1, 2}, {2, 2, 1}},
			Features: 4, Sparse: sparse, NonZeros: 8, Constant: 2, Classes: []ClassCount{{"1", 2, &first, 0.75},
				{"2", 1, &second, 0.25}}, Unlabelled: 1, EdgeHomophily: &share,
			Notes: []string{"1 self-loops and 0 repeated edges are dropped"},
			Warnings: []string{"2 of 2 classes have fewer than 3 nodes, too few for train, validation and test nodes each: 1 " +
				"(2), 2 (1)", "2 of 4 features are the same on all nodes"}}, d)
	}
}

func TestDescribeWarns(t *testing.T) {
	for nodes, says := range map[string][]string{
		"id,label,x\na,a,1\nb,b,2\nc,c,3\nd,d,4\n": {"every labelled node has a class of its own: the labels may be names",
			"no edges: there is nothing to aggregate"},
		"id,label,x\na,a,1\nb,a,1\nc,a,1\n": {"number of classes: 1, expected at least two to tell apart",
			"all features are the same on all nodes: they say nothing", "no edges: there is nothing to aggregate"},
		"id,label\na,\n": {"number of classes: 0, expected at least two to tell apart",
			"the nodes have no features", "no edges: there is nothing to aggregate"},
	} {
		g, err := ReadMemory(t.Context(), "g", map[string][]byte{"nodes.csv": []byte(nodes),
			"edges.csv": []byte("source,target\n")})
		require.NoError(t, err)
		assert.Equal(t, says, Describe(g).Warnings)
	}
}

func ExampleDescribe() {
	g, err := Cora()
	if err != nil {
		fmt.Println(err)
		return
	}
	d := Describe(g)
	fmt.Printf("mean degree %.2f, homophily %.3f, %d isolated\n", d.MeanDegree, *d.EdgeHomophily, d.Isolated)
	// Output: mean degree 3.90, homophily 0.810, 0 isolated
}

func TestATextIsTheIDOfANodeBeforeItIsANumber(t *testing.T) {
	edges, err := csr.New(make([]int64, 5), nil)
	require.NoError(t, err)
	g := &Graph{Edges: edges, NodeIDs: []string{"1", "b", "2", "9"}}
	for text, want := range map[string][2]int32{"1": {0, 1}, "2": {2, -1}, "b": {1, -1}, "9": {3, -1}, "0": {0, -1},
		"3": {3, -1}, "4": {-1, -1}, "-1": {-1, -1}, "": {-1, -1}} {
		node, also := g.FindNode(text)
		require.Equal(t, want, [2]int32{node, also}, text)
	}
	node, also := (&Graph{Edges: g.Edges}).FindNode("3")
	require.Equal(t, [2]int32{3, -1}, [2]int32{node, also}, "without ids, numbers")
}
