package aggtree

import (
	"fmt"
	"strings"
)

// Kinds of faults, in [Check]'s order.
const (
	// A node has two parents, lies on a cycle or has no path from the root; or an edge or the root is out of range.
	notArborescence = "not an arborescence"
	// The root has another base.
	wrongRoot = "wrong root"
	// A leaf lies above depth hops, though its base has neighbours.
	leafTooEarly = "leaf too early"
	// A path from the root is not a walk of the graph, passes a masked node or has too many hops.
	extraWalk = "extra walk"
	// A walk of the graph is not a path from the root.
	missingWalk = "missing walk"
	// The paths are right, but two siblings have the same base.
	notSmallest = "not the smallest"
)

// Fault is why a candidate is not the aggregation tree; its error names the nodes and the walk.
type Fault struct {
	// Kind is "not an arborescence", "wrong root", "leaf too early", "extra walk", "missing walk" or "not the
	// smallest".
	Kind string
	text string
}

// Error returns the kind and the place.
func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Kind, f.text) }

func faultOf(kind, format string, arguments ...any) *Fault {
	return &Fault{kind, fmt.Sprintf(format, arguments...)}
}

func walkText(walk []int32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(walk), " ", "-"), "[]")
}
