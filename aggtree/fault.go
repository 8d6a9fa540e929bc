package aggtree

import (
	"fmt"
	"strings"
)

// The kinds of faults, in the order in which [Check] looks for them.
const (
	// A node has two parents, lies on a cycle or has no path from the root, or an edge or the root names no node.
	notArborescence = "not an arborescence"
	// The root stands for another node of the graph.
	wrongRoot = "wrong root"
	// A leaf lies above the depth that all leaves must have, though its base has neighbours.
	leafTooEarly = "leaf too early"
	// A path from the root is not a walk of the graph, passes through a masked node, or has too many hops.
	extraWalk = "extra walk"
	// A walk of the graph is not a path from the root.
	missingWalk = "missing walk"
	// The paths are the right ones, but two siblings stand for one node of the graph.
	notSmallest = "not the smallest"
)

// Fault says why a candidate is not the aggregation tree.
type Fault struct {
	// Kind is what is wrong: "not an arborescence", "wrong root", "leaf too early", "extra walk", "missing walk" or "not
	// the smallest".
	Kind string
	// Nodes lists the nodes of the candidate to blame: a node and its parents if it is not an arborescence, the two
	// siblings if it is not the smallest, the node that lacks a child if a walk is missing, or else the node where the
	// path goes wrong.
	Nodes []int32
	// Walk lists the bases on the path, from the root to where it goes wrong, or the walk that is missing. It is nil
	// if the candidate is not an arborescence, since there are no paths.
	Walk []int32

	text string
}

// Error says what is wrong, and where.
func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Kind, f.text) }

// walkText returns a walk as 0-3-1.
func walkText(walk []int32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(walk), " ", "-"), "[]")
}
