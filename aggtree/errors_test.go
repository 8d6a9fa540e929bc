package aggtree

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/aggtree/internal/testgraph"
	"nodemask/csr"
)

// everything calls every function that takes a graph, hops and a mask, by name.
func everything(ctx context.Context, g *csr.Graph, hops int, mask []bool) map[string]error {
	all := rooted(ctx, g, 0, hops, mask)
	_, all["Summaries"] = Summaries(ctx, g, hops, mask)
	_, all["HashAll"] = HashAll(ctx, g, hops, nil, mask)
	_, all["GroupAll"] = GroupAll(ctx, g, hops, nil, mask)
	all["Lemma1"] = lemma1(ctx, g, hops, candidate(), mask)
	all["Lemma2"] = lemma2(ctx, g, hops, candidate(), mask)
	return all
}

func rooted(ctx context.Context, g *csr.Graph, root int32, hops int, mask []bool) map[string]error {
	all := map[string]error{}
	_, all["Build"] = Build(ctx, g, root, hops, Options{Mask: mask})
	_, all["BuildCached"] = BuildCached(ctx, g, nil, root, hops, Options{Mask: mask})
	_, all["Count"] = Count(ctx, g, root, hops, mask)
	all["Check"] = Check(ctx, g, root, hops, candidate(), mask)
	_, all["Verify"] = Verify(ctx, g, root, hops, candidate(), mask)
	if mask == nil {
		_, all["Expect"] = Expect(ctx, g, root, hops, 0.5)
	}
	return all
}

func TestArgumentsThatCannotBeAreErrorsEverywhere(t *testing.T) {
	g := testgraph.Triangle(t)
	for _, root := range []int32{-1, 5} {
		for name, err := range rooted(ctx, g, root, 2, nil) {
			assert.ErrorContains(t, err, "the graph has 5 nodes, numbered from 0", name)
		}
	}
	for _, c := range []struct {
		g    *csr.Graph
		hops int
		mask []bool
		want string
	}{
		{nil, 2, nil, "the graph is nil: build one with csr.FromEdges"},
		{g, -1, nil, "-1 hops: expected between 0 and 1000"},
		{g, 1001, nil, "1001 hops: expected between 0 and 1000"},
		{g, 2, make([]bool, 4), "the mask has 4 entries, but the graph has 5 nodes: give one entry a node, or nil"},
	} {
		for name, err := range everything(ctx, c.g, c.hops, c.mask) {
			assert.EqualError(t, err, c.want, name)
		}
	}
}

func TestACancelledContextEndsEverything(t *testing.T) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range everything(cancelled, testgraph.Triangle(t), 2, nil) {
		assert.ErrorIs(t, err, context.Canceled, name)
	}
}

func TestATreeAboveTheLimitIsAnErrorWithItsSize(t *testing.T) {
	_, err := Build(ctx, testgraph.Triangle(t), 0, 2, Options{Limit: 7})
	var large *TooLargeError
	require.ErrorAs(t, err, &large)
	assert.Equal(t, &TooLargeError{Root: 0, Hops: 2, Counts: Counts{Depth: []uint64{1, 2, 5}, Total: 8}, Limit: 7}, large)
	assert.EqualError(t, err, "the 2-aggregation tree of node 0 has 8 nodes, but the limit is 7: ask for "+
		"fewer hops, mask nodes, or raise the limit")
	for _, fits := range []int{8, 9, math.MaxInt32 - 1} {
		_, err = Build(ctx, testgraph.Triangle(t), 0, 2, Options{Limit: fits})
		assert.NoError(t, err)
	}
	for _, bad := range []int{-1, math.MaxInt32} {
		_, err = Build(ctx, testgraph.Triangle(t), 0, 2, Options{Limit: bad})
		assert.ErrorContains(t, err, "tree nodes: expected between 1 and 2147483646, or 0 for 1000000")
	}
}

func TestKeepRatesThatAreNoProbabilitiesAreErrors(t *testing.T) {
	for _, rate := range []float64{-0.1, 1.1, math.NaN()} {
		_, err := Expect(ctx, testgraph.Triangle(t), 0, 2, rate)
		assert.EqualError(t, err, fmt.Sprintf("a keep rate of %v: expected a probability, from 0 to 1", rate))
	}
}
