package aggtree

import (
	"context"
	"errors"

	"nodemask/csr"
)

// lemma1 checks, for every tree node t and depth d, that the subtree at t, cut off d levels below t, is the
// d-aggregation tree of the graph node that t stands for.
func lemma1(ctx context.Context, g *csr.Graph, hops int, candidate Arborescence, mask []bool) error {
	c, err := newChecker(ctx, g, hops, candidate, mask)
	if err != nil {
		return err
	}
	for i := range int32(len(c.Base)) {
		left := hops - c.depth[i]
		for depth := 0; depth <= left; depth++ {
			if err := c.subtree(i, depth, depth < left); err != nil {
				return failed(err, lemma1Fails, "at tree node %d: its subtree down to depth %d is not the %[2]d-aggregation "+
					"tree of node %[3]d: %[4]v", i, depth, c.Base[i], err)
			}
		}
	}
	return nil
}

// lemma2 checks that the children of each tree node i stand for the unmasked neighbours of graph node Base[i], each
// once. A tree node whose depth is at least hops may have no children instead.
func lemma2(ctx context.Context, g *csr.Graph, hops int, candidate Arborescence, mask []bool) error {
	c, err := newChecker(ctx, g, hops, candidate, mask)
	if err != nil {
		return err
	}
	for i := range int32(len(c.Base)) {
		if c.depth[i] >= hops && len(c.children[i]) == 0 {
			continue
		}
		if err := c.family(i, i); err != nil {
			return failed(err, lemma2Fails, "at tree node %d: its child set is not the neighbour set of node %d: %v", i,
				c.Base[i], err)
		}
	}
	return nil
}

func failed(err error, kind, format string, arguments ...any) error {
	if errors.As(err, new(*Fault)) {
		return faultOf(kind, format, arguments...)
	}
	return err
}

// Statement is one of the paper's statements about aggregation trees, and the result of its check on a candidate tree.
type Statement struct {
	// Name is "definition", "lemma 1" or "lemma 2".
	Name string
	Text string
	// Counterexample is the [*Fault] that refutes the statement; nil if it holds.
	Counterexample error
}

// Holds reports whether the statement holds for the candidate.
func (s Statement) Holds() bool { return s.Counterexample == nil }

// Verify checks whether a candidate for T_root^hops satisfies the paper's definition of the tree, lemma 1 and lemma 2,
// in this order. All three fail if the candidate is no arborescence.
func Verify(
	ctx context.Context, g *csr.Graph, root int32, hops int, candidate Arborescence, mask []bool,
) ([]Statement, error) {
	statements := []Statement{
		{"definition", "the paths are the walks", Check(ctx, g, root, hops, candidate, mask)},
		{"lemma 1", "every subtree is an aggregation tree", lemma1(ctx, g, hops, candidate, mask)},
		{"lemma 2", "children are the neighbours", lemma2(ctx, g, hops, candidate, mask)},
	}
	for _, s := range statements {
		if !s.Holds() && !errors.As(s.Counterexample, new(*Fault)) {
			return nil, s.Counterexample
		}
	}
	return statements, nil
}
