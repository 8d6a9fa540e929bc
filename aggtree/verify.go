package aggtree

import (
	"context"
	"errors"

	"nodemask/csr"
)

// Statement holds one thing that the paper says of an aggregation tree, and whether a candidate obeys it.
type Statement struct {
	// Name is "definition", "lemma 1" or "lemma 2".
	Name string
	// Text says in a few words what is claimed.
	Text string
	// Counterexample says where the candidate breaks the statement: a [*Counterexample] to a lemma, or a [*Fault]. nil:
	// the statement holds.
	Counterexample error
}

// Holds reports whether the candidate obeys the statement.
func (s Statement) Holds() bool { return s.Counterexample == nil }

// Verify checks the definition and both lemmas on a candidate for T_root^hops of the graph under the mask (nil: nothing
// masked), and returns the three statements in this order, whether they hold or not. A candidate that is not an
// arborescence breaks all three. It returns an error, and no statements, for a root, hops or mask that do not fit the
// graph, or the context's if it ends first.
func Verify(ctx context.Context, g *csr.Graph, root int32, hops int, candidate Arborescence, mask []bool) ([]Statement, error) {
	statements := []Statement{
		{"definition", "the paths are the walks", Check(ctx, g, root, hops, candidate, mask)},
		{"lemma 1", "every subtree is an aggregation tree", Lemma1(ctx, g, hops, candidate, mask)},
		{"lemma 2", "children are the neighbours", Lemma2(ctx, g, hops, candidate, mask)},
	}
	for _, s := range statements {
		var fault *Fault
		var found *Counterexample
		if !s.Holds() && !errors.As(s.Counterexample, &fault) && !errors.As(s.Counterexample, &found) {
			return nil, s.Counterexample
		}
	}
	return statements, nil
}
