// Package nodemask trains graph neural networks with node masking (arXiv 2001.07524), saves them, predicts with them,
// and draws their aggregation trees:
//
//	g, err := nodemask.NewGraph(nodes, pairs, features, width, labels)
//	m, err := nodemask.Train(ctx, g, nodemask.GIN(), nodemask.KeepRate(0.5))
//	class, p, err := m.Predict(ctx, 17)
//	err = m.Save("m.safetensors")
//
// Packages with more options: datasets (graphs, file formats), nmgnn (layers), nmgnn/train (experiments of many
// trials), nmgnn/cached and nmgnn/infer (prediction), aggtree (trees).
package nodemask

import (
	"fmt"
	"strconv"

	"nodemask/csr"
	"nodemask/datasets"
)

// NewGraph returns an undirected graph of nodes 0 to nodes-1. pairs lists each edge in either direction; repeats and
// self-loops are dropped. features holds a row for each node: [nodes, width]. labels holds a class for each node, from
// 0, or -1 if unknown. Numbers out of range are errors.
func NewGraph(nodes int, pairs [][2]int32, features []float32, width int, labels []int32) (*datasets.Graph, error) {
	return newGraph(nodes, pairs, features, width, labels, false)
}

// NewDirectedGraph is [NewGraph] for directed edges: with the edge {u, v}, v aggregates from u, but u not from v.
func NewDirectedGraph(nodes int, pairs [][2]int32, features []float32, width int,
	labels []int32) (*datasets.Graph, error) {
	return newGraph(nodes, pairs, features, width, labels, true)
}

func newGraph(nodes int, pairs [][2]int32, features []float32, width int, labels []int32,
	directed bool) (*datasets.Graph, error) {
	if width < 1 || len(features) != nodes*width {
		return nil, fmt.Errorf("%d numbers as features of width %d for %d nodes: expected %d, and a width of at least 1",
			len(features), width, nodes, nodes*max(width, 1))
	}
	edges, report, err := csr.FromSeq(nodes, func(yield func(int32, int32) bool) {
		for _, pair := range pairs {
			if !yield(pair[1], pair[0]) {
				return
			}
		}
	}, csr.Options{Directed: directed})
	if err != nil {
		return nil, err
	}
	g := &datasets.Graph{Name: "graph", Edges: edges, OneWay: directed, Labels: labels, Source: "memory", Report: report,
		Features: datasets.Features{Rows: nodes, Width: width, Dense: features}}
	for v, label := range labels {
		if int(label) >= nodes {
			return nil, fmt.Errorf("node %d has label %d: expected a class from 0 to %d, or -1 for none", v, label, nodes-1)
		}
		for int(label) >= len(g.Classes) {
			g.Classes = append(g.Classes, strconv.Itoa(len(g.Classes)))
		}
	}
	return g, g.Check()
}
