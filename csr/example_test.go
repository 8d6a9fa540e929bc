package csr_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/simple"

	"nodemask/csr"
)

func ExampleFromEdges() {
	g, report, err := csr.FromEdges(4, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 0},
		{Node: 1, Neighbour: 2}, {Node: 3, Neighbour: 3}}, csr.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report)
	fmt.Println(g.Neighbours(1), g.Degree(3), g.IsSymmetric())
	// Output:
	// 2 edges (4 pairs listed, 1 self-loops and 1 duplicates dropped)
	// [0 2] 0 true
}

// gonum's ids need not be successive.
func ExampleFromGonum() {
	g := simple.NewUndirectedGraph()
	for _, pair := range [][2]simple.Node{{10, 30}, {30, 20}} {
		g.SetEdge(g.NewEdge(pair[0], pair[1]))
	}
	edges, ids, err := csr.FromGonum(g)
	fmt.Println(ids, edges.Neighbours(2), edges.IsSymmetric(), err)
	// Output: [10 20 30] [0 1] true <nil>
}

func TestDirectedEdgesOfGonumLeadToWhoAggregates(t *testing.T) {
	g := multi.NewDirectedGraph()
	for _, pair := range [][2]multi.Node{{7, 5}, {7, 5}, {5, 9}, {9, 9}} {
		g.SetLine(g.NewLine(pair[0], pair[1]))
	}
	edges, ids, err := csr.FromGonum(g)
	require.NoError(t, err)
	require.Equal(t, []int64{5, 7, 9}, ids)
	require.Equal(t, [][]int32{{1}, {}, {0}}, [][]int32{edges.Neighbours(0), edges.Neighbours(1), edges.Neighbours(2)})
}
