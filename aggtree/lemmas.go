package aggtree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nodemask/csr"
)

// counterexample says where a lemma fails on a candidate, which is therefore not an aggregation tree.
type counterexample struct {
	// Lemma is 1 or 2.
	Lemma int
	// Node is the node of the candidate where the lemma fails, and Base the node of the graph that it stands for.
	Node, Base int32
	// Depth is the number of levels of the subtree below Node (lemma 1 only).
	Depth int
	// Fault says why the subtree is not an aggregation tree; its walks start at Node (lemma 1 only).
	Fault *Fault
	// Missing lists the unmasked neighbours of Base that no child stands for, Extra the bases of children that are not
	// such neighbours, and Repeated the bases of several children (lemma 2 only).
	Missing, Extra, Repeated []int32
}

// Error says where the lemma fails, and how.
func (c *counterexample) Error() string {
	if c.Lemma == 1 {
		return fmt.Sprintf("lemma 1 fails at tree node %d: its subtree down to depth %d is not the "+
			"%d-aggregation tree of node %d: %s: %s",
			c.Node, c.Depth, c.Depth, c.Base, c.Fault.Kind, c.Fault.text)
	}
	var parts []string
	for _, part := range []struct {
		name  string
		nodes []int32
	}{{"lacks", c.Missing}, {"has besides", c.Extra}, {"repeats", c.Repeated}} {
		if len(part.nodes) > 0 {
			parts = append(parts, fmt.Sprintf("%s %v", part.name, part.nodes))
		}
	}
	return fmt.Sprintf("lemma 2 fails at tree node %d: its child set is not the neighbour set of node %d: it %s",
		c.Node, c.Base, strings.Join(parts, ", "))
}

// lemma1 checks lemma 1 on a candidate for a tree of so many hops: every subtree (any node with its descendants down to
// any depth) is the aggregation tree of the node's base. It returns nil if so, else a [*counterexample]: the smallest
// wrong subtree at the first node that has one. It compares all depths of all subtrees, in time proportional to the
// nodes times hops². For a candidate that is not an arborescence it returns a [*Fault]; other errors are those of
// [Check].
func lemma1(ctx context.Context, g *csr.Graph, hops int, candidate Arborescence, mask []bool) error {
	s, err := lemmaShape(ctx, g, hops, candidate, mask)
	if err != nil {
		return err
	}
	c := checker{graph: g, mask: mask, shape: s, tick: ticker{ctx: ctx}}
	for i := range int32(len(s.Base)) {
		left := hops - s.depth[i] // negative where there is no subtree
		for depth := 0; depth <= left; depth++ {
			err := c.check(i, depth, depth < left)
			if err == nil {
				continue
			}
			var fault *Fault
			if errors.As(err, &fault) {
				return &counterexample{Lemma: 1, Node: i, Base: s.Base[i], Depth: depth, Fault: fault}
			}
			return err
		}
	}
	return nil
}

// lemma2 checks lemma 2 on a candidate for a tree of so many hops: the child set of each node above that depth is the
// neighbour set of its base, without masked nodes, and no two children have the same base. It returns nil if so, else
// the first [*counterexample]. A node further down that has children is not a leaf, so the lemma must hold for it too.
// Other errors are those of [lemma1].
func lemma2(ctx context.Context, g *csr.Graph, hops int, candidate Arborescence, mask []bool) error {
	s, err := lemmaShape(ctx, g, hops, candidate, mask)
	if err != nil {
		return err
	}
	c := checker{graph: g, mask: mask, tick: ticker{ctx: ctx}}
	for i, base := range s.Base {
		children := s.childrenOf(int32(i))
		if s.depth[i] >= hops && len(children) == 0 {
			continue
		}
		var want []int32
		if base >= 0 && int(base) < g.NumNodes() {
			want = c.neighbours(base)
		}
		if err := c.tick.tick(len(want) + len(children)); err != nil {
			return err
		}
		have := make([]int32, len(children))
		for at, child := range children {
			have[at] = s.Base[child]
		}
		slices.Sort(have)
		if slices.Equal(have, want) {
			continue
		}
		found := &counterexample{Lemma: 2, Node: int32(i), Base: base}
		for at, u := range have {
			if at > 0 && have[at-1] == u && (len(found.Repeated) == 0 || found.Repeated[len(found.Repeated)-1] != u) {
				found.Repeated = append(found.Repeated, u)
			}
		}
		have = slices.Compact(have)
		found.Missing, found.Extra = without(want, have), without(have, want)
		return found
	}
	return nil
}

// lemmaShape checks a caller's arguments and returns the candidate's shape.
func lemmaShape(ctx context.Context, g *csr.Graph, hops int, candidate Arborescence, mask []bool) (*shape, error) {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return nil, err
	}
	return newShape(candidate)
}

// without returns what of the ascending a is not in the ascending b.
func without(a, b []int32) (rest []int32) {
	for _, u := range a {
		if _, ok := slices.BinarySearch(b, u); !ok {
			rest = append(rest, u)
		}
	}
	return rest
}

// Statement holds one thing that the paper says of an aggregation tree, and whether a candidate obeys it.
type Statement struct {
	// Name is "definition", "lemma 1" or "lemma 2".
	Name string
	// Text says in a few words what is claimed.
	Text string
	// Counterexample says where the candidate breaks the statement: where a lemma fails, or a [*Fault]. nil:
	// the statement holds.
	Counterexample error
}

// Holds reports whether the candidate obeys the statement.
func (s Statement) Holds() bool { return s.Counterexample == nil }

// Verify checks the definition and both lemmas on a candidate for T_root^hops of the graph under the mask (nil: nothing
// masked), and returns the three statements in this order, whether they hold or not. A candidate that is not an
// arborescence breaks all three. It returns an error, and no statements, for a root, hops or mask that do not fit the
// graph, or the context's if it ends first.
func Verify(
	ctx context.Context, g *csr.Graph, root int32, hops int, candidate Arborescence, mask []bool,
) ([]Statement, error) {
	statements := []Statement{
		{"definition", "the paths are the walks", Check(ctx, g, root, hops, candidate, mask)},
		{"lemma 1", "every subtree is an aggregation tree", lemma1(ctx, g, hops, candidate, mask)},
		{"lemma 2", "children are the neighbours", lemma2(ctx, g, hops, candidate, mask)},
	}
	for _, s := range statements {
		var fault *Fault
		var found *counterexample
		if !s.Holds() && !errors.As(s.Counterexample, &fault) && !errors.As(s.Counterexample, &found) {
			return nil, s.Counterexample
		}
	}
	return statements, nil
}
