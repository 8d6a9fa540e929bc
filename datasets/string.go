package datasets

import (
	"fmt"
	"strconv"
	"strings"
)

// String returns the graph in a line: "Graph(cora: 2,708 nodes, 5,278 edges, 1,433 features, 7 classes)".
func (g *Graph) String() string {
	if g == nil || g.Edges == nil {
		return "Graph(empty)"
	}
	return fmt.Sprintf("Graph(%s: %s nodes, %s edges, %s features, %s classes)", g.Name, grouped(g.NumNodes()),
		grouped(g.Edges.NumEdges()/2), grouped(g.Features.Width), grouped(g.NumClasses()))
}

// String returns the split in a line: "Split(271 train, 244 validation, 2,193 test nodes; seed 1)".
func (s *Split) String() string {
	if s == nil {
		return "Split(none)"
	}
	return fmt.Sprintf("Split(%s train, %s validation, %s test nodes; seed %d)", grouped(len(s.Train)),
		grouped(len(s.Validation)), grouped(len(s.Test)), s.Seed)
}

// String returns the view in a line: "View(inductive: 270 nodes to train on, 514 to validate, 2,708 to test)".
func (v *View) String() string {
	return fmt.Sprintf("View(%s: %s nodes to train on, %s to validate, %s to test)", v.Setting,
		grouped(len(v.Train.Nodes)), grouped(len(v.Validation.Nodes)), grouped(len(v.Test.Nodes)))
}

// grouped returns n with its thousands apart: 1,039.
func grouped[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	var b strings.Builder
	for i, d := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
