package aggtree

import (
	"fmt"
	"strings"
)

// Kind says what is wrong with a candidate for an aggregation tree.
type Kind int

// The kinds of faults, in the order in which [Check] looks for them.
const (
	// NotArborescence: a node has two parents, lies on a cycle or has no path from the root, or an edge or the root
	// names no node.
	NotArborescence Kind = iota + 1
	// WrongRoot: the root stands for another node of the graph.
	WrongRoot
	// LeafTooEarly: a leaf lies above the depth that all leaves must have, though its base has neighbours.
	LeafTooEarly
	// ExtraWalk: a path from the root is not a walk of the graph, passes through a masked node, or has too many hops.
	ExtraWalk
	// MissingWalk: a walk of the graph is not a path from the root.
	MissingWalk
	// NotSmallest: the paths are the right ones, but two siblings stand for one node of the graph.
	NotSmallest
)

// String returns the kind in words.
func (k Kind) String() string {
	names := [...]string{NotArborescence: "not an arborescence", WrongRoot: "wrong root", LeafTooEarly: "leaf too early",
		ExtraWalk: "extra walk", MissingWalk: "missing walk", NotSmallest: "not the smallest"}
	if k < 1 || int(k) >= len(names) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return names[k]
}

// Fault says why a candidate is not the aggregation tree.
type Fault struct {
	// Kind is what is wrong.
	Kind Kind
	// Nodes lists the nodes of the candidate to blame: for NotArborescence a node and its parents, for NotSmallest the
	// two siblings, for MissingWalk the node that lacks a child, for others the node where the path goes wrong.
	Nodes []int32
	// Walk lists the bases on the path, from the root to where it goes wrong, or the walk that is missing. It is nil
	// for NotArborescence, since there are no paths.
	Walk []int32

	text string
}

// Error says what is wrong, and where.
func (f *Fault) Error() string { return fmt.Sprintf("%v: %s", f.Kind, f.text) }

// walkText returns a walk as 0-3-1.
func walkText(walk []int32) string {
	var b strings.Builder
	for i, v := range walk {
		if i > 0 {
			b.WriteByte('-')
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}
