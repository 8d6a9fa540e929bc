package datasets

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func homophily(g *Graph) float64 {
	same := 0
	for v, u := range g.Edges.All() {
		if g.Labels[v] == g.Labels[u] {
			same++
		}
	}
	return float64(same) / float64(g.Edges.NumEdges())
}

func drawSBM(t require.TestingT, o SBMOptions) *Graph {
	g, err := SBM(context.Background(), o)
	require.NoError(t, err)
	require.NoError(t, g.Check())
	return g
}

func TestSBMComesNearItsDegreeAndHomophilyAtEveryDensity(t *testing.T) {
	for _, o := range []SBMOptions{
		{},
		{Nodes: 20_000, MeanDegree: 10, Homophily: 0.5, Seed: 3},
		{Nodes: 2_000, Classes: 7, MeanDegree: 100, Homophily: 0.3},
		{Nodes: 2_000, Classes: 2, MeanDegree: 1000, Homophily: 0.5}, // half of all pairs
		{Nodes: 20_000, Classes: 3, MeanDegree: 2, Homophily: 1},
		{Nodes: 20_000, Classes: 3, MeanDegree: 10, Homophily: 1e-12},
		{Nodes: 20_000, Classes: 1, MeanDegree: 10},
	} {
		g := drawSBM(t, o)
		o, err := o.withDefaults()
		require.NoError(t, err)
		degree := float64(g.Edges.NumEdges()) / float64(g.NumNodes())
		assert.InEpsilon(t, o.MeanDegree, degree, 0.01, "%+v", o)
		assert.InDelta(t, o.Homophily, homophily(g), 0.01, "%+v", o)
		sizes := classSizes(g)
		assert.LessOrEqual(t, slices.Max(sizes)-slices.Min(sizes), 1)
		assert.Equal(t, o.Nodes, g.NumNodes())
	}
}

func TestSBMFeaturesLieAroundTheirClassMeans(t *testing.T) {
	g := drawSBM(t, SBMOptions{Nodes: 30_000, Classes: 3, Features: 8, FeatureSignal: 2})
	sums, counts := make([][8]float64, 3), classSizes(g)
	variance := 0.0
	for v, c := range g.Labels {
		for i, x := range g.Features.Row(v, nil) {
			sums[c][i] += float64(x)
			variance += float64(x) * float64(x)
		}
	}
	for c, sum := range sums {
		square := 0.0
		for _, x := range sum {
			mean := x / float64(counts[c])
			square += mean * mean
		}
		assert.InDelta(t, 2, math.Sqrt(square), 0.05, "class %d: the distance of its mean", c)
	}
	// E|x|² is 8 of noise plus 4 of the mean.
	assert.InDelta(t, 12, variance/30_000, 0.2)
}

func TestSBMCountsOfASeedNeverChange(t *testing.T) {
	// D distinct pairs of P need ln(1 - D/P) / ln(1 - 1/P) draws. By default P is 4·C(250,2) = 124,500 inside classes
	// and 375,000 between them, D 4,000 and 1,000: 4,066 + 1,001 = 5,067 draws. In the last case P is 9,900 and
	// 10,000, D 1,200 and 800: 1,279 + 834 = 2,113. The other counts are recorded: they depend on the seed, near 5,000
	// with 4,000 inside and 2,000 with 1,200.
	for _, c := range []struct {
		o                     SBMOptions
		listed, edges, inside int64
		firstRow              []int32
	}{
		{SBMOptions{Seed: 1}, 5067, 5002, 4005, []int32{155, 159, 170, 197, 321, 345, 503, 735, 922, 926}},
		{SBMOptions{Seed: 2}, 5067, 5004, 4005, []int32{144, 374, 388, 449, 921}},
		{
			SBMOptions{Nodes: 200, Classes: 2, MeanDegree: 20, Homophily: 0.6, Seed: 3}, 2113, 2001, 1199,
			[]int32{10, 16, 27, 35, 46, 51, 52, 71, 94, 96, 102, 110, 114, 116, 125, 129, 138, 165, 168, 176, 180, 187, 196},
		},
	} {
		g := drawSBM(t, c.o)
		inside := int64(0)
		for v, u := range g.Edges.All() {
			if v < u && g.Labels[v] == g.Labels[u] {
				inside++
			}
		}
		assert.Equal(t, []int64{c.listed, c.edges, c.inside}, []int64{g.Report.Listed, g.Report.Edges, inside}, "%+v", c.o)
		assert.Equal(t, c.firstRow, g.Edges.Neighbours(0))
	}
}

func TestSBMSaysWhichOptionIsWrong(t *testing.T) {
	for want, o := range map[string]SBMOptions{
		"SBM: 1 nodes: expected 2 to":                     {Nodes: 1},
		"SBM: -5 nodes":                                   {Nodes: -5},
		"SBM: 11 classes: expected 1 to 10":               {Nodes: 10, Classes: 11},
		"Homophily is 1.5: expected more than 0, up to 1": {Homophily: 1.5},
		"Homophily is NaN":                                {Homophily: math.NaN()},
		"Features is -1":                                  {Features: -1},
		"FeatureSignal is NaN":                            {FeatureSignal: math.NaN()},
		"SBM: a degree of 10 in the mean: expected more than 0 and at most 4": {Nodes: 5},
		"a degree of NaN": {MeanDegree: math.NaN()},
		"asks for 40000 edges inside classes, where 4500 pairs":     {Nodes: 1000, Classes: 100, MeanDegree: 100},
		"asks for 4 edges inside classes, where 0 pairs exist":      {Nodes: 4, Classes: 4, MeanDegree: 2, Homophily: 1},
		"asks for 45 edges between classes, where 25 pairs exist: ": {Nodes: 10, Classes: 2, MeanDegree: 9, Homophily: 1e-9},
	} {
		_, err := SBM(t.Context(), o)
		assert.ErrorContains(t, err, want)
	}
}

// cutOff is a context that ends once asked so many times.
type cutOff struct {
	context.Context
	asked, last int
}

func (c *cutOff) Err() error {
	if c.asked++; c.asked > c.last {
		return context.Canceled
	}
	return nil
}

func TestADrawnGraphIsCutOffByItsContext(t *testing.T) {
	counted, o := &cutOff{t.Context(), 0, math.MaxInt}, SBMOptions{Nodes: 5000, MeanDegree: 400}
	_, err := SBM(counted, o)
	require.NoError(t, err)
	require.Greater(t, counted.asked, o.Nodes+30, "at each node's features, and while edges are drawn")
	for _, last := range []int{0, 3, 20, 25, 1000, counted.asked - 1} {
		c := &cutOff{t.Context(), 0, last}
		g, err := SBM(c, o)
		require.ErrorIs(t, err, context.Canceled, "after %d looks", last)
		require.Nil(t, g)
		require.LessOrEqual(t, c.asked, last+4, "after %d looks", last)
	}
}
