package aggtree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nodemask/csr"
)

// counterexample is where a lemma fails.
type counterexample struct{ text string }

func (c *counterexample) Error() string { return c.text }

// lemma1 checks that every subtree (a node with its descendants down to any depth) is its base's aggregation tree. It
// returns nil, or the smallest wrong subtree at the first node with one. Time is proportional to nodes times hops².
func lemma1(ctx context.Context, g *csr.Graph, hops int, candidate Arborescence, mask []bool) error {
	s, err := lemmaShape(ctx, g, hops, candidate, mask)
	if err != nil {
		return err
	}
	c := checker{graph: g, mask: mask, shape: s, tick: ticker{ctx: ctx}}
	for i := range int32(len(s.Base)) {
		left := hops - s.depth[i]
		for depth := 0; depth <= left; depth++ {
			err := c.check(i, depth, depth < left)
			if err == nil {
				continue
			}
			var fault *Fault
			if errors.As(err, &fault) {
				return &counterexample{fmt.Sprintf("lemma 1 fails at tree node %d: its subtree down to depth %d is not the "+
					"%d-aggregation tree of node %d: %v", i, depth, depth, s.Base[i], fault)}
			}
			return err
		}
	}
	return nil
}

// lemma2 checks that the children of each node above depth hops are its base's unmasked neighbours, each once. It
// returns nil, or the first counterexample. Deeper nodes with children must obey it too.
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
		var repeated []int32
		for at, u := range have {
			if at > 0 && have[at-1] == u && !slices.Contains(repeated, u) {
				repeated = append(repeated, u)
			}
		}
		have = slices.Compact(have)
		text := fmt.Sprintf("lemma 2 fails at tree node %d: its child set is not the neighbour set of node %d: it ", i, base)
		for _, part := range []struct {
			name  string
			nodes []int32
		}{{"lacks", without(want, have)}, {"has besides", without(have, want)}, {"repeats", repeated}} {
			if len(part.nodes) > 0 {
				text += fmt.Sprintf("%s %v, ", part.name, part.nodes)
			}
		}
		return &counterexample{strings.TrimSuffix(text, ", ")}
	}
	return nil
}

func lemmaShape(ctx context.Context, g *csr.Graph, hops int, candidate Arborescence, mask []bool) (*shape, error) {
	if err := checkArguments(ctx, g, hops, mask); err != nil {
		return nil, err
	}
	return newShape(candidate)
}

func without(a, b []int32) (rest []int32) {
	for _, u := range a {
		if _, ok := slices.BinarySearch(b, u); !ok {
			rest = append(rest, u)
		}
	}
	return rest
}

// Statement is a statement of the paper about aggregation trees, checked on a candidate.
type Statement struct {
	// Name is "definition", "lemma 1" or "lemma 2".
	Name string
	Text string
	// Counterexample is where the statement fails: a [*Fault] or a lemma's own error; nil if it holds.
	Counterexample error
}

// Holds reports whether the candidate obeys the statement.
func (s Statement) Holds() bool { return s.Counterexample == nil }

// Verify checks the definition and both lemmas, in this order, on a candidate for T_root^hops. A candidate that is not
// an arborescence breaks all three.
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
