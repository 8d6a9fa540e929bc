package aggtree

import (
	"fmt"
	"strings"
)

// Kind is what is wrong with a candidate for an aggregation tree.
type Kind int

// The kinds of faults, in the order in which [Check] looks for them.
const (
	// NotArborescence: a node has two parents, lies on a cycle or cannot be reached, or an edge or the root names no node.
	NotArborescence Kind = iota + 1
	// WrongRoot: the root stands for another node of the graph.
	WrongRoot
	// LeafTooEarly: a leaf lies above the depth that all leaves must have, though its base has neighbours.
	LeafTooEarly
	// ExtraWalk: a path from the root is no walk of the graph, passes through a masked node, or has too many hops.
	ExtraWalk
	// MissingWalk: a walk of the graph is no path from the root.
	MissingWalk
	// NotSmallest: the paths are the right ones, but two siblings stand for one node of the graph.
	NotSmallest
)

// String is the kind in words.
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
	// Nodes are the nodes of the candidate to blame: for NotArborescence a node and its parents, for NotSmallest the two
	// siblings, for MissingWalk the node that lacks a child, for others the node where the path goes wrong.
	Nodes []int32
	// Walk is the bases on the path in question, from the root to where it goes wrong or where a walk is missing. For
	// NotArborescence it is nil: there are no paths to speak of.
	Walk []int32

	text string
}

// Error says in a sentence what is wrong, and where.
func (f *Fault) Error() string { return fmt.Sprintf("aggtree: %v: %s", f.Kind, f.text) }

// walkText writes a walk as 0-3-1.
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
